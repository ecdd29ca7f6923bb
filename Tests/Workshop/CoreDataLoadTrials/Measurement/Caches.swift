import Foundation
import Synchronization

/// Caches that fill and empty as work goes on, up to limits of their own: each is brought to the same level
/// before what the process holds is measured.
final class Caches: Sendable {
  private let _emptying = Mutex<[@Sendable () -> Void]>([])

  /// Adds a cache.
  ///
  /// - Parameter empty: Empties the cache, if it still exists.
  func add(_ empty: @escaping @Sendable () -> Void) { _emptying.withLock { $0.append(empty) } }

  /// Empties the caches, and fills Dispatch's list of free blocks of work on the main thread. Not to be called
  /// on the main queue, which must be served.
  func level() {
    for empty in _emptying.withLock({ $0 }) { empty() }
    // Each thread keeps up to 1,024 of them, 128 bytes each. Other threads end when they are idle, main never.
    DispatchQueue.main.sync {}
    for _ in 0..<4096 { DispatchQueue.main.async {} }
    DispatchQueue.main.sync {}
  }
}
