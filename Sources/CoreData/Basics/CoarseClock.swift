import Dispatch
import Synchronization

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// A clock for the ages of rows in memory: cheap to read, exact to some milliseconds, and never set back.
enum CoarseClock {
  /// Milliseconds that the clock is ahead. Tests age rows with it; otherwise 0.
  static let advance = Atomic<Int>(0)

  /// Milliseconds since a moment before the process began.
  static var now: Int {
    #if os(Linux)
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC_COARSE, &time)
    let milliseconds = Int(time.tv_sec) * 1000 + Int(time.tv_nsec) / 1_000_000
    #else
    let milliseconds = Int(DispatchTime.now().uptimeNanoseconds / 1_000_000)
    #endif
    return milliseconds + advance.load(ordering: .relaxed)
  }

  /// The earliest time of a row that is not older than a staleness interval: any for a negative interval,
  /// none for 0.
  static func earliest(for interval: Double) -> Int {
    if interval < 0 { return .min }
    if interval == 0 { return .max }
    // Longer than any process runs.
    return interval < 1e12 ? now - Int((interval * 1000).rounded(.up)) : .min
  }
}
