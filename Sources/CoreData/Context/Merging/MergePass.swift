import CoreDataModelSchema
import Foundation

/// One merge into a context: of a save, of IDs, or of changes that an ancestor has discarded.
///
/// Runs on the context's queue. What it merges is announced as a whole at its end, and undo does not register it.
struct MergePass {
  let context: NSManagedObjectContext
  /// What has been merged so far.
  var merged = MergedSets()

  init(_ context: NSManagedObjectContext) { self.context = context }

  /// Begins the merge. Changes made before it are registered for undo and announced first.
  func begin() {
    context.processPendingChanges()
    context.registry.releaseSavedObjects()
    context.events.isMerge = true
    context.undoRecorder?.suspensions += 1
  }

  /// Announces what has been merged.
  func finish() {
    context.processPendingChanges()
    context.editing.letGoOfVanished()
    context.registry.sweepIfDue()
    let sets = [merged.inserted, merged.updated, merged.deleted, merged.refreshed]
    let filled = sets.indices.filter { !sets[$0].isEmpty }
    let form = Self._forms[filled.reduce(0) { $0 | 1 << $1 }]
    var userInfo = form.blank
    for (position, index) in filled.enumerated() { form.set(sets[index], at: position, in: &userInfo) }
    NotificationCenter.default.post(
      name: .NSManagedObjectContextDidMergeChangesObjectIDs, object: context, userInfo: userInfo)
  }

  /// By the sets that are not empty: a bit for each.
  private static let _forms = (0..<16).map { combination in
    let keys = [
      NSInsertedObjectIDsKey, NSUpdatedObjectIDsKey, NSDeletedObjectIDsKey, NSRefreshedObjectIDsKey,
    ]
    return UserInfoForm(keys.indices.filter { combination & 1 << $0 != 0 }.map { keys[$0] })
  }

  /// Ends the merge: what changes from here on is registered for undo, and announced as the program's.
  func end() {
    context.undoRecorder?.suspensions -= 1
    context.events.isMerge = false
    context.events.mergedSlots = [:]
    context.assertConsistent()
  }

  /// Notes that deletions have been merged which no save of this stack tells of: of another coordinator, of another
  /// process. Older saves of this stack may be merged later; they must not bring the objects back.
  func noteForeignDeletions() {
    guard let coordinator = context.persistentStoreCoordinator else { return }
    context.mergedEpoch = max(context.mergedEpoch, coordinator.rowCache.epoch)
  }
}

/// IDs that a merge changed in this context.
struct MergedSets {
  var inserted = Set<NSManagedObjectID>()
  var updated = Set<NSManagedObjectID>()
  var deleted = Set<NSManagedObjectID>()
  var refreshed = Set<NSManagedObjectID>()
}
