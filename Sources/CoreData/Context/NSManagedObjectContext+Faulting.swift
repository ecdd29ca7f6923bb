import CoreDataModelSchema
import Foundation

// Filling faults.

extension NSManagedObjectContext {
  /// Fills a fault with its attached values; otherwise reads them, along with those of its neighbours.
  final func fire(_ object: NSManagedObject) {
    if object._row == nil, !(object._flags.contains(.inserted) && object._draft != nil) {
      let found: Bool
      do {
        // Filled even if the surrounding fetch is cancelled, since firing a fault cannot fail.
        found = try Self._uncancelled { try load(object) }
      } catch  where readFailureHandler != nil {
        readFailureHandler?(error)
        return
      } catch let error as CocoaError where Self._isUnreadable(error) {
        // A damaged or unreadable value in a file must not trap: the object stays a fault whose values read
        // as nil.
        Console.warn(
          "could not fulfil a fault for '\(object.objectID.uriRepresentation().absoluteString)', which reads as nil: \(error)"
        )
        return
      } catch {
        programmerError(
          "could not fulfil a fault for '\(object.objectID.uriRepresentation().absoluteString)': \(error)")
      }
      if !found {
        _handleInaccessible(object)
        return
      }
    }
    object._state.showValues()
    object.dropPartialValues()
    if !object._shape.transientDefaults.isEmpty { object.fillTransientDefaults() }
    guard object._shape.hasOwnClass else { return }
    object._state.beginAwakening()
    object.awakeFromFetch()
    object._state.endAwakening()
  }

  /// Runs a read that ignores the cancellation of a surrounding fetch.
  private static func _uncancelled<Result>(_ body: () throws -> Result) rethrows -> Result {
    try RunningQuery.isWatched ? RunningQuery.ending(when: { false }, body) : body()
  }

  private static func _isUnreadable(_ error: CocoaError) -> Bool {
    error.code == .fileReadCorruptFile || error.code == .fileReadNoPermission
  }

  /// Attaches a fault's values without showing them yet.
  ///
  /// - Parameters:
  ///   - isAlone: Whether the fault was not created along with others.
  ///   - isChecking: Whether a cached row counts only if no other process or coordinator has committed since.
  /// - Returns: False if the object does not exist.
  final func load(
    _ object: NSManagedObject, alone isAlone: Bool = false, checking isChecking: Bool = false
  ) throws -> Bool {
    let chain = ReadChain(above: self)
    if !chain.hasOverlays, let key = object._key, let coordinator = chain.coordinator {
      if let row = _cachedRow(for: key, in: coordinator, at: chain.generation, checking: isChecking) {
        object._row = row
        return true
      }
      return try _load(object, key, from: coordinator, at: chain.generation, alone: isAlone)
    }
    if isChecking { checkFreshness() }
    let reading = try chain.read(object._objectID) {
      guard let key = object._key else { return [] }
      return faultBatch.neighbours(of: key).filter { other in
        guard other.space.layout.rootNumber == key.space.layout.rootNumber,
          let fault = table.object(for: other)
        else { return false }
        return fault.isFault && fault._row == nil && !chain.contains(IdentityKey(other))
      }
    }
    for (key, row) in reading.neighbours {
      if let fault = table.object(for: key), fault.isFault, fault._row == nil { fault._row = row }
    }
    guard case .row(let row) = reading.found else { return false }
    object._row = row
    return true
  }

  private final func _cachedRow(
    for key: ObjectKey, in coordinator: NSPersistentStoreCoordinator, at generation: StoreGeneration?,
    checking isChecking: Bool
  ) -> Row? {
    guard let row = coordinator.cachedRow(for: key, at: generation) else { return nil }
    guard isChecking else { return row }
    checkFreshness()
    return coordinator.cachedRow(for: key, at: generation)
  }

  /// Reads the values of a fault without unsaved changes in any ancestor, and of the faults created along
  /// with it.
  private final func _load(
    _ object: NSManagedObject, _ key: ObjectKey, from coordinator: NSPersistentStoreCoordinator,
    at generation: StoreGeneration?, alone isAlone: Bool
  ) throws -> Bool {
    if isAlone {
      guard let row = try coordinator.row(for: key, at: generation) else { return false }
      object._row = row
      return true
    }
    var keys = [key]
    var faults = [object]
    let neighbours = faultBatch.neighbours(
      of: key, isRemote: coordinator.hasRemoteStore.load(ordering: .relaxed))
    for other in neighbours where other.space.number == key.space.number && other != key {
      guard let fault = table.object(for: IdentityKey(other)), fault.isFault, fault._row == nil else {
        continue
      }
      keys.append(other)
      faults.append(fault)
    }
    if keys.count == 1 {
      guard let row = try coordinator.row(for: key, at: generation) else { return false }
      object._row = row
      return true
    }
    let rows = try coordinator.rows(for: keys, at: generation)
    for (fault, row) in zip(faults, rows) {
      if let row { fault._row = row }
    }
    return rows[0] != nil
  }

  /// Handles a fault whose row is gone: turns it into a deleted object with nil values, or traps.
  private final func _handleInaccessible(_ object: NSManagedObject) {
    guard shouldHandleInaccessibleFault(object, for: object._objectID, triggeredByProperty: nil) else {
      programmerError(
        "could not fulfil a fault for '\(object.objectID.uriRepresentation().absoluteString)': the row is not in the store "
          + "any more. Set shouldDeleteInaccessibleFaults to have such objects treated as deleted.")
    }
    object._row = Row(count: object._layout.slots.count, version: 0)
    object._state.showValues()
    // Delete rules have nothing to follow.
    markDeleted(object, as: .settled)
  }

  // MARK: Relationships

  /// Reads the objects of a to-many from the ancestors and the store.
  final func relatedObjects(of object: NSManagedObject, slot: Int) -> [NSManagedObject] {
    let chain = ReadChain(above: self)
    guard !chain.hasOverlays, let key = object._key, let coordinator = chain.coordinator else {
      return relatedIDs(of: object, slot: slot).map { self.objectOrFault($0) }
    }
    do {
      let found = try Self._uncancelled {
        try coordinator.members(of: key, slot: slot, at: chain.generation)
      }
      let deleted = unreadDeletions
      return objects(for: deleted.isEmpty ? found : found.filter { !deleted.contains($0.key) })
    } catch {
      _cannotRead(slot, of: object, error)
      return []
    }
  }

  final func relatedIDs(of object: NSManagedObject, slot: Int) -> [NSManagedObjectID] {
    if object._objectID.isTemporary, object._objectID.permanent == nil, _parent == nil { return [] }
    do {
      let found = try Self._uncancelled { try ReadChain(above: self).related(to: object._objectID, slot: slot) }
      let deleted = unreadDeletions
      return deleted.isEmpty ? found : found.filter { !deleted.contains(IdentityKey($0)) }
    } catch {
      _cannotRead(slot, of: object, error)
      return []
    }
  }

  /// Reads a relationship in a damaged file as empty and logs to standard error; any other failure traps,
  /// where Core Data raises. A read failure handler receives both instead.
  private final func _cannotRead(_ slot: Int, of object: NSManagedObject, _ error: any Error) {
    if let readFailureHandler { return readFailureHandler(error) }
    let message =
      "could not read '\(object._layout.slots[slot].name)' of '\(object.objectID.uriRepresentation().absoluteString)'"
    guard let error = error as? CocoaError, Self._isUnreadable(error) else {
      programmerError("\(message): \(error)")
    }
    Console.warn("\(message), which reads as empty: \(error)")
  }
}
