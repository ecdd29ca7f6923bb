import CoreDataCSQLite
import Foundation

/// The machine on which figures were measured.
struct Machine: Sendable, Equatable {
  let processor: String
  let processors: Int
  let system: String
  /// Whether the tool was built without optimization, which is several times slower.
  let isDebugBuild: Bool

  /// Version of the SQLite library.
  static var sqlite: String { String(cString: sqlite3_libversion()) }

  /// This one.
  static var current: Machine {
    Machine(
      processor: processorName(in: (try? String(contentsOfFile: "/proc/cpuinfo", encoding: .utf8)) ?? ""),
      processors: ProcessInfo.processInfo.activeProcessorCount,
      system: ProcessInfo.processInfo.operatingSystemVersionString,
      isDebugBuild: _isDebugBuild)
  }

  private static var _isDebugBuild: Bool {
    #if DEBUG
    true
    #else
    false
    #endif
  }

  /// The processor's name as the kernel reports it, which it does not on every architecture.
  static func processorName(in account: String) -> String {
    for line in account.split(separator: "\n") where line.hasPrefix("model name") {
      guard let colon = line.firstIndex(of: ":") else { continue }
      let name = line[line.index(after: colon)...].trimmingCharacters(in: .whitespaces)
      if !name.isEmpty { return name }
    }
    return "unnamed processor"
  }

  /// In one line, with the database engine.
  func line(_ engine: String) -> String {
    "\(processor), \(processors == 1 ? "1 processor" : "\(processors) processors"), \(system), \(engine)"
      + (isDebugBuild ? "; a debug build, several times slower than a release build" : "")
  }
}
