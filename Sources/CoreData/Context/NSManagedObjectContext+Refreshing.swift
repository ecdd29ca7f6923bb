import CoreDataModelSchema
import Foundation

// Refresh, rollback and reset.

extension NSManagedObjectContext {
  final func refreshObject(_ object: NSManagedObject, mergeChanges flag: Bool) {
    checkQueue()
    guard object._context === self else {
      programmerError(
        "an attempt to refresh an object of \(object._context?.label ?? "no context") in \(label).")
    }
    // On a server other programs may have written a newer row.
    if let coordinator = rootCoordinator, coordinator.hasRemoteStore.load(ordering: .relaxed),
      let key = object._key
    {
      coordinator.rowCache.forget([localized(key)])
    }
    let discarding = !flag && object.isDirty ? TraceRecorder.current : nil
    _refreshOne(object, mergeChanges: flag)
    processPendingChanges()
    if let discarding { recordReversal(of: object, by: discarding) }
  }

  final func refreshRegistered() {
    checkQueue()
    isFreshnessDue = true
    var objects: [NSManagedObject] = []
    table.forEach { objects.append($0) }
    for object in objects { _refreshOne(object, mergeChanges: true) }
    processPendingChanges()
  }

  private final func _refreshOne(_ object: NSManagedObject, mergeChanges: Bool) {
    if mergeChanges, object.isDirty {
      guard object._row != nil, !object._flags.contains(.deleted) else { return }
      if let newer = _currentRow(of: object) {
        show(newer, at: object)
      }
      object.awake(fromSnapshotEvents: .refresh)
    } else if object.isNew {
      // An inserted object has no row to read: keep its changes, which the next save needs.
      if mergeChanges { return }
      _refault(new: object)
    } else {
      _dropChanges(of: object)
      object.turnIntoFault()
      faultBatch.add(object)
    }
    recordEvent(object, .eventRefreshed)
  }

  /// Turns an unsaved object into a fault that shows its default values when filled.
  private final func _refault(new object: NSManagedObject) {
    object.willTurnIntoFault()
    object.refault()
    withdraw(object)
    markChanged(object)
    object.didTurnIntoFault()
  }

  /// The row that the object would read now; nil if there is none, or if it cannot be read.
  private final func _currentRow(of object: NSManagedObject) -> Row? {
    do {
      guard case .row(let row) = try ReadChain(above: self).read(object._objectID).found else { return nil }
      return row
    } catch {
      fail(object, "refresh '\(object.objectID.uriRepresentation().absoluteString)'", error)
      return nil
    }
  }

  /// Drops an object's pending changes.
  private final func _dropChanges(of object: NSManagedObject) {
    if object._flags.contains(.adopted) || object._flags.contains(.listed) { withdraw(object) }
    unlist(object)
    object._state.dropChanges()
  }

  // MARK: Freshness

  /// Drops cached rows that another process or coordinator may have overwritten. Called for a context's first
  /// read, and for the first one after a reset or a refresh of all objects; later reads find what the
  /// coordinator knows.
  final func checkFreshness() {
    if isFreshnessDue { raiseHorizon() }
    isFreshnessDue = false
    rootCoordinator?.forgetOvertakenRows()
  }

  // MARK: Rollback

  final func rollbackAll() {
    processPendingChanges()
    forgetUndo()
    forgetReadFailures()
    unreadDeletions = []
    let adopted = adoptedObjects()
    let objects = unsaved.drain()
    events.discard()
    let discarded = overlay.layers.composedEntries
    overlay.clear()
    var sets = EventSets()
    var handedUp: [NSManagedObject] = []
    var kept: [NSManagedObject] = []
    let chain = ReadChain(peekingAbove: self)
    let changed = objects + adopted
    let missing = _missingObjects(among: changed, chain)
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
        table.remove(object)
        if isGone { object.leaveContext() } else { object._context = nil }
        continue
      }
      object.rollBackValues()
      if isAdopted { handedUp.append(object) }
      if wasDeleted { sets.inserted.insert(object) } else { sets.refreshed.insert(object) }
      kept.append(object)
    }
    // A merge before these objects were created may have been newer than the row that a child had read. Adopt
    // rows once all objects are rolled back: their unsaved links must not affect the adopted row.
    for object in handedUp { adoptNewestRow(of: object, through: chain) }
    for object in kept { object.awake(fromSnapshotEvents: .rollback) }
    if !sets.inserted.isEmpty || readMembers.hasMoved {
      // Loaded to-manys lack members that were deleted or repointed in this context: reread them.
      readMembers.hasMoved = false
      table.forEach { $0._relations?.dropClean() }
    }
    discard(discarded)
    guard !(objects.isEmpty && adopted.isEmpty) else { return }
    sets.post(by: self)
  }

  /// Returns those that children have changed although others had deleted their rows: without the change,
  /// nothing is left of them. Rows in memory are there; others are read in one batch.
  private final func _missingObjects(among changed: [NSManagedObject], _ chain: ReadChain) -> IdentitySet {
    var missing = IdentitySet()
    var keys: [ObjectKey] = []
    for object in changed where object._flags.contains(.adopted) {
      guard !object._flags.contains(.inserted), let key = object._objectID.key,
        chain.newestRow(for: object._objectID) == nil
      else { continue }
      keys.append(key)
    }
    // What cannot be read stays; firing it reports why.
    guard !keys.isEmpty, let read = try? chain.coordinator?.readableRows(for: keys) else { return missing }
    for (position, key) in keys.enumerated() where read.rows[position] == nil && read.damage[position] == nil
    {
      missing.insert(NSManagedObjectID(key))
    }
    return missing
  }

  // MARK: Reset

  final func resetAll() {
    resets.wrappingAdd(1, ordering: .releasing)
    var ids: [NSManagedObjectID] = []
    ids.reserveCapacity(table.count)
    table.forEach { object in
      ids.append(object._objectID)
      object.reset()
    }
    forgetUndo()
    persistentStoreCoordinator?.didUnregister(ids)
    // The old table's objects must be released only after `table` is replaced.
    withExtendedLifetime((table, readFailures)) {
      table = table.emptied
      readFailures.reset()
    }
    savePass.retained = []
    unreadDeletions = []
    unsaved.drain()
    revocableDeletions.removeAll()
    events.discard()
    readMembers.forgetKinds()
    isFreshnessDue = true
    faultBatch.clearAll()
    let discarded = overlay.layers.composedEntries
    overlay.clear()
    advanceGeneration()
    discard(discarded)
    notifyObserversOfReset()
    NotificationCenter.default.post(
      name: .NSManagedObjectContextObjectsDidChange, object: self,
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
