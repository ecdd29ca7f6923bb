import Foundation

/// Enqueues a block on the main queue sixty times a second, as a screen does, and records how long each one
/// waited.
package final class Heartbeat: Sendable {
  /// Time between two beats: one frame.
  package static let period: UInt64 = 1_000_000_000 / 60

  private struct State {
    var isStopped = false
    var latencies: [UInt64] = []
  }

  private let _state = Protected(State())
  private let _pending = DispatchGroup()
  private let _hasEnded = DispatchSemaphore(value: 0)

  package init() {}

  /// Starts to beat, on a new thread.
  package func start() {
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

  /// Stops once every beat has run. Must not be called on the main thread, which runs them.
  ///
  /// - Returns: wait of each beat, in nanoseconds.
  package func stop() -> [UInt64] {
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
