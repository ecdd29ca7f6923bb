import CoreData
import Foundation

/// Work for a context's queue that alternates with other work: only one piece at a time waits there.
///
/// Otherwise, merges that arrive faster than the main queue runs them would delay all user interaction. Safe
/// to use from any thread; pieces run in order.
final class Turns: @unchecked Sendable {
  // Unchecked: `_waiting` and `_isTaken` are guarded by the lock.
  private let _lock = NSLock()
  private var _waiting: [@Sendable () -> Void] = []
  private var _isTaken = false

  /// Enqueues a piece of work on a context's queue, after those already waiting.
  func add(on context: NSManagedObjectContext, _ work: @escaping @Sendable () -> Void) {
    let isFirst = _lock.withLock {
      _waiting.append(work)
      defer { _isTaken = true }
      return !_isTaken
    }
    if isFirst { _runNext(on: context) }
  }

  private func _runNext(on context: NSManagedObjectContext) {
    context.perform {
      self._lock.withLock { self._waiting.removeFirst() }()
      let hasMore = self._lock.withLock {
        self._isTaken = !self._waiting.isEmpty
        return self._isTaken
      }
      // At the end of the queue: work enqueued meanwhile runs first.
      if hasMore { self._runNext(on: context) }
    }
  }
}
