import CoreDataModelSchema
import Foundation

// Reading again, going back, forgetting.

extension NSManagedObjectContext {
  final func refreshObject(_ object: NSManagedObject, mergeChanges flag: Bool) {
    checkQueue()
    guard object._context === self else {
      programmerError(
        "an attempt to refresh an object of \(object._context?.label ?? "no context") in \(label).")
    }
    refreshOne(object, mergeChanges: flag)
    processPendingChanges()
  }

  final func refreshRegistered() {
    checkQueue()
    var objects: [NSManagedObject] = []
    table.forEach { objects.append($0) }
    for object in objects { refreshOne(object, mergeChanges: true) }
    processPendingChanges()
  }

  private final func refreshOne(_ object: NSManagedObject, mergeChanges: Bool) {
    let isStale = stalenessInterval >= 0
    if mergeChanges, object.isDirty {
      guard object._row != nil, !object._flags.contains(.deleted) else { return }
      if let newer = currentRow(of: object, rereading: isStale) {
        show(newer, at: object)
      }
      object.awake(fromSnapshotEvents: .refresh)
    } else if object.isNew {
      // Nothing to read again: it stays what it is, dropping nothing that a save would miss.
      if mergeChanges { return }
      refault(new: object)
    } else {
      if isStale, let key = object._key { persistentStoreCoordinator?.rowCache.forget([key]) }
      dropChanges(of: object)
      object.turnIntoFault()
      faultBatch.add(object)
    }
    recordEvent(object, .eventRefreshed)
  }

  /// An unsaved object becomes a fault that shows its default values again when filled.
  private final func refault(new object: NSManagedObject) {
    object.willTurnIntoFault()
    object._draft = nil
    object._changed = SlotSet()
    _ = object.writableDraft()
    object._relations = nil
    // The values stand ready as the draft: firing shows them.
    object._state.hideValues()
    object.didTurnIntoFault()
  }

  /// What an object would read now.
  private final func currentRow(of object: NSManagedObject, rereading: Bool) -> Row? {
    if rereading, let key = object._key { persistentStoreCoordinator?.rowCache.forget([key]) }
    guard case .row(let row)? = try? ReadChain(above: self).read(object._objectID).found
    else {
      return nil
    }
    return row
  }

  /// Drops an object's pending state.
  private final func dropChanges(of object: NSManagedObject) {
    if object._flags.contains(.adopted) || object._flags.contains(.listed) { withdraw(object) }
    unlist(object)
    object._state.dropChanges()
  }

  // MARK: Rollback

  final func rollbackAll() {
    processPendingChanges()
    forgetUndo()
    materializeAdopted()
    var adopted: [NSManagedObject] = []
    table.forEach { if $0._flags.contains(.adopted) && !$0._flags.contains(.listed) { adopted.append($0) } }
    let objects = unsaved.drain()
    events.discard()
    overlay.clear()
    var sets = EventSets()
    var handedUp: [NSManagedObject] = []
    var kept: [NSManagedObject] = []
    for object in objects + adopted {
      let isAdopted = object._flags.contains(.adopted)
      let wasInserted = object._flags.contains(.inserted)
      let wasDeleted = object._flags.contains(.deleted)
      object._state.rollBack()
      if wasInserted {
        sets.deleted.insert(object)
        table.remove(object)
        object._context = nil
        continue
      }
      object._draft = nil
      object._changed = SlotSet()
      object._state.ownDraft()
      if object._row == nil {
        object._state.hideValues()
        object._relations = nil
      } else {
        object._relations?.rollback()
      }
      if isAdopted { handedUp.append(object) }
      if wasDeleted { sets.inserted.insert(object) } else { sets.refreshed.insert(object) }
      kept.append(object)
    }
    // What a child had read may be older than what was merged since, when there was no object to take it. Comes when all
    // objects are rolled back: their unsaved links must not change what is taken.
    let chain = ReadChain(peekingAbove: self)
    for object in handedUp { adoptNewestRow(of: object, through: chain) }
    for object in kept { object.awake(fromSnapshotEvents: .rollback) }
    if !sets.inserted.isEmpty || readMembers.hasLeftOut {
      // Relationships had forgotten what was deleted or pointed elsewhere: those that were read are read
      // again.
      readMembers.hasLeftOut = false
      table.forEach { $0._relations?.dropClean() }
    }
    guard !(objects.isEmpty && adopted.isEmpty) else { return }
    sets.post(by: self)
  }

  // MARK: Reset

  final func resetAll() {
    resets.wrappingAdd(1, ordering: .releasing)
    var ids: [NSManagedObjectID] = []
    ids.reserveCapacity(table.count)
    table.forEach { object in
      ids.append(object._objectID)
      object._context = nil
      object._row = nil
      object._draft = nil
      object._changed = SlotSet()
      object._relations = nil
      object._state.reset()
    }
    forgetUndo()
    persistentStoreCoordinator?.didUnregister(ids)
    // The old table's objects go after it has been replaced.
    withExtendedLifetime(table) { table = table.emptied }
    savePass.retained = []
    unsaved.drain()
    events.discard()
    readMembers.forgetKinds()
    faultBatch.clearAll()
    overlay.clear()
    advanceGeneration()
    tellObserversOfReset()
    NotificationCenter.default.post(
      name: .NSManagedObjectContextObjectsDidChange, object: self,
      userInfo: [NSInvalidatedAllObjectsKey: ids])
  }
}

extension Relations {
  /// Every to-many goes back to what was read; to-ones are looked up again.
  func rollback() {
    dropTargets()
    decoded = [:]
    forEachToMany { _, state in state.rollback() }
  }
}
