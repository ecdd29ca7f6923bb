import Foundation
import Synchronization

/// The SQL log, enabled by `-com.apple.CoreData.SQLDebug 1...4` as a pair of program arguments or by an
/// environment variable of that name. Printed to standard error in Core Data's format.
///
/// 1: statements and times. 2: also bound values. 3: also values read. 4: also query plans. Levels above 1
/// log data.
enum SQLDebug {
  static let key = "com.apple.CoreData.SQLDebug"

  /// 0 if disabled.
  static var level: Int { _level.load(ordering: .relaxed) }

  private static let _level = Atomic<Int>(
    fromArguments(CommandLine.arguments) ?? fromEnvironment(ProcessInfo.processInfo.environment) ?? 0)
  /// In a structure: a bare closure in a generic type is wrapped once more by each access, and keeps the wrappers.
  private struct Sink: Sendable {
    let write: @Sendable (String) -> Void
  }

  private static let _sink = Mutex<Sink?>(nil)

  /// Returns the level requested by arguments.
  static func fromArguments(_ arguments: [String]) -> Int? {
    guard let place = arguments.firstIndex(of: "-" + key), place + 1 < arguments.count else { return nil }
    return Int(arguments[place + 1]).map(_clamped)
  }

  /// Returns the level requested by environment variables.
  static func fromEnvironment(_ environment: [String: String]) -> Int? {
    environment[key].flatMap { Int($0) }.map(_clamped)
  }

  private static func _clamped(_ level: Int) -> Int { max(0, min(4, level)) }

  /// Sets the level for stores opened from now on, and the output; nil for standard error. For tests.
  static func set(level: Int, sink: (@Sendable (String) -> Void)? = nil) {
    _level.store(_clamped(level), ordering: .relaxed)
    _sink.withLock { $0 = sink.map(Sink.init) }
  }

  static func write(_ line: String) {
    if let sink = _sink.withLock({ $0 }) { return sink.write("CoreData: " + line) }
    FileHandle.standardError.write(Data("CoreData: \(line)\n".utf8))
  }

  static func seconds(_ nanoseconds: UInt64) -> String {
    String(format: "%.4fs", Double(nanoseconds) / 1_000_000_000)
  }
}
