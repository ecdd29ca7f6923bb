import CoreData

extension NSManagedObjectContext {
  /// Returns once the context has run what was queued before.
  func turn() async { await perform(schedule: .enqueued) {} }
}
