import CoreDataModelSchema
import Foundation

// Committing a root context's save, and retrying it after conflicts.

extension NSManagedObjectContext {
  /// Writes the entries in one transaction per store and resolves conflicts with the merge policy.
  ///
  /// Inserted objects get permanent IDs even if the stores reject the save, as in Core Data, which obtains
  /// them first.
  ///
  /// - Returns: The entries as written.
  final func commit(_ entries: [ChangeLayer.Entry]) throws -> [ChangeLayer.Entry] {
    do {
      return try _write(entries)
    } catch {
      // A busy store cannot issue IDs either; a request would only wait for its lock again.
      if !StoreErrors.isBusy(error) {
        _obtainPermanentIDs(of: entries)
      }
      throw error
    }
  }

  /// Obtains permanent IDs for inserted objects, including those of children, as far as the stores grant
  /// them.
  private final func _obtainPermanentIDs(of entries: [ChangeLayer.Entry]) {
    let ids = entries.filter { $0.kind == .inserted && $0.id.isTemporary }.map(\.id)
    try? persistentStoreCoordinator?.obtainPermanentIDs(for: ids.filter { $0.permanent == nil }, in: self)
    for id in ids {
      if let permanent = id.permanent, let object = table.object(for: permanent) { object._id = permanent }
    }
  }

  private final func _write(_ entries: [ChangeLayer.Entry]) throws -> [ChangeLayer.Entry] {
    guard let coordinator = persistentStoreCoordinator else {
      if entries.isEmpty { return entries }
      throw CocoaError.coreData(
        NSCoreDataError, "\(label) has neither coordinator nor parent; there is nowhere to save to.")
    }
    var entries = try onStoredRows(withoutLost(entries))
    raiseHorizon()
    var resolver = ConflictResolver(context: self)
    while true {
      do {
        let outcome = try coordinator.commit(
          entries, deleting: unreadDeletions, locked: lockedObjects + resolver.linked.map(\.object),
          by: origin, working: savePass.work, in: self)
        unreadDeletions = []
        savePass.linked = resolver.linked
        savePass.token = outcome.token
        savePass.epoch = outcome.epoch
        savePass.begunEpoch = outcome.begunEpoch
        if let former = outcome.formerEpoch, outcome.isAsSaved {
          stamps.follow(from: former, to: outcome.epoch)
        }
        if !outcome.overtaken.isEmpty { entries = mergeOvertaken(outcome.overtaken, into: entries) }
        if !outcome.computed.isEmpty { entries = mergeComputed(outcome.computed, into: entries) }
        return outcome.followed.isEmpty ? entries : mergeFollowed(outcome.followed, into: entries)
      } catch let error as StoreConflictError {
        entries = try resolver.resolve(error.conflicts, in: entries)
      } catch let error as StoreConstraintError {
        let failures = readFailures.count
        entries = try resolver.resolve(error.violations)
        // The objects that were merged may lack what could not be read.
        if readFailures.count > failures, let error = readFailures.first { throw error }
      }
    }
  }

  /// The merge policy in force. A value that is not an `NSMergePolicy` counts as the default.
  final var policy: NSMergePolicy { mergePolicy as? NSMergePolicy ?? .error }

  // MARK: Permanent IDs

  final func givePermanentIDs(to objects: [NSManagedObject]) throws {
    let temporary = objects.filter { $0._objectID.isTemporary && $0._objectID.permanent == nil }
    if !temporary.isEmpty {
      guard let coordinator = persistentStoreCoordinator else {
        throw CocoaError.coreData(
          NSCoreDataError, "\(label) has no coordinator to obtain permanent IDs from.")
      }
      try coordinator.obtainPermanentIDs(for: temporary.map(\._objectID), in: self)
    }
    table.move(temporary)
    for object in objects {
      if let id = object._id, id.isTemporary, let permanent = id.permanent {
        // A lookup moves an object to its permanent ID.
        _ = table.object(for: permanent)
        object._id = permanent
      }
    }
  }
}
