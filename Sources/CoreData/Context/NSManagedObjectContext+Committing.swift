import CoreDataModelSchema
import Foundation

// A root context's save into the stores, and what happens when they have moved on.

extension NSManagedObjectContext {
  /// Writes the entries in one transaction of each store, resolving conflicts with the merge policy.
  ///
  /// Where the stores refuse them, inserted objects have their permanent IDs all the same, as in Core Data,
  /// which asks for them first.
  ///
  /// - Returns: The entries as written.
  final func commit(_ entries: [Layer.Entry]) throws -> [Layer.Entry] {
    do {
      return try write(entries)
    } catch {
      // A store that cannot be written now gives no IDs either, after it has been waited for once more.
      if !StoreErrors.isBusy(error) {
        obtainPermanentIDs(of: entries)
      }
      throw error
    }
  }

  /// Gives inserted objects, those of children included, permanent IDs as far as the stores do.
  private final func obtainPermanentIDs(of entries: [Layer.Entry]) {
    let ids = entries.filter { $0.kind == .inserted && $0.id.isTemporary }.map(\.id)
    try? persistentStoreCoordinator?.obtainPermanentIDs(for: ids.filter { $0.permanent == nil }, in: self)
    for id in ids {
      if let permanent = id.permanent, let object = table.object(for: permanent) { object._id = permanent }
    }
  }

  private final func write(_ entries: [Layer.Entry]) throws -> [Layer.Entry] {
    guard let coordinator = persistentStoreCoordinator else {
      if entries.isEmpty { return entries }
      throw CocoaError.coreData(
        NSCoreDataError, "\(label) has neither coordinator nor parent; there is nowhere to save to.")
    }
    var entries = try onStoredRows(withoutLost(entries))
    var resolver = ConflictResolver(context: self)
    while true {
      do {
        let (computed, token, epoch) = try coordinator.commit(
          entries, locked: lockedObjects, by: origin, in: self)
        savePass.token = token
        savePass.epoch = epoch
        return computed.isEmpty ? entries : mergeComputed(computed, into: entries)
      } catch let error as StoreConflictError {
        entries = try resolver.resolve(error.conflicts, in: entries)
      } catch let error as StoreConstraintError {
        entries = try resolver.resolve(error.violations)
      }
    }
  }

  /// The policy in force; anything that is no policy counts as the default.
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
    for object in objects {
      if let id = object._id, id.isTemporary, let permanent = id.permanent {
        // Looking it up files it under the new ID first.
        _ = table.object(for: permanent)
        object._id = permanent
      }
    }
  }
}
