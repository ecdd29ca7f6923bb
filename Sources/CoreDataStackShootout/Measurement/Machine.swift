import CoreDataCSQLite
import Foundation

/// The machine on which figures were measured.
package struct Machine: Sendable, Equatable {
  package let processor: String
  package let processors: Int
  package let system: String
  /// Whether the tool was built without optimization, which is several times slower.
  package let isDebugBuild: Bool

  /// Version of the SQLite library.
  package static var sqlite: String { String(cString: sqlite3_libversion()) }

  /// This one.
  package static var current: Machine {
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
  package func line(_ engine: String) -> String {
    "\(processor), \(processors == 1 ? "1 processor" : "\(processors) processors"), \(system), \(engine)"
      + (isDebugBuild ? "; a debug build, several times slower than a release build" : "")
  }
}
