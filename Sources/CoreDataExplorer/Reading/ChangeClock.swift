import CoreData
import Foundation
import Synchronization

/// Counts the changes that anybody makes to the store, and wakes who waits for the next one.
final class ChangeClock: @unchecked Sendable {
  // Unchecked: all state is under `_condition`.
  private let _condition = NSCondition()
  private var _time = 0
  private var _isStopped = false
  private var _observer: (any NSObjectProtocol)?

  /// Follows a coordinator whose store posts remote changes.
  func follow(_ coordinator: NSPersistentStoreCoordinator) {
    _observer = NotificationCenter.default.addObserver(
      forName: .NSPersistentStoreRemoteChange, object: coordinator, queue: nil
    ) { [weak self] _ in self?.advance() }
  }

  deinit { if let _observer { NotificationCenter.default.removeObserver(_observer) } }

  /// Number of changes so far.
  var time: Int {
    _condition.lock()
    defer { _condition.unlock() }
    return _time
  }

  /// Notes a change.
  func advance() {
    _condition.lock()
    _time += 1
    _condition.broadcast()
    _condition.unlock()
  }

  /// Wakes all who wait, for good.
  func stop() {
    _condition.lock()
    _isStopped = true
    _condition.broadcast()
    _condition.unlock()
  }

  /// Waits for a change after `time`, at most so many seconds.
  ///
  /// - Returns: The time then, the same one if nothing has changed; nil when the clock was stopped.
  func wait(after time: Int, seconds: Double) -> Int? {
    let end = Date(timeIntervalSinceNow: seconds)
    _condition.lock()
    defer { _condition.unlock() }
    while _time == time, !_isStopped {
      if !_condition.wait(until: end) { break }
    }
    return _isStopped ? nil : _time
  }
}
