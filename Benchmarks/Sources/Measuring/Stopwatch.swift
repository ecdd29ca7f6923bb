import Foundation

/// Adds up the stretches of time that count.
package final class Stopwatch {
  package init() {}

  package private(set) var nanoseconds: UInt64 = 0
  private var _since: UInt64?

  package var seconds: Double { Double(nanoseconds) / 1e9 }

  package func resume() { _since = Self.now }

  package func pause() {
    guard let since = _since else { return }
    nanoseconds += Self.now - since
    _since = nil
  }

  /// Counts the time that `body` takes.
  package func time<Result>(_ body: () throws -> Result) rethrows -> Result {
    resume()
    defer { pause() }
    return try body()
  }

  /// Nanoseconds since the machine started.
  package static var now: UInt64 {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
  }
}

/// Memory of this process as the kernel counts it.
package enum ProcessMemory {
  /// The most it held since its start or `forgetPeak()`, in megabytes of 1,000,000 bytes.
  package static var peakMegabytes: Double { _field("VmHWM:") / 1e6 }

  /// Lets the peak begin anew with what the process holds now.
  package static func forgetPeak() {
    try? "5".write(toFile: "/proc/self/clear_refs", atomically: false, encoding: .ascii)
  }

  /// What it holds now, in bytes.
  package static var residentBytes: Double { _field("VmRSS:") }

  private static func _field(_ name: String) -> Double {
    let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
    for line in status.split(separator: "\n") where line.hasPrefix(name) {
      let words = line.split(whereSeparator: { $0 == " " || $0 == "\t" })
      if words.count >= 2, let kilobytes = Double(words[1]) { return kilobytes * 1024 }
    }
    return 0
  }
}
