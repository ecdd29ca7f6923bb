import Foundation

/// The most memory a process ever held.
enum PeakMemory {
  /// Megabytes (of 1,000,000 bytes) of this process so far, as the kernel counted them.
  static var megabytes: Double {
    var usage = rusage()
    getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
    return megabytes(fromStatus: (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? "")
      ?? Double(usage.ru_maxrss) * 1024 / 1e6
  }

  /// The high-water mark in the text of `/proc/PID/status`. Better than `getrusage`, whose mark a process
  /// inherits from its parent.
  static func megabytes(fromStatus status: String) -> Double? {
    for line in status.split(separator: "\n") where line.hasPrefix("VmHWM:") {
      let words = line.split(whereSeparator: { $0 == " " || $0 == "\t" })
      guard words.count >= 2, let kilobytes = Double(words[1]) else { return nil }
      return kilobytes * 1024 / 1e6
    }
    return nil
  }
}
