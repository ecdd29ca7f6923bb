import CoreDataSQLiteBinding
import Foundation
import Synchronization

/// Whether the Task that waits for a context's block is cancelled.
///
/// The block runs on the context's queue, outside the Task, and therefore checks a flag. Cancellation ends a
/// fetch early; saves and faults continue.
final class TaskCancellation: Sendable {
  @TaskLocal private static var _current: TaskCancellation?

  private let _isCancelled = Atomic<Bool>(false)

  func cancel() { _isCancelled.store(true, ordering: .releasing) }

  /// Runs a block for a waiting Task.
  func watching<Result>(_ block: () throws -> Result) rethrows -> Result {
    try Self.$_current.withValue(self, operation: block)
  }

  /// Runs a fetch whose statements end when the waiting Task is cancelled, if a store of the context supports
  /// that.
  ///
  /// - Throws: A Cocoa error with code `userCancelled` if the fetch was ended; otherwise errors of `body`.
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
