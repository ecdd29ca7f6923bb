import CoreDataModelSchema
import Foundation

// Merging changes that were made elsewhere.

extension NSManagedObjectContext {
  final func mergeSave(_ notification: Notification) {
    queue.sync {
      let begin = TraceRecorder.current == nil ? 0 : TraceRecorder.now
      defer { TraceRecorder.current?.recordMerge(of: notification, since: begin, in: self) }
      if let changes = notification.userInfo?[SavedChanges.key] as? SavedChanges {
        MergePass(self).merge(changes)
      } else {
        let ids = MergedIDs(notification.userInfo ?? [:], resolving: persistentStoreCoordinator)
        MergePass(self).mergeForeign(ids)
      }
    }
  }

  /// Merges object IDs, as found in batch results and history, into several contexts, parents first.
  ///
  /// ```swift
  /// let ids = [bookID]
  /// NSManagedObjectContext.mergeChanges(
  ///   fromRemoteContextSave: [NSUpdatedObjectsKey: ids], into: [context, background])
  /// ```
  ///
  /// - Parameter changeNotificationData: Arrays or sets of `NSManagedObjectID` or of URI URLs under the
  ///   inserted, updated and deleted keys.
  public class func mergeChanges(
    fromRemoteContextSave changeNotificationData: [AnyHashable: Any], into contexts: [NSManagedObjectContext]
  ) {
    func depth(_ context: NSManagedObjectContext) -> Int { context.parent.map { depth($0) + 1 } ?? 0 }
    for context in contexts.sorted(by: { depth($0) < depth($1) }) {
      let ids = MergedIDs(changeNotificationData, resolving: context.persistentStoreCoordinator)
      context.queue.sync {
        MergePass(context).mergeForeign(ids)
      }
    }
  }
}
