import CoreDataModelSchema
import Foundation

// Merging the change of one object.

extension MergePass {
  /// - Parameter changed: The slots that the save changed; empty if only IDs are known.
  mutating func mergeInsertion(
    of id: NSManagedObjectID, row: Row?, changed: SlotSet
  ) {
    if let object = context.table.object(for: id) {
      if object._flags.contains(.deletedElsewhere) {
        context.editing.revive(object, row: row)
        merged.inserted.insert(object._objectID)
        return
      }
      if object._flags.isSuperset(of: [.deleted, .deletedInStore]) { object._state.recordFoundRow() }
      if object.isFault {
        if let row { _attachNewerRow(row, at: object) }
        // A list may show the values that it had before.
        context.observers.noteUnseenMerge(id, row)
      } else if let row, object._row != nil, _supersedes(row, for: object) {
        // The child has read its parent's unsaved object, which changed again before the parent saved.
        context.links.show(row, at: object)
        object.awake(fromSnapshotEvents: .refresh)
        context.editing.recordEvent(object, .eventRefreshed)
      } else {
        if let row { _adoptEqual(row, at: object) }
        _rereadMembers(of: object, changed)
      }
      // Deleted here meanwhile: the next save deletes the row.
      if object._flags.contains(.deleted) { return }
      _rereadOwners(lacking: object, changed)
      // Insertions made in this context, or merged before, have been announced.
      if object._flags.isDisjoint(with: [.inserted, .insertionAnnounced]) {
        context.editing.recordEvent(object, .eventMergedInsert)
      }
      merged.inserted.insert(object._objectID)
      return
    }
    let object: NSManagedObject
    if context.overlay.hasReaders, let entry = context.overlay.layers.entry(for: IdentityKey(id)) {
      // A child has already read the object and saved a change of it into this context.
      object = context.links.materialize(entry)
      if object._flags.contains(.deleted) { return }
    } else {
      object = context.registry.make(id.canonical, row: row)
      if let row {
        context.links.rereadInverses(object._layout, from: nil, to: row)
      } else {
        context.faultBatch.add(object)
      }
    }
    context.editing.recordEvent(object, .eventMergedInsert)
    merged.inserted.insert(object._objectID)
  }

  mutating func mergeUpdate(
    of id: NSManagedObjectID, row: Row?, changed: SlotSet
  ) {
    guard let object = context.registry.heldObject(for: id) else {
      if let row { context.links.rereadOwners(lacking: nil, id.space.layout, row, changed) }
      context.observers.noteUnseenMerge(id, row)
      return
    }
    defer { _rereadOwners(lacking: object, changed) }
    guard !object.isFault else {
      // Not loaded yet: it shows the newer values once it is loaded.
      if object._row != nil {
        if let row {
          _attachNewerRow(row, at: object)
        } else {
          context.links.attachRowToFault(nil, at: object)
        }
      }
      context.observers.noteUnseenMerge(id, row)
      return
    }
    guard let row else {
      if !object.isDirty { object.turnIntoFault() }
      return
    }
    if object._flags.contains(.observed), !changed.isEmpty {
      context.events.mergedSlots[ObjectIdentifier(object), default: SlotSet()].formUnion(changed)
    }
    if _supersedes(row, for: object) {
      context.links.show(row, at: object)
    } else {
      _adoptEqual(row, at: object)
      _rereadMembers(of: object, changed)
    }
    if object._shape.hasOwnClass { object.awake(fromSnapshotEvents: .refresh) }
    context.editing.recordEvent(object, .eventRefreshed)
    merged.refreshed.insert(object._objectID)
    merged.updated.insert(object._objectID)
  }

  /// Whether a row saved elsewhere is no older than the object's own.
  ///
  /// A late notification may be older than what this context has written or read since. Versions do not order
  /// rows between parent and child, but there the row holds the parents' current state.
  private func _supersedes(_ row: Row, for object: NSManagedObject) -> Bool {
    guard let mine = object._row else { return true }
    return context.freshness.supersedes(row, over: mine, object._layout)
  }

  /// Adopts a parent's row with equal values. Its to-manys may still have changed, and changed back before
  /// the parent saved, which the save does not report.
  private func _adoptEqual(_ row: Row, at object: NSManagedObject) {
    guard context._parent != nil, let mine = object._row, !(mine === row) else { return }
    object.advanceVersion(to: row)
    object._relations?.dropClean()
  }

  private func _attachNewerRow(_ row: Row, at object: NSManagedObject) {
    if _supersedes(row, for: object) {
      context.links.attachRowToFault(row, at: object)
    } else {
      object.advanceVersion(to: row)
    }
  }

  /// Invalidates the to-manys that this context read before a save linked an object to their owners.
  private func _rereadOwners(lacking object: NSManagedObject, _ changed: SlotSet) {
    guard let row = object._row, !object._flags.contains(.deleted) else { return }
    context.links.rereadOwners(lacking: object, object._layout, row, changed)
  }

  /// Invalidates the to-manys that a save has changed, even if the values are equal: a child may have saved
  /// its own stale members, to which a sibling's additions were applied before they reached the stores.
  private func _rereadMembers(of object: NSManagedObject, _ changed: SlotSet) {
    guard context._parent != nil else { return }
    object._relations?.forEachToMany { slot, state in
      if changed.contains(slot) { state.unrealise() }
    }
  }

  /// - Parameter cause: `.deletedInStore` if the row is known to be gone, else `.merged`.
  mutating func mergeDeletion(
    of id: NSManagedObjectID, as cause: DeletionCause
  ) {
    guard let object = context.registry.heldObject(for: id) else { return }
    merged.deleted.insert(object._objectID)
    guard !object._flags.contains(.deleted) else {
      if case .deletedInStore = cause { object._state.recordMissingRow() }
      return
    }
    if context.recordsLosses, object.isDirty {
      Console.warnOnce(
        about: "lost \(object._layout.entityName)",
        "another context has deleted a changed \(object._layout.entityName); the unsaved changes go with it.")
    }
    object.prepareForDeletion()
    context.editing.markDeleted(object, as: cause)
    context.links.cutReferences(to: object)
  }
}
