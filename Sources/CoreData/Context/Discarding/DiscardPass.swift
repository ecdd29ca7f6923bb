import CoreDataModelSchema
import Foundation

/// Refreshes objects, rolls back and resets: what a context does to show stored values again.
struct DiscardPass {
  let context: NSManagedObjectContext

  init(_ context: NSManagedObjectContext) { self.context = context }

  func refresh(_ object: NSManagedObject, mergeChanges flag: Bool) {
    context.checkQueue()
    guard object._context === context else {
      programmerError(
        "an attempt to refresh an object of \(object._context?.label ?? "no context") in \(context.label).")
    }
    // On a server other programs may have written a newer row.
    if let coordinator = context.rootCoordinator, coordinator.hasRemoteStore.load(ordering: .relaxed),
      let key = object._key
    {
      coordinator.rowCache.forget([context.registry.localized(key)])
    }
    let discarding = !flag && object.isDirty ? TraceRecorder.current : nil
    _refreshOne(object, mergeChanges: flag)
    context.processPendingChanges()
    if let discarding { discarding.recordReversal(of: object, in: context) }
  }

  func refreshAll() {
    context.checkQueue()
    context.ages.isCheckDue = true
    var objects: [NSManagedObject] = []
    context.table.forEach { objects.append($0) }
    for object in objects { _refreshOne(object, mergeChanges: true) }
    context.processPendingChanges()
  }

  private func _refreshOne(_ object: NSManagedObject, mergeChanges: Bool) {
    if mergeChanges, object.isDirty {
      guard object._row != nil, !object._flags.contains(.deleted) else { return }
      if let newer = _currentRow(of: object) {
        context.links.show(newer, at: object)
      }
      object.awake(fromSnapshotEvents: .refresh)
    } else if object.isNew {
      // An inserted object has no row to read: keep its changes, which the next save needs.
      if mergeChanges { return }
      _refault(new: object)
    } else {
      _dropChanges(of: object)
      object.turnIntoFault()
      context.faultBatch.add(object)
    }
    context.editing.recordEvent(object, .eventRefreshed)
  }

  /// Turns an unsaved object into a fault that shows its default values when filled.
  private func _refault(new object: NSManagedObject) {
    object.willTurnIntoFault()
    object.refault()
    PublishPass(context).withdraw(object)
    context.editing.markChanged(object)
    object.didTurnIntoFault()
  }

  /// The row that the object would read now; nil if there is none, or if it cannot be read.
  private func _currentRow(of object: NSManagedObject) -> Row? {
    do {
      guard case .row(let row) = try ReadChain(above: context).read(object._objectID).found else {
        return nil
      }
      return row
    } catch {
      context.failedReads.fail(
        object, "refresh '\(object.objectID.uriRepresentation().absoluteString)'", error)
      return nil
    }
  }

  /// Drops an object's pending changes.
  private func _dropChanges(of object: NSManagedObject) {
    if object._flags.contains(.adopted) || object._flags.contains(.listed) {
      PublishPass(context).withdraw(object)
    }
    context.editing.unlist(object)
    object._state.dropChanges()
  }

  // MARK: Rollback

  func rollback() {
    context.processPendingChanges()
    context._undo?.forget(context)
    context.failedReads.forget()
    context.unreadDeletions = []
    let adopted = context.unsavedView.adopted
    let objects = context.unsaved.drain()
    context.events.discard()
    let discarded = context.overlay.layers.composedEntries
    context.overlay.clear()
    var sets = EventSets()
    var handedUp: [NSManagedObject] = []
    var kept: [NSManagedObject] = []
    let chain = ReadChain(peekingAbove: context)
    let changed = objects + adopted
    let missing = PrefetchPass(context).missing(
      among: changed.filter { $0._flags.contains(.adopted) }, chain)
    for object in changed {
      let isAdopted = object._flags.contains(.adopted)
      let wasInserted = object._flags.contains(.inserted)
      let wasDeleted = object._flags.contains(.deleted)
      let isDeletedInStore = object._flags.contains(.deletedInStore)
      let wasTold = object._flags.contains(.deletionAnnounced)
      object._state.rollBack()
      // Nothing brings back a row that others have deleted.
      let isGone =
        wasDeleted && (isDeletedInStore || chain.deletes(object._objectID))
        || missing.contains(object._objectID)
      if wasInserted || isGone {
        if wasInserted || !wasTold { sets.deleted.insert(object) }
        context.table.remove(object)
        if isGone { object.leaveContext() } else { object.leaveContextWithLinks() }
        continue
      }
      object.rollBackValues()
      if isAdopted { handedUp.append(object) }
      if wasDeleted { sets.inserted.insert(object) } else { sets.refreshed.insert(object) }
      kept.append(object)
    }
    // A merge before these objects were created may have been newer than the row that a child had read. Adopt
    // rows once all objects are rolled back: their unsaved links must not affect the adopted row.
    for object in handedUp { context.links.adoptNewestRow(of: object, through: chain) }
    for object in kept { object.awake(fromSnapshotEvents: .rollback) }
    if !sets.inserted.isEmpty || context.readMembers.hasMoved {
      // Loaded to-manys lack members that were deleted or repointed in this context: reread them.
      context.readMembers.hasMoved = false
      context.table.forEach { $0._relations?.dropClean() }
    }
    context.discard(discarded)
    guard !(objects.isEmpty && adopted.isEmpty) else { return }
    sets.post(by: context)
  }

  // MARK: Reset

  func reset() {
    context.resets.wrappingAdd(1, ordering: .releasing)
    var ids: [NSManagedObjectID] = []
    ids.reserveCapacity(context.table.count)
    context.table.forEach { object in
      ids.append(object._objectID)
      object.reset()
    }
    context._undo?.forget(context)
    context.persistentStoreCoordinator?.didUnregister(ids)
    // The old table's objects must be released only after `table` is replaced.
    withExtendedLifetime((context.table, context.readFailures)) {
      context.table = context.table.emptied
      context.readFailures.reset()
    }
    context.saving.retained = []
    context.unreadDeletions = []
    context.unsaved.drain()
    context.revocableDeletions.removeAll()
    context.events.discard()
    context.readMembers.forgetKinds()
    context.ages.isCheckDue = true
    context.faultBatch.clearAll()
    let discarded = context.overlay.layers.composedEntries
    context.overlay.clear()
    context.advanceGeneration()
    context.discard(discarded)
    context.observers.tellOfReset()
    NotificationCenter.default.post(
      name: .NSManagedObjectContextObjectsDidChange, object: context,
      userInfo: [NSInvalidatedAllObjectsKey: ids])
  }
}

extension Relations {
  /// Restores the members read in every to-many; to-ones are looked up again.
  func rollback() {
    dropTargets()
    forgetDecoded()
    forEachToMany { _, state in state.rollback() }
  }
}
