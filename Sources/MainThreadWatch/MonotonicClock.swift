import Foundation

/// Nanoseconds of clocks that only go forward.
package enum MonotonicClock {
  /// Time since the machine started.
  package static var now: UInt64 { read(CLOCK_MONOTONIC) }

  /// Time of any clock of the system; 0 for a missing one.
  package static func read(_ clock: clockid_t) -> UInt64 {
    var time = timespec()
    clock_gettime(clock, &time)
    return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
  }
}

/// A span of time on the monotonic clock, in nanoseconds.
package struct TimeSpan: Sendable, Equatable {
  package var begin: UInt64
  package var end: UInt64

  package init(begin: UInt64, end: UInt64) { (self.begin, self.end) = (begin, end) }

  package var nanoseconds: UInt64 { end > begin ? end - begin : 0 }

  /// The intersection with another span; nil if it is empty.
  package func clipped(to other: TimeSpan) -> TimeSpan? {
    let clipped = TimeSpan(begin: max(begin, other.begin), end: min(end, other.end))
    return clipped.begin < clipped.end ? clipped : nil
  }
}
