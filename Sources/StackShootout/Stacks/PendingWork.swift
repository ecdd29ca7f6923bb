import CoreData
import Foundation
import Synchronization

/// Work that was started on some context's queue and must be over, without an error, before an import is.
final class PendingWork: Sendable {
  private let _group = DispatchGroup()
  private let _firstError = Mutex<(any Error)?>(nil)

  /// Starts work on a context's queue.
  func perform(on context: NSManagedObjectContext, _ work: @escaping @Sendable () throws -> Void) {
    _group.enter()
    context.perform { [self] in
      defer { _group.leave() }
      do {
        try work()
      } catch {
        _firstError.withLock { if $0 == nil { $0 = error } }
      }
    }
  }

  /// Waits until all work is over, also such as was started meanwhile by other work.
  ///
  /// - Throws: the first error that any of the work threw.
  func wait() throws {
    _group.wait()
    if let error = _firstError.withLock({ $0 }) { throw error }
  }
}
