import CoreFoundation
import Foundation
import Synchronization

/// Notes when the main thread was awake, whoever woke it.
///
/// Listens to the main run loop: between the end of one wait and the beginning of the next the thread works off what the
/// main queue holds. Blocks that follow each other without a wait count as one; to somebody who looks at a screen they are
/// one. What the engine does on the main queue is seen like anything else, and needs no cooperation.
final class MainThreadRecorder: Sendable {
  private struct State {
    var awakeSince: UInt64?
    var spans: [TimeSpan] = []
  }

  private let _state = Mutex(State())

  /// `CFRunLoopActivity`'s values for these, which the headers offer under no name that Swift could see.
  private static let _beforeWaiting: CFOptionFlags = 1 << 5
  private static let _afterWaiting: CFOptionFlags = 1 << 6

  /// Starts listening. To be called on the main thread.
  func install() {
    precondition(Thread.isMainThread)
    _state.withLock { $0.awakeSince = MonotonicClock.now }
    let observer = CFRunLoopObserverCreateWithHandler(
      nil, Self._beforeWaiting | Self._afterWaiting, true, 0
    ) { [self] _, activity in
      let now = MonotonicClock.now
      if activity.rawValue == Self._afterWaiting { _wake(now) } else { _sleep(now) }
    }
    CFRunLoopAddObserver(CFRunLoopGetMain(), observer, kCFRunLoopDefaultMode)
  }

  /// When the main thread was awake within a stretch of time, in order.
  func spans(within window: TimeSpan) -> [TimeSpan] {
    _state.withLock { state in
      let open = state.awakeSince.map { [TimeSpan(begin: $0, end: MonotonicClock.now)] } ?? []
      return (state.spans + open).compactMap { $0.clipped(to: window) }
    }
  }

  private func _wake(_ now: UInt64) {
    _state.withLock { if $0.awakeSince == nil { $0.awakeSince = now } }
  }

  private func _sleep(_ now: UInt64) {
    _state.withLock { state in
      guard let begin = state.awakeSince else { return }
      state.spans.append(TimeSpan(begin: begin, end: now))
      state.awakeSince = nil
    }
  }
}
