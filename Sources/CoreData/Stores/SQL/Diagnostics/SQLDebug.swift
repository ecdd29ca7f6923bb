import Foundation
import Synchronization

/// The log of SQL statements that `-com.apple.CoreData.SQLDebug 1...4` switches on, as a pair of arguments
/// of the program
/// or an environment variable of that name, printed on the standard error as Core Data prints it.
///
/// 1: statements and times. 2: bound values too. 3: values read too. 4: query plans too. Above 1 the log
/// shows data.
enum SQLDebug {
  static let key = "com.apple.CoreData.SQLDebug"

  /// 0 when off.
  static var level: Int { _level.load(ordering: .relaxed) }

  private static let _level = Atomic<Int>(
    fromArguments(CommandLine.arguments) ?? fromEnvironment(ProcessInfo.processInfo.environment) ?? 0)
  private static let _sink = Mutex<(@Sendable (String) -> Void)?>(nil)

  /// The level that arguments ask for.
  static func fromArguments(_ arguments: [String]) -> Int? {
    guard let place = arguments.firstIndex(of: "-" + key), place + 1 < arguments.count else { return nil }
    return Int(arguments[place + 1]).map(clamped)
  }

  /// The level that environment variables ask for.
  static func fromEnvironment(_ environment: [String: String]) -> Int? {
    environment[key].flatMap { Int($0) }.map(clamped)
  }

  private static func clamped(_ level: Int) -> Int { max(0, min(4, level)) }

  /// Sets the level of stores opened from now on and where lines go; nil: the standard error. For tests.
  static func set(level: Int, sink: (@Sendable (String) -> Void)? = nil) {
    _level.store(clamped(level), ordering: .relaxed)
    _sink.withLock { $0 = sink }
  }

  static func write(_ line: String) {
    if let sink = _sink.withLock({ $0 }) { return sink("CoreData: " + line) }
    FileHandle.standardError.write(Data("CoreData: \(line)\n".utf8))
  }

  static func seconds(_ nanoseconds: UInt64) -> String {
    String(format: "%.4fs", Double(nanoseconds) / 1_000_000_000)
  }
}
