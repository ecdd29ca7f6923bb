import CoreDataModelSchema
import Foundation

/// Fills faults, and reads the members of to-manys.
struct FaultPass {
  let context: NSManagedObjectContext

  init(_ context: NSManagedObjectContext) { self.context = context }

  /// Fills a fault with its attached values; otherwise reads them, along with those of its neighbours.
  func fire(_ object: NSManagedObject) {
    let former =
      object._row == nil || context.freshness.isCurrent(object) ? nil : context.freshness.renew(object)
    if object._row == nil, !(object._flags.contains(.inserted) && object._draft != nil) {
      let found: Bool
      do {
        // Filled even if the surrounding fetch is cancelled, since firing a fault cannot fail.
        found = try Self._uncancelled { try load(object) }
      } catch {
        return context.failedReads.fail(
          object, "fulfil a fault for '\(object.objectID.uriRepresentation().absoluteString)'", error)
      }
      if !found {
        _handleInaccessible(object)
        return
      }
      if let former, let row = object._row {
        context.links.rereadInverses(object._layout, from: former, to: row)
      }
    }
    object._state.showValues()
    object.dropPartialValues()
    if !object._shape.transientDefaults.isEmpty { object.fillTransientDefaults() }
    // It was changed from the other end of a relationship, and could not be indexed by values that it had not.
    if object._flags.contains(.listed) { context.unsaved.index.add(object) }
    guard object._shape.hasOwnClass else { return }
    object._state.beginAwakening()
    object.awakeFromFetch()
    object._state.endAwakening()
  }

  /// Runs a read that ignores the cancellation of a surrounding fetch.
  private static func _uncancelled<Result>(_ body: () throws -> Result) rethrows -> Result {
    try RunningQuery.isWatched ? RunningQuery.ending(when: { false }, body) : body()
  }

  /// Attaches a fault's values without showing them yet.
  ///
  /// - Parameters:
  ///   - isAlone: Whether the fault was not created along with others.
  ///   - isChecking: Whether a cached row counts only if no other process or coordinator has committed since.
  /// - Returns: False if the object does not exist.
  func load(
    _ object: NSManagedObject, alone isAlone: Bool = false, checking isChecking: Bool = false
  ) throws -> Bool {
    let chain = ReadChain(above: context)
    if !chain.hasOverlays, let key = object._key, let coordinator = chain.coordinator {
      if let row = _cachedRow(for: key, in: coordinator, chain, checking: isChecking) {
        object.attach(row)
        return true
      }
      guard let recorder = TraceRecorder.current else {
        return try _load(object, key, from: coordinator, at: chain.generation, alone: isAlone).found
      }
      let begin = TraceRecorder.now
      let loaded = try _load(object, key, from: coordinator, at: chain.generation, alone: isAlone)
      recorder.add(.fault(recorder.identity(key), rows: loaded.rows), since: begin, in: context)
      return loaded.found
    }
    if context.readFailures.isStandIn(object) { throw context.failedReads.errorOfStandIn(object) }
    if isChecking { context.freshness.check() }
    chain.coordinator?.countFault()
    let begin = TraceRecorder.current == nil ? 0 : TraceRecorder.now
    let reading = try chain.read(object._objectID) {
      guard let key = object._key else { return [] }
      return context.faultBatch.neighbours(of: key).filter { other in
        guard other.space.layout.rootNumber == key.space.layout.rootNumber,
          let fault = context.table.object(for: other)
        else { return false }
        return fault.isFault && fault._row == nil && !chain.contains(IdentityKey(other))
      }
    }
    for (key, row) in reading.neighbours {
      if let fault = context.table.object(for: key), fault.isFault, fault._row == nil {
        context.freshness.attach(row, to: fault)
      }
    }
    if let recorder = TraceRecorder.current {
      recorder.add(
        .fault(recorder.identity(object._objectID), rows: 1 + reading.neighbours.count), since: begin,
        in: context)
    }
    guard case .row(let row) = reading.found else { return false }
    object.attach(row)
    return true
  }

  private func _cachedRow(
    for key: ObjectKey, in coordinator: NSPersistentStoreCoordinator, _ chain: ReadChain,
    checking isChecking: Bool
  ) -> Row? {
    let (generation, earliest) = (chain.generation, chain.earliestRow)
    guard let row = coordinator.cachedRow(for: key, at: generation, readSince: earliest) else { return nil }
    guard isChecking else { return row }
    context.freshness.check()
    return coordinator.cachedRow(for: key, at: generation, readSince: earliest)
  }

  /// Reads the values of a fault without unsaved changes in any ancestor, and of the faults created along
  /// with it.
  private func _load(
    _ object: NSManagedObject, _ key: ObjectKey, from coordinator: NSPersistentStoreCoordinator,
    at generation: StoreGeneration?, alone isAlone: Bool
  ) throws -> (found: Bool, rows: Int) {
    coordinator.countFault()
    // With an interval of 0, its neighbours would be read again.
    if isAlone || context.ages.interval == 0 {
      guard let row = try coordinator.row(for: key, at: generation) else { return (false, 0) }
      object.attach(row)
      return (true, 1)
    }
    var keys = [key]
    var faults = [object]
    let neighbours = context.faultBatch.neighbours(
      of: key, isRemote: coordinator.hasRemoteStore.load(ordering: .relaxed))
    for other in neighbours where other.space.number == key.space.number && other != key {
      guard let fault = context.table.object(for: IdentityKey(other)), fault.isFault, fault._row == nil else {
        continue
      }
      keys.append(other)
      faults.append(fault)
    }
    if keys.count == 1 {
      guard let row = try coordinator.row(for: key, at: generation) else { return (false, 0) }
      object.attach(row)
      return (true, 1)
    }
    let read = try coordinator.readableRows(for: keys, at: generation)
    for (fault, row) in zip(faults, read.rows) {
      if let row { context.freshness.attach(row, to: fault) }
    }
    if let error = read.damage[0] { throw error }
    return (read.rows[0] != nil, keys.count)
  }

  /// Handles a fault whose row is gone: turns it into a deleted object with nil values, or traps.
  private func _handleInaccessible(_ object: NSManagedObject) {
    guard context.shouldHandleInaccessibleFault(object, for: object._objectID, triggeredByProperty: nil)
    else {
      programmerError(
        "could not fulfil a fault for '\(object.objectID.uriRepresentation().absoluteString)': the row is not in the store "
          + "any more. Set shouldDeleteInaccessibleFaults to have such objects treated as deleted.")
    }
    object.showNothing()
    // Delete rules have nothing to follow. An ancestor that has not saved its deletion may roll it back.
    context.editing.markDeleted(
      object, as: ReadChain(peekingAbove: context).deletes(object._objectID) ? .merged : .deletedInStore)
  }

  /// Whether an object is a fault whose row has been deleted by an ancestor or another context. One that
  /// cannot be read is not gone: its rules are followed, which fires the fault and reports why.
  func isGone(_ object: NSManagedObject) -> Bool {
    guard object.isFault, object._row == nil, !object._flags.contains(.inserted) else { return false }
    do {
      return try !load(object)
    } catch {
      return false
    }
  }

  // MARK: Relationships

  /// Reads the objects of a to-many from the ancestors and the store; nil if that fails.
  func relatedObjects(of object: NSManagedObject, slot: Int) -> [NSManagedObject]? {
    guard let recorder = TraceRecorder.current else { return _relatedObjects(of: object, slot: slot) }
    let begin = TraceRecorder.now
    let found = _relatedObjects(of: object, slot: slot)
    recorder.add(
      .members(recorder.identity(object._objectID), slot: slot, found: found?.count ?? 0), since: begin,
      in: context)
    return found
  }

  private func _relatedObjects(of object: NSManagedObject, slot: Int) -> [NSManagedObject]? {
    let chain = ReadChain(above: context)
    guard !chain.hasOverlays, let key = object._key, let coordinator = chain.coordinator else {
      return relatedIDs(of: object, slot: slot)?.map { context.registry.objectOrFault($0) }
    }
    do {
      let found = try Self._uncancelled {
        try coordinator.members(of: key, slot: slot, at: chain.generation)
      }
      let deleted = context.unreadDeletions
      return context.registry.objects(
        for: deleted.isEmpty ? found : found.filter { !deleted.contains($0.key) })
    } catch {
      _fail(object, slot, error)
      return nil
    }
  }

  /// Reads the IDs of the members of a to-many; nil if that fails.
  func relatedIDs(of object: NSManagedObject, slot: Int) -> [NSManagedObjectID]? {
    if context.readFailures.isStandIn(object) {
      _fail(object, slot, context.failedReads.errorOfStandIn(object))
      return nil
    }
    if object._objectID.isTemporary, object._objectID.permanent == nil, context._parent == nil { return [] }
    do {
      let found = try Self._uncancelled {
        try ReadChain(above: context).related(to: object._objectID, slot: slot)
      }
      let deleted = context.unreadDeletions
      return deleted.isEmpty ? found : found.filter { !deleted.contains(IdentityKey($0)) }
    } catch {
      _fail(object, slot, error)
      return nil
    }
  }

  private func _fail(_ object: NSManagedObject, _ slot: Int, _ error: any Error) {
    context.failedReads.fail(
      object,
      "read '\(object._layout.slots[slot].name)' of '\(object.objectID.uriRepresentation().absoluteString)'",
      error)
  }
}
