import CoreData
import Foundation
import Synchronization

/// Work on contexts' queues that must complete without an error before an import is complete.
final class PendingWork: Sendable {
  private let _group = DispatchGroup()
  private let _firstError = Mutex<(any Error)?>(nil)

  /// Work that waits for its turn.
  private struct Line {
    var waiting: [@Sendable () throws -> Void] = []
    var isTaken = false
  }

  private let _line = Mutex(Line())

  /// Starts work on a context's queue.
  func perform(on context: NSManagedObjectContext, _ work: @escaping @Sendable () throws -> Void) {
    _group.enter()
    context.perform { [self] in
      defer { _group.leave() }
      _do(work)
    }
  }

  /// Enqueues work on a context's queue one piece at a time, so that the queue's other blocks run in between.
  func performInTurn(on context: NSManagedObjectContext, _ work: @escaping @Sendable () throws -> Void) {
    _group.enter()
    let isFirst = _line.withLock { line in
      line.waiting.append(work)
      defer { line.isTaken = true }
      return !line.isTaken
    }
    if isFirst { _runTurn(on: context) }
  }

  private func _runTurn(on context: NSManagedObjectContext) {
    context.perform { [self] in
      defer { _group.leave() }
      _do(_line.withLock { $0.waiting.removeFirst() })
      let hasMore = _line.withLock { line in
        line.isTaken = !line.waiting.isEmpty
        return line.isTaken
      }
      if hasMore { _runTurn(on: context) }
    }
  }

  private func _do(_ work: () throws -> Void) {
    do {
      try work()
    } catch {
      _firstError.withLock { if $0 == nil { $0 = error } }
    }
  }

  /// Waits until all work has finished, including work that other work started meanwhile.
  ///
  /// - Throws: the first error of any of the work.
  func wait() throws {
    _group.wait()
    if let error = _firstError.withLock({ $0 }) { throw error }
  }
}
