import CoreFoundation
import Foundation

/// Records when the main thread was awake, for any reason, and which blocks it ran.
///
/// Observes the main run loop: between the end of one wait and the beginning of the next the thread processes
/// the main queue, and all of its work is included. If the engine reports the begin and end of its blocks,
/// these divide the waking time; the rest counts as blocks, too.
package final class MainThreadRecorder: Sendable {
  private struct State {
    var awakeSince: UInt64?
    var spans: [TimeSpan] = []
    var blocks: [TimeSpan] = []
    var observer: CFRunLoopObserver?
    var hasSeenLoop = false
  }

  private let _state = Protected(State())

  /// The values of `CFRunLoopActivity` for these; their names in the headers are not visible to Swift.
  private static let _beforeWaiting: CFOptionFlags = 1 << 5
  private static let _afterWaiting: CFOptionFlags = 1 << 6

  package init() {}

  /// Starts listening. To be called on main, which is awake from here on until its run loop waits.
  package func install() {
    _state.withLock { $0.awakeSince = MonotonicClock.now }
    let observer = CFRunLoopObserverCreateWithHandler(
      nil, Self._beforeWaiting | Self._afterWaiting, true, 0
    ) { [self] _, activity in
      let now = MonotonicClock.now
      if activity.rawValue == Self._afterWaiting { _wake(now) } else { _sleep(now) }
    }
    _state.withLock { $0.observer = observer }
    #if canImport(Darwin)
    CFRunLoopAddObserver(CFRunLoopGetMain(), observer, .commonModes)
    #else
    CFRunLoopAddObserver(CFRunLoopGetMain(), observer, kCFRunLoopDefaultMode)
    #endif
  }

  /// Stops listening. To be called on the main thread.
  package func remove() {
    guard let observer = _state.withLock({ $0.observer }) else { return }
    CFRunLoopObserverInvalidate(observer)
    _state.withLock { $0.observer = nil }
  }

  /// The spans in which the main thread was awake within a time span, in order.
  package func spans(within window: TimeSpan) -> [TimeSpan] {
    _state.withLock { state in
      let open = state.awakeSince.map { [TimeSpan(begin: $0, end: MonotonicClock.now)] } ?? []
      return (state.spans + open).compactMap { $0.clipped(to: window) }
    }
  }

  /// Records one block that the main queue ran.
  package func record(begin: UInt64, end: UInt64) {
    _state.withLock { $0.blocks.append(TimeSpan(begin: begin, end: end)) }
  }

  /// The blocks that the main thread ran within a time span, and the rest of its waking time between them.
  package func blocks(within window: TimeSpan) -> [TimeSpan] {
    let told = _state.withLock { $0.blocks }
    return Self.pieces(of: spans(within: window), cutBy: told.compactMap { $0.clipped(to: window) })
  }

  /// Divides spans into the blocks inside them and the gaps between these. Of nested blocks the outermost
  /// counts.
  package static func pieces(of spans: [TimeSpan], cutBy blocks: [TimeSpan]) -> [TimeSpan] {
    let sorted = blocks.sorted { ($0.begin, $1.end) < ($1.begin, $0.end) }
    var pieces: [TimeSpan] = []
    var next = 0
    for span in spans {
      var position = span.begin
      while next < sorted.count, sorted[next].begin < span.end {
        defer { next += 1 }
        guard let block = sorted[next].clipped(to: span), block.end > position else { continue }
        if block.begin > position { pieces.append(TimeSpan(begin: position, end: block.begin)) }
        pieces.append(TimeSpan(begin: max(position, block.begin), end: block.end))
        position = block.end
      }
      if position < span.end { pieces.append(TimeSpan(begin: position, end: span.end)) }
    }
    return pieces
  }

  private func _wake(_ now: UInt64) {
    _state.withLock { if $0.awakeSince == nil { $0.awakeSince = now } }
  }

  /// Whether the main run loop has waited since the observation began.
  var hasSeenLoop: Bool { _state.withLock { $0.hasSeenLoop } }

  private func _sleep(_ now: UInt64) {
    _state.withLock { state in
      state.hasSeenLoop = true
      guard let begin = state.awakeSince else { return }
      state.spans.append(TimeSpan(begin: begin, end: now))
      state.awakeSince = nil
    }
  }
}
