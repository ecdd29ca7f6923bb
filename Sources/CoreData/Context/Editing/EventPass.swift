import CoreDataModelSchema
import Foundation

/// Ends an event: applies delete rules, publishes the changes to children, registers them for undo and announces them.
struct EventPass {
  let context: NSManagedObjectContext

  init(_ context: NSManagedObjectContext) { self.context = context }

  func run() {
    guard !context.events.isProcessing else { return }
    context.events.isProcessing = true
    if context.propagatesDeletesAtEndOfEvent || context.saving.isActive { propagateDeletions() }
    guard !context.events.changed.isEmpty else {
      context.events.isProcessing = false
      PublishPass(context).run()
      if !context.events.unseenMerges.isEmpty { context.observers.tell(of: EventSets()) }
      return
    }
    let objects = context.events.drainChanged()
    var sorted = _sort(objects)
    if let recorder = TraceRecorder.current { recorder.recordChanges(of: objects, in: context) }
    PublishPass(context).run()
    // Must be drained while all targets of the objects can still be looked up.
    let undoable = context._undo?.recorder.drainChanges() ?? []
    _forgetAnnulled(&sorted)
    context.events.isProcessing = false
    context.events.announced = _areAllUnsaved(sorted) ? sorted.sets : nil
    context._undo?.register(undoable, of: context)
    sorted.sets.post(by: context)
    if context.events.announced == nil, objects.count <= 16 {
      sorted.sets.removeAll()
      context.events.spareSets = sorted.sets
    }
  }

  // MARK: Sets

  /// The objects of an event by what happened to them, and whose changes they are.
  private struct Sorted {
    var sets: EventSets
    /// Whether the sets hold this context's unsaved changes only.
    var isOwn = true
    /// Whether the sets hold only what a child has saved.
    var areAdopted = true
  }

  /// Sorts objects into sets, and ends their event.
  private func _sort(_ objects: [NSManagedObject]) -> Sorted {
    var sorted = Sorted(sets: context.events.spareSets.take() ?? EventSets())
    _reserve(&sorted.sets, for: objects)
    objects.forEachUnretained { object in
      let flags = object._flags
      // A merge announces objects that this context has not changed.
      if flags.contains(.eventMergedInsert) || !flags.contains(.listed) { sorted.isOwn = false }
      if flags.contains(.listed) || !flags.contains(.adopted) { sorted.areAdopted = false }
      object._state.endEvent()
      if flags.contains(.eventDeleted) {
        sorted.sets.deleted.insert(object)
        object._state.announceDeletion()
      } else if !flags.isDisjoint(with: [.eventInserted, .eventMergedInsert]) {
        sorted.sets.inserted.insert(object)
        object._state.announceInsertion()
      } else {
        if flags.contains(.eventRefreshed) { sorted.sets.refreshed.insert(object) }
        if flags.contains(.eventUpdated) { sorted.sets.updated.insert(object) }
      }
      if flags.contains(.listed), !flags.contains(.deleted) { context.unsaved.index.add(object) }
    }
    return sorted
  }

  /// Reserves capacity in one set: usually all objects belong to the same, which the first one tells.
  private func _reserve(_ sets: inout EventSets, for objects: [NSManagedObject]) {
    guard objects.count > 8 else { return }
    if !objects[0]._flags.isDisjoint(with: [.eventInserted, .eventMergedInsert]) {
      sets.inserted.reserveCapacity(objects.count)
    } else if objects[0]._flags.contains(.eventDeleted) {
      sets.deleted.reserveCapacity(objects.count)
    } else if objects[0]._flags.contains(.eventUpdated) {
      sets.updated.reserveCapacity(objects.count)
    }
  }

  /// Forgets objects that were inserted and deleted between two saves: no change at all.
  private func _forgetAnnulled(_ sorted: inout Sorted) {
    for object in sorted.sets.deleted where object._flags.isSuperset(of: [.inserted, .deleted]) {
      context.editing.unlist(object)
      context.table.remove(object)
      object._state.cancelInsertion()
      sorted.isOwn = false
    }
  }

  /// Whether the sets hold all that the next save will write.
  private func _areAllUnsaved(_ sorted: Sorted) -> Bool {
    sorted.isOwn && sorted.sets.holdsAll(context.unsaved.count)
      || sorted.areAdopted && context.unsaved.isEmpty && _areAllAdopted(sorted.sets)
  }

  /// Whether sets hold as many objects as one child has saved into this context, and nothing else is unsaved.
  private func _areAllAdopted(_ sets: EventSets) -> Bool {
    let layers = context.overlay.layers
    return layers.count == 1 && sets.holdsAll(layers[0].entries.count)
  }

  // MARK: Delete rules

  /// Applies the delete rules of all objects deleted since the last call.
  func propagateDeletions() {
    while !context.events.deletions.isEmpty {
      var deletions = context.events.drainDeletions()[...]
      while !deletions.isEmpty {
        let some = deletions.prefix(ReadAhead.most)
        deletions = deletions.dropFirst(some.count)
        if some.count > 1 { PrefetchPass(context).readForRules(of: some.filter(_isToPropagate)) }
        for object in some where _isToPropagate(object) {
          object._state.finishPropagation()
          _propagate(deletionOf: object)
        }
      }
    }
  }

  private func _isToPropagate(_ object: NSManagedObject) -> Bool {
    object._flags.contains(.deleted) && !object._flags.contains(.deletePropagated)
  }

  private func _propagate(deletionOf object: NSManagedObject) {
    // Its row is gone: no relationships to follow.
    if FaultPass(context).isGone(object) { return }
    for slot in object._layout.followedSlots {
      guard let relationship = object.relationship(slot) else { continue }
      for other in object.targets(slot) where !other._flags.contains(.deletePropagated) {
        // Cutting a to-one fires the fault, and an ancestor may have deleted the member since the members
        // were read.
        if let inverse = relationship.inverseSlot, !other._layout.slots[inverse].isToMany,
          FaultPass(context).isGone(other)
        {
          continue
        }
        if relationship.deleteRule == .cascade, !other._flags.contains(.deleted) {
          context.editing.delete(other)
        }
        if let inverse = relationship.inverseSlot { other.inverseWasCut(inverse, object) }
      }
    }
    context.followedDeletions?.append(object)
  }
}
