import Foundation
import Synchronization

/// Asks for the main queue sixty times a second, as a screen does, and notes how long it had to wait each
/// time.
final class Heartbeat: Sendable {
  /// Time between two beats: one frame.
  static let period: UInt64 = 1_000_000_000 / 60

  private struct State {
    var isStopped = false
    var latencies: [UInt64] = []
  }

  private let _state = Mutex(State())
  private let _pending = DispatchGroup()
  private let _hasEnded = DispatchSemaphore(value: 0)

  /// Starts to beat, on a new thread.
  func start() {
    let thread = Thread { [self] in
      var due = MonotonicClock.now
      while !_state.withLock({ $0.isStopped }) {
        _beat()
        due += Self.period
        let now = MonotonicClock.now
        if due > now { usleep(UInt32((due - now) / 1000)) }
      }
      _hasEnded.signal()
    }
    thread.name = "heartbeat"
    thread.start()
  }

  /// Stops, once every beat that was asked for has been answered. Not to be called on the main thread, which
  /// must answer.
  ///
  /// - Returns: how long each beat waited, in nanoseconds.
  func stop() -> [UInt64] {
    _state.withLock { $0.isStopped = true }
    _hasEnded.wait()
    _pending.wait()
    return _state.withLock { $0.latencies }
  }

  private func _beat() {
    _pending.enter()
    let asked = MonotonicClock.now
    DispatchQueue.main.async { [self] in
      let latency = MonotonicClock.now - asked
      _state.withLock { $0.latencies.append(latency) }
      _pending.leave()
    }
  }
}
