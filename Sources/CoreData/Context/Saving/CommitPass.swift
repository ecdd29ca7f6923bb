import CoreDataModelSchema
import Foundation

/// Commits a root context's save, and retries it after conflicts.
struct CommitPass {
  let context: NSManagedObjectContext

  init(_ context: NSManagedObjectContext) { self.context = context }

  /// Writes the entries in one transaction per store and resolves conflicts with the merge policy.
  ///
  /// Inserted objects get permanent IDs even if the stores reject the save, as in Core Data, which obtains
  /// them first.
  ///
  /// - Returns: The entries as written.
  func run(_ entries: [ChangeLayer.Entry]) throws -> [ChangeLayer.Entry] {
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
  private func _obtainPermanentIDs(of entries: [ChangeLayer.Entry]) {
    let ids = entries.filter { $0.kind == .inserted && $0.id.isTemporary }.map(\.id)
    try? context.persistentStoreCoordinator?.obtainPermanentIDs(
      for: ids.filter { $0.permanent == nil }, in: context)
    for id in ids {
      if let permanent = id.permanent, let object = context.table.object(for: permanent) {
        object.adoptPermanentID()
      }
    }
  }

  private func _write(_ entries: [ChangeLayer.Entry]) throws -> [ChangeLayer.Entry] {
    guard let coordinator = context.persistentStoreCoordinator else {
      if entries.isEmpty { return entries }
      throw CocoaError.coreData(
        NSCoreDataError, "\(context.label) has neither coordinator nor parent; there is nowhere to save to.")
    }
    var entries = try onStoredRows(withoutLost(entries))
    context.freshness.raiseHorizon()
    var resolver = ConflictResolver(context: context)
    while true {
      do {
        let outcome = try coordinator.commit(
          entries, deleting: context.unreadDeletions,
          locked: context.unsaved.locked + resolver.linked.map(\.object),
          by: context.origin, working: context.saving.work, in: context)
        context.unreadDeletions = []
        context.saving.linked = resolver.linked
        context.saving.token = outcome.token
        context.saving.epoch = outcome.epoch
        context.saving.begunEpoch = outcome.begunEpoch
        if let former = outcome.formerEpoch, outcome.isAsSaved {
          context.ages.stamps.follow(from: former, to: outcome.epoch)
        }
        if !outcome.overtaken.isEmpty { entries = mergeOvertaken(outcome.overtaken, into: entries) }
        if !outcome.computed.isEmpty { entries = mergeComputed(outcome.computed, into: entries) }
        return outcome.followed.isEmpty ? entries : mergeFollowed(outcome.followed, into: entries)
      } catch let error as StoreConflictError {
        entries = try resolver.resolve(error.conflicts, in: entries)
      } catch let error as StoreConstraintError {
        let failures = context.readFailures.count
        entries = try resolver.resolve(error.violations)
        // The objects that were merged may lack what could not be read.
        if context.readFailures.count > failures, let error = context.readFailures.first { throw error }
      }
    }
  }

  /// Returns the entries without changes to unsaved insertions that this context has discarded: a child that
  /// had read such an object has changed it.
  ///
  /// - Throws: Errors of collecting the entries again.
  func withoutLost(_ entries: [ChangeLayer.Entry]) throws -> [ChangeLayer.Entry] {
    if entries.allSatisfyUnretained({ !$0._isLost }) { return entries }
    let lost = entries.filter(\._isLost).map(\.id)
    context.links.cutReferences(to: lost)
    return try CollectPass(context).run().entries.filter { !$0._isLost }.dropping(lost)
  }
}

extension ChangeLayer.Entry {
  /// Whether the entry changes an object that was never stored and is not inserted either.
  @inline(__always)
  fileprivate var _isLost: Bool { kind != .inserted && !id.isPermanent }
}
