import CoreDataSQLiteBinding
import Foundation
import Synchronization

/// Whether the Task that waits for a context's block is cancelled.
///
/// The block runs on the context's queue, outside of the Task, which is therefore asked through a flag. A fetch in it ends
/// early; a save and the firing of faults go on.
final class TaskCancellation: Sendable {
  @TaskLocal private static var _current: TaskCancellation?

  private let _isCancelled = Atomic<Bool>(false)

  func cancel() { _isCancelled.store(true, ordering: .releasing) }

  /// Runs a block that a Task waits for.
  func watching<Result>(_ block: () throws -> Result) rethrows -> Result {
    try Self.$_current.withValue(self, operation: block)
  }

  /// Runs a fetch, whose statements end once the Task is cancelled that waits for it, if a store of the context ends such
  /// fetches.
  ///
  /// - Throws: A Cocoa error with code `userCancelled` for a fetch that was ended; otherwise what `body` throws.
  static func endingFetch<Result>(
    in context: NSManagedObjectContext, _ body: () throws -> Result
  ) throws -> Result {
    guard context.endsCancelledFetches else { return try body() }
    let current = _current
    guard current != nil || withUnsafeCurrentTask(body: { $0 != nil }), !QueryCancellation.isWatched else {
      return try body()
    }
    let isCancelled: @Sendable () -> Bool = {
      current.map { $0._isCancelled.load(ordering: .acquiring) } ?? Task.isCancelled
    }
    do {
      return try QueryCancellation.ending(when: isCancelled, body)
    } catch  where isCancelled() {
      throw CocoaError(.userCancelled, userInfo: [NSUnderlyingErrorKey: error])
    }
  }
}
