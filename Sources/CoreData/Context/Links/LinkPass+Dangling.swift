import CoreDataModelSchema
import Foundation

// Prevents dangling references when one context deletes an object that another one has just linked to. Delete
// rules ran in the deleting context; these methods extend them to this context's unsaved references.

extension LinkPass {
  /// Applies the delete rules of an object deleted elsewhere to this context's objects. Reads nothing from
  /// the store.
  ///
  /// - Parameter cascades: Whether the Cascade rule deletes; otherwise references are set to nil.
  func cutReferences(to object: NSManagedObject, cascading cascades: Bool = true) {
    for (number, slot) in object._layout.slots.enumerated() {
      guard let relationship = slot.relationship, let inverse = relationship.inverseSlot else { continue }
      for other in object.knownTargets(number) where other !== object && !other._flags.contains(.deleted) {
        guard other._context === context, other.refers(to: object, through: inverse) else { continue }
        if cascades, relationship.deleteRule == .cascade { context.editing.delete(other) }
        other.inverseWasCut(inverse, object)
      }
    }
  }

  /// Applies the delete rules of objects deleted here to an object that a newer row has linked to them.
  func cutLinksToDeleted(from object: NSManagedObject) {
    for slot in object._layout.toOneSlots where !object._flags.contains(.deleted) {
      guard let target = context.registry.registered(in: object._current?[slot] ?? .null), target !== object,
        target._flags.contains(.deleted), let inverse = object._layout.slots[slot].relationship!.inverseSlot,
        let rule = target._layout.slots[inverse].relationship?.deleteRule, rule != .noAction
      else { continue }
      if rule == .cascade { context.editing.delete(object) }
      object.inverseWasCut(slot, target)
    }
  }

  /// Takes an object deleted here out of the to-manys without inverse that are in memory, as a change of
  /// their owners.
  ///
  /// Core Data leaves it in them; the store knows no members but existing rows.
  func cutOneWayMembership(of object: NSManagedObject) {
    for (number, slot) in object._layout.slots.enumerated() where slot.isHidden {
      guard let inverse = slot.relationship?.inverseSlot,
        let owner = object._relations?.target(number) ?? context.registry.registered(in: object.read(number)),
        !owner._flags.contains(.deleted)
      else { continue }
      owner.inverseWasCut(inverse, object)
    }
  }

  /// Rebases a deletion on a newer row: its delete rules also reach objects that others have linked since.
  ///
  /// The store's own pass does not replace this: it calls no `prepareForDeletion`, incremental stores have
  /// none, and a relationship without inverse leaves no link by which it could find the members.
  func followDeletion(of object: NSManagedObject, over newer: Row) {
    object.rebaseDeletion(on: newer)
    context.events.deletions.append(object)
    // The linking context has changed them as well; this is not a conflict.
    for slot in object._layout.slots.indices where object._layout.slots[slot].relationship != nil {
      for other in object.targets(slot) { adoptNewestRow(of: other) }
    }
  }

  /// Removes objects deleted elsewhere from every to-many loaded before their deletion.
  func forgetMembers(_ gone: Set<NSManagedObject>) {
    guard !gone.isEmpty, _mayBeMembers(gone) else { return }
    context.table.forEach { object in
      object._relations?.forEachToMany { _, state in
        if state.isRealised || state.hasChanges { state.forget(gone) }
      }
    }
  }

  /// Makes an object deleted whose row a save has found to be gone, and takes it out of the to-manys in memory: the
  /// merge of its deletion, which comes later, no longer knows it here.
  func showDeletedInStore(_ object: NSManagedObject) {
    context.editing.markDeleted(object, as: .deletedInStore)
    forgetMembers([object])
  }

  /// Invalidates the to-manys that hold objects whose rows were deleted and inserted again meanwhile, and those of the
  /// objects themselves: the links between them went with the deleted rows.
  func rereadMembers(linkedTo objects: Set<NSManagedObject>) {
    for object in objects { object._relations?.forEachToMany { _, state in state.unrealise() } }
    guard !objects.isEmpty, _mayBeMembers(objects) else { return }
    context.table.forEach { owner in
      owner._relations?.forEachToMany { _, state in
        if state.isRealised, objects.contains(where: state.contains) { state.unrealise() }
      }
    }
  }

  /// Whether a to-many of any object here may hold one of these.
  private func _mayBeMembers(_ objects: Set<NSManagedObject>) -> Bool {
    guard let layouts = context.frozen?.layout.layouts else { return false }
    return context.readMembers.mayHold(objects, in: layouts)
  }

  /// Returns a child's layer without references to objects that this context has deleted or discarded
  /// meanwhile, and without changes to discarded ones.
  func withoutDangling(_ layer: ChangeLayer) -> ChangeLayer {
    let layers = context.overlay.layers
    guard context.unsaved.hasDeletions || layers.contains(where: \.hasDeletions) || !context.discards.isEmpty
    else {
      return layer
    }
    func isDiscarded(_ id: NSManagedObjectID) -> Bool {
      context.discards.hasInsertion(id) && layer.entry(for: IdentityKey(id))?.kind != .inserted
    }
    func isGone(_ id: NSManagedObjectID) -> Bool {
      if let object = context.table.object(for: id), !object._flags.isDisjoint(with: [.deleted, .listed]) {
        return object._flags.contains(.deleted)
      }
      switch layers.entry(for: IdentityKey(id), withMembers: false)?.kind {
      case .deleted?, .insertedThenDeleted?: return true
      case .inserted?: return false
      default: return isDiscarded(id)
      }
    }
    var isClean = true
    let entries = layer.entries.compactMap { entry -> ChangeLayer.Entry? in
      if !context.discards.isEmpty, isDiscarded(entry.id), isGone(entry.id) {
        isClean = false
        return nil
      }
      guard let cleaned = entry.dropping(isGone) else { return entry }
      isClean = false
      return cleaned
    }
    return isClean ? layer : ChangeLayer(entries)
  }

  /// Applies the delete rules of objects found missing in the store. Runs before a save is collected, so that
  /// the save includes the cuts.
  func cutReferences(to gone: [NSManagedObjectID]) {
    for id in gone {
      if let object = context.table.object(for: id) { cutReferences(to: object) }
    }
  }
}

extension NSManagedObjectContext {
  /// Takes an object deleted here out of the to-manys without inverse that are in memory, as a change of
  /// their owners.
  package final func cutOneWayMembership(of object: NSManagedObject) { links.cutOneWayMembership(of: object) }
}

extension [ChangeLayer.Entry] {
  /// Returns the entries without references to the given objects.
  func dropping(_ gone: [NSManagedObjectID]) -> [ChangeLayer.Entry] {
    if gone.isEmpty { return self }
    let objects = IdentitySet(gone)
    return map { entry in entry.dropping(objects.contains) ?? entry }
  }
}

extension ChangeLayer.Entry {
  /// Returns the entry without references to objects that satisfy `isGone`; nil if it has none.
  func dropping(_ isGone: (NSManagedObjectID) -> Bool) -> ChangeLayer.Entry? {
    guard let row, kind == .inserted || kind == .updated else { return nil }
    var cleaned: Row?
    func set(_ value: Value, _ slot: Int) {
      if cleaned == nil { cleaned = Row(copying: row, version: row.version) }
      cleaned!.set(value, at: slot)
    }
    for slot in id.space.layout.slots.indices where changed.contains(slot) || kind == .inserted {
      switch row[slot] {
      case .reference(let key):
        if isGone(NSManagedObjectID(key)) { set(.null, slot) }
      case .pending(let id):
        if isGone(id) { set(.null, slot) }
      case .toMany(let delta):
        guard delta.added.contains(where: isGone) || delta.order?.contains(where: isGone) ?? false else {
          continue
        }
        set(
          .toMany(
            ToManyDelta(
              added: delta.added.filter { !isGone($0) }, removed: delta.removed,
              order: delta.order.map { $0.filter { !isGone($0) } })), slot)
      default: continue
      }
    }
    return cleaned.map {
      ChangeLayer.Entry(kind: kind, id: id, base: base, row: $0, changed: changed, isWhole: isWhole)
    }
  }
}

extension NSManagedObject {
  /// The objects in memory at the other end of the relationship.
  final func knownTargets(_ slot: Int) -> [NSManagedObject] {
    if _layout.slots[slot].isToMany {
      let state = _relations?.members(slot)
      if let state, state.isRealised { return state.list }
      return (state?.changes.added ?? []) + (_context?.links.movedMembers(slot, of: self) ?? [])
    }
    if let target = _relations?.target(slot) { return [target] }
    guard let row = _current else { return [] }
    return _context?.registry.registered(in: row[slot]).map { [$0] } ?? []
  }

  /// Whether an unsaved change points this to-one at an object other than `owner`.
  final func wasPointed(elsewhereThan owner: NSManagedObject, _ slot: Int) -> Bool {
    guard _changed.contains(slot), let draft = _draft, let row = _row, draft[slot] != row[slot] else {
      return false
    }
    return !refers(to: owner, through: slot)
  }

  /// Whether this object's state in memory refers to another object.
  final func refers(to other: NSManagedObject, through slot: Int) -> Bool {
    if _layout.slots[slot].isToMany {
      if let state = _relations?.members(slot) {
        if state.isRealised { return state.contains(other) }
        if state.changes[other]?.isMember == true { return true }
      }
      guard let ends = LinkEnds(toMany: slot, of: _layout), ends.toOne < other._layout.slots.count else {
        return false
      }
      return other._changed.contains(ends.toOne) && other.refers(to: self, through: ends.toOne)
    }
    return !isFault && other._isTarget(_current?[slot])
  }

  /// Whether the saved value of a to-one refers to `other`.
  final func wasSaved(pointingAt other: NSManagedObject, _ slot: Int) -> Bool {
    !_layout.slots[slot].isToMany && other._isTarget(_row?[slot])
  }

  /// Whether a to-one cell refers to this object.
  private final func _isTarget(_ value: Value?) -> Bool {
    switch value {
    case .reference(let key): _key == key
    case .pending(let id): id.isSameObject(as: _objectID)
    default: false
    }
  }
}
