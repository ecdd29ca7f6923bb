import Foundation

/// A process, distinguished from later ones with the same ID by its start time.
package struct ProcessIdentity: Hashable, Sendable {
  package let id: Int32
  /// The start time, in a unit of the system.
  package let start: Int

  package init(id: Int32, start: Int) { (self.id, self.start) = (id, start) }

  /// This process.
  package static let current: ProcessIdentity = {
    let id = ProcessInfo.processInfo.processIdentifier
    return ProcessIdentity(id: id, start: _start(of: id) ?? 0)
  }()

  /// Whether the process runs. A process whose start time cannot be read counts as running.
  package var isAlive: Bool {
    guard kill(id, 0) == 0 || errno == EPERM else { return false }
    guard let start = Self._start(of: id) else { return true }
    return start == self.start
  }

  #if canImport(Darwin)
  /// Seconds since 1970.
  private static func _start(of id: Int32) -> Int? {
    var names = [CTL_KERN, KERN_PROC, KERN_PROC_PID, id]
    var facts = kinfo_proc()
    var size = MemoryLayout<kinfo_proc>.stride
    guard sysctl(&names, UInt32(names.count), &facts, &size, nil, 0) == 0, size > 0 else { return nil }
    return facts.kp_proc.p_starttime.tv_sec
  }
  #else
  /// Clock ticks since the system's start: the twenty-second field of proc(5)'s stat, the twentieth after the
  /// program's name, which may contain anything.
  private static func _start(of id: Int32) -> Int? {
    guard let text = try? String(contentsOfFile: "/proc/\(id)/stat", encoding: .utf8),
      let end = text.lastIndex(of: ")")
    else { return nil }
    let fields = text[text.index(after: end)...].split(separator: " ")
    return fields.count > 19 ? Int(fields[19]) : nil
  }
  #endif
}
