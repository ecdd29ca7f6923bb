import CoreDataStackShootout
import Foundation
import MainThreadWatch
import Synchronization

/// Sends the main queue a block sixty times a second, as a screen does, by turns a plain one and one of a
/// context, and measures how long each waits.
final class Beat: Sendable {
  private static let _period: UInt64 = 1_000_000_000 / 60
  private let _waits = Mutex(Histogram())
  private let _isStopped = Atomic<Bool>(false)
  private let _sent = DispatchGroup()
  private let _screen: any Screen

  init(_ screen: any Screen) { _screen = screen }

  /// Begins, on a thread of its own. Each beat comes when it is due, however long the ones before wait.
  func start() {
    _sent.enter()
    let thread = Thread { [self] in
      var due = MonotonicClock.now
      var isPlain = true
      while !_isStopped.load(ordering: .acquiring) {
        _beat(isPlain)
        isPlain.toggle()
        due += Self._period
        let now = MonotonicClock.now
        if due > now { usleep(UInt32((due - now) / 1000)) } else { due = now }
      }
      _sent.leave()
    }
    thread.name = "beat"
    thread.start()
  }

  private func _beat(_ isPlain: Bool) {
    _sent.enter()
    let asked = MonotonicClock.now
    let block: @Sendable () -> Void = { [self] in
      let wait = MonotonicClock.now - asked
      _waits.withLock { $0.add(wait) }
      _sent.leave()
    }
    if isPlain { DispatchQueue.main.async(execute: block) } else { _screen.perform(block) }
  }

  /// Stops, and waits for the last block. Not to be called on the main queue.
  func stop() -> Quantiles {
    _isStopped.store(true, ordering: .releasing)
    _sent.wait()
    return _waits.withLock { Quantiles($0) }
  }
}
