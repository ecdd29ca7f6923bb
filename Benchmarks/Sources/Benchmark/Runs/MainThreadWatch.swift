import CoreFoundation
import Foundation
import Synchronization

/// Notes when the main thread is awake: between the end of one wait of its run loop and the beginning of the
/// next.
///
/// Blocks that follow each other without a wait count as one, so the longest shown is never too short.
final class MainThreadWatch: Sendable {
  private struct State {
    var awakeSince: UInt64?
    var total: UInt64 = 0
    var longest: UInt64 = 0
    var isOn = false
    var isFinished = false
  }

  private let _state = Mutex(State())
  private static let _beforeWaiting: CFOptionFlags = 1 << 5
  private static let _afterWaiting: CFOptionFlags = 1 << 6

  /// Serves the main queue until `finish()`. To be called on the main thread.
  func run() {
    let observer = CFRunLoopObserverCreateWithHandler(
      nil, Self._beforeWaiting | Self._afterWaiting, true, 0
    ) { [self] _, activity in
      _state.withLock { state in
        // Read under the lock: another thread may have begun a stretch meanwhile.
        let now = Stopwatch.now
        if activity.rawValue == Self._afterWaiting {
          state.awakeSince = now
        } else {
          Self._note(&state, now)
          state.awakeSince = nil
        }
      }
    }
    CFRunLoopAddObserver(CFRunLoopGetMain(), observer, kCFRunLoopDefaultMode)
    while !_state.withLock({ $0.isFinished }) { _ = RunLoop.main.run(mode: .default, before: .distantFuture) }
  }

  func finish() { DispatchQueue.main.async { self._state.withLock { $0.isFinished = true } } }

  func begin() {
    _state.withLock { state in
      (state.total, state.longest, state.isOn) = (0, 0, true)
      if state.awakeSince != nil { state.awakeSince = Stopwatch.now }
    }
  }

  /// Seconds that the main thread was awake since `begin()`, and the longest stretch.
  func end() -> (total: Double, longest: Double) {
    _state.withLock { state in
      Self._note(&state, Stopwatch.now)
      state.isOn = false
      return (Double(state.total) / 1e9, Double(state.longest) / 1e9)
    }
  }

  private static func _note(_ state: inout State, _ now: UInt64) {
    guard state.isOn, let since = state.awakeSince, now > since else { return }
    state.total += now - since
    state.longest = max(state.longest, now - since)
    state.awakeSince = now
  }
}
