import CoreDataStackShootout
import Foundation
import MainThreadWatch
import Synchronization

/// Threads that work at once.
enum Workers {
  private final class FirstError: Sendable {
    let error = Mutex<(any Error)?>(nil)
  }

  /// Runs works on a thread each, until all have ended.
  ///
  /// - Throws: The first error of one of them.
  static func run(_ works: [@Sendable () throws -> Void]) throws {
    let first = FirstError()
    let group = DispatchGroup()
    for (number, work) in works.enumerated() {
      group.enter()
      let thread = Thread {
        do { try work() } catch { first.error.withLock { $0 = $0 ?? error } }
        group.leave()
      }
      thread.name = "worker \(number)"
      thread.start()
    }
    group.wait()
    if let error = first.error.withLock({ $0 }) { throw error }
  }

  /// Runs a work again and again on each of a number of threads, until a time.
  ///
  /// - Parameter work: Gets the thread's number.
  static func `repeat`(
    _ threads: Int, until deadline: UInt64, _ work: @escaping @Sendable (Int) throws -> Void
  ) throws {
    try run((0..<threads).map { thread in { while MonotonicClock.now < deadline { try work(thread) } } })
  }
}
