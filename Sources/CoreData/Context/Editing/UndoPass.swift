import CoreDataModelSchema
import Foundation

/// Undoes changes, one event at a time.
struct UndoPass {
  let context: NSManagedObjectContext

  init(_ context: NSManagedObjectContext) { self.context = context }

  /// Reverts one event. The reversal is registered in turn, so that it can be redone.
  func run(_ changes: [ObjectChange]) {
    context.processPendingChanges()
    // Objects reappear before anything refers to them.
    var reappeared: [IdentityKey: NSManagedObject] = [:]
    var new: [NSManagedObject] = []
    for change in changes where change.wasAlive && !change.isAlive {
      let old = change.object._id.map { IdentityKey($0) }
      reappear(change.object)
      guard let old, change.object._flags.contains(.inserted) else { continue }
      reappeared[old] = change.object
      new.append(change.object)
    }
    for object in new { _relink(object, to: reappeared) }
    for change in changes { _revertValues(of: change) }
    var pairs = Set<ManyToManyPair.Identity>()
    for change in changes { _revertMembers(of: change, &pairs) }
    if !new.isEmpty { _forgetTargets(Set(new)) }
    for change in changes where !change.wasAlive && change.isAlive { _disappear(change.object) }
    for change in changes {
      let event: NSSnapshotEventType =
        change.wasAlive == change.isAlive ? .undoUpdate : change.wasAlive ? .undoDeletion : .undoInsertion
      change.object.awake(fromSnapshotEvents: event)
    }
    context.processPendingChanges()
  }

  /// Restores attributes and to-ones.
  private func _revertValues(of change: ObjectChange) {
    let object = change.object
    // Others may have deleted it since.
    guard _isThere(object) else { return }
    if object.isFault { object.fireFault() }
    for (slot, value) in change.values {
      object.write(value, at: slot)
      object._relations?.forgetDecoded(slot)
    }
    for (slot, target) in change.targets {
      _restore(target.flatMap { _isThere($0) ? $0 : nil }, slot, of: object)
    }
  }

  /// Restores to-manys, once the to-ones are.
  ///
  /// - Parameter pairs: The pairs of many-to-manys reverted so far: both ends have recorded them.
  private func _revertMembers(of change: ObjectChange, _ pairs: inout Set<ManyToManyPair.Identity>) {
    let object = change.object
    guard _isThere(object) else { return }
    for change in change.members {
      object.willChangeState()
      let state = object.members(change.slot)
      let relationship = object._layout.slots[change.slot].relationship
      let isManyToMany = relationship?.isManyToMany ?? false
      for (member, before) in change.changed where !before || _isThere(member) {
        if isManyToMany, !_isRegistered(member) {
          // Inserted here and deleted by a child: it must not become part of the next save.
          state.forget([member])
        } else if isManyToMany {
          guard let pair = ManyToManyPair(object, change.slot, state, with: member),
            pairs.insert(pair.identity).inserted
          else { continue }
          pair.change { $0.revert(to: before) }
        } else {
          // The member's own to-one says it: the member may have been taken out for a child's change of that, which
          // is not undone.
          let refers = relationship?.inverseSlot.map { _isThere(member) && member.toOne($0) === object }
          state.set(member, isMember: refers ?? before)
        }
      }
      if let order = change.order {
        let kept = order.filter { state.contains($0) }
        if kept.count == state.order.count { state.reorder(kept) }
      }
      object.markChanged(change.slot)
    }
  }

  /// Restores a deleted object.
  func reappear(_ object: NSManagedObject) {
    context.undoRecorder?.willChange(object)
    if object._flags.isSuperset(of: [.deleted, .deletedInStore]), object._context === context {
      // Its row is gone, as if the deletion had been saved here.
      if object._flags.contains(.adopted) { PublishPass(context).withdraw(object) }
      context.editing.unlist(object)
      context.registry.forget(object)
    }
    context.discards.forgetInsertion(object._objectID)
    if object._context === context, context.table.object(for: object._objectID) === object {
      // Deleted, but not saved yet. Children may have read the deletion.
      PublishPass(context).withdraw(object)
      object._state.undelete()
      context.events.deletions.removeAll { $0 === object }
      // To-manys loaded meanwhile lack the object.
      if let row = object._row { context.links.rereadInverses(object._layout, from: nil, to: row) }
      context.editing.markChanged(object)
      context.editing.recordEvent(object, .eventMergedInsert)
      _rejoinItself(object)
      return
    }
    if object._context == nil {
      // The deletion was saved: the object reappears as a new one with the old values.
      object.reappear(in: context)
    }
    object._state.insertDeleted()
    context.table.insert(object)
    context.editing.markChanged(object)
  }

  /// Restores the links of an object that has reappeared as a new one: to others of its kind under their new
  /// IDs, and to no object that is gone.
  private func _relink(_ object: NSManagedObject, to reappeared: [IdentityKey: NSManagedObject]) {
    for slot in object._layout.toOneSlots {
      guard let value = object._draft?[slot] else { continue }
      let key: IdentityKey
      switch value {
      case .reference(let reference): key = IdentityKey(reference)
      case .pending(let id): key = IdentityKey(id)
      default: continue
      }
      if let target = reappeared[key] {
        object.link(slot, to: target)
        _rejoin(object, slot, target)
      } else if let target = object.target(in: value) {
        if target._flags.contains(.deleted) || FaultPass(context).isGone(target) {
          object.link(slot, to: nil)
        } else {
          // As when a program makes the link: the save then learns if others have deleted the target meanwhile.
          _rejoin(object, slot, target)
        }
      }
    }
  }

  /// Has objects read their targets anew that refer to the former row of one that has reappeared under another ID: others
  /// have linked them, and their links are not the undone change's.
  private func _forgetTargets(_ reappeared: Set<NSManagedObject>) {
    context.table.forEach { object in
      guard let relations = object._relations, let row = object._current else { return }
      for slot in object._layout.toOneSlots {
        guard let target = relations.target(slot), reappeared.contains(target),
          !row[slot].refers(to: target._objectID)
        else { continue }
        relations.dropTargets(SlotSet([slot]))
      }
    }
  }

  /// Restores a to-one with both ends: since the change, a child may have linked the object to another one, whose
  /// to-many was not recorded.
  private func _restore(_ target: NSManagedObject?, _ slot: Int, of object: NSManagedObject) {
    let present = object.toOne(slot)
    object.link(slot, to: target)
    guard let inverse = object._layout.slots[slot].relationship?.inverseSlot, present !== target else {
      return
    }
    present?.inverseWasCut(inverse, object)
    target?.inverseWasMade(inverse, object, through: slot)
  }

  /// Makes an object that has reappeared, or whose owner has, a member of its owner. A new owner's to-many knows no
  /// members any more, and none was recorded if only the owner was deleted.
  private func _rejoin(_ object: NSManagedObject, _ slot: Int, _ owner: NSManagedObject) {
    guard let inverse = object._layout.slots[slot].relationship?.inverseSlot,
      owner._layout.slots[inverse].relationship?.isToMany ?? false
    else { return }
    owner.inverseWasMade(inverse, object, through: slot)
  }

  /// Makes an object a member of itself where its to-one says so. Its deletion did not cut that link, and where a child
  /// has made it, only the child's save said it to the to-many.
  private func _rejoinItself(_ object: NSManagedObject) {
    for slot in object._layout.toOneSlots
    where object._changed.contains(slot) && object.refers(to: object, through: slot) {
      _rejoin(object, slot, object)
    }
  }

  /// Whether a link to an object can be restored.
  private func _isThere(_ object: NSManagedObject) -> Bool {
    object._context === context && !object._flags.contains(.deleted) && !FaultPass(context).isGone(object)
  }

  /// Whether the context still knows an object: not if it was inserted here and deleted again before a save.
  private func _isRegistered(_ object: NSManagedObject) -> Bool {
    object._context === context && context.table.object(for: object._objectID) === object
  }

  /// Reverts an insertion.
  private func _disappear(_ object: NSManagedObject) {
    guard object._context === context, !object._flags.contains(.deleted) else { return }
    // References to it were recorded and have been restored, except those that others have made since.
    context.links.cutReferences(to: object, cascading: false)
    context.editing.markDeleted(object, as: .settled)
  }
}
