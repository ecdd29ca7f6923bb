import CoreDataSQLiteBinding
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

  /// Told about every statement of a connection when it has run. Readers report their statements themselves,
  /// with what
  /// they found.
  static func trace(_ statement: TracedStatement) {
    if statement.sql.hasPrefix("SELECT") || statement.sql.hasPrefix("EXPLAIN")
      || statement.sql.hasPrefix("--")
    {
      return
    }
    write("sql: \(statement.sql)")
    write("annotation: sql execution time: \(seconds(UInt64(max(0, statement.nanoseconds))))")
  }
}

/// What is told about one read.
final class SQLReport {
  private let _sql: String
  private let _bindings: [SQLBinding]
  private let _start = DispatchTime.now().uptimeNanoseconds
  private let _level = SQLDebug.level
  private var _count = 0
  private var _rows: [String] = []

  /// Nil when nothing is to be reported.
  static func begin(_ sql: SQLText, _ bindings: @autoclosure () -> [SQLBinding]) -> SQLReport? {
    SQLDebug.level == 0 ? nil : SQLReport(sql.text, SQLDebug.level > 1 ? bindings() : [])
  }

  private init(_ sql: String, _ bindings: [SQLBinding]) {
    _sql = sql
    _bindings = bindings
  }

  /// Notes the row that a statement stands on.
  func note(_ statement: Statement) {
    _count += 1
    guard _level > 2 else { return }
    let cells = (0..<Int32(statement.columnCount)).map { SQLBinding(statement.value($0)).description }
    _rows.append("(\(cells.joined(separator: ", ")))")
  }

  /// Prints the report.
  func end(_ connection: Connection) {
    let time = SQLDebug.seconds(DispatchTime.now().uptimeNanoseconds - _start)
    SQLDebug.write("sql: \(_sql)")
    for (index, binding) in _bindings.enumerated() {
      SQLDebug.write("details: SQLite bind[\(index)] = \(binding)")
    }
    SQLDebug.write("annotation: sql connection fetch time: \(time)")
    SQLDebug.write("annotation: total fetch execution time: \(time) for \(_count) rows.")
    for row in _rows { SQLDebug.write("details: row: \(row)") }
    guard _level > 3, let plan = try? QueryPlan.lines(of: _sql, on: connection) else { return }
    SQLDebug.write("details: SQLite: EXPLAIN QUERY PLAN \(_sql)")
    for line in plan { SQLDebug.write("details: \(line)") }
  }
}

/// SQLite's account of how it would run a statement.
enum QueryPlan {
  /// Steps in order, those inside others indented by two spaces a level.
  static func lines(of sql: String, on connection: Connection) throws -> [String] {
    var depths: [Int64: Int] = [:]
    var lines: [String] = []
    try connection.query("EXPLAIN QUERY PLAN " + sql) { statement in
      let depth = (depths[statement.int64(1)] ?? -1) + 1
      depths[statement.int64(0)] = depth
      lines.append(String(repeating: "  ", count: depth) + statement.string(3))
    }
    return lines
  }
}
