import CoreDataSQLiteBinding
import Foundation

extension SQLDebug {
  /// Called after each statement of a connection. Reads report their statements themselves, with their
  /// results.
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

/// The log output of one read.
final class SQLReport {
  private let _sql: String
  private let _bindings: [SQLBinding]
  private let _start = DispatchTime.now().uptimeNanoseconds
  private let _level = SQLDebug.level
  private var _count = 0
  private var _rows: [String] = []

  /// Nil if logging is disabled.
  static func begin(_ sql: SQLText, _ bindings: @autoclosure () -> [SQLBinding]) -> SQLReport? {
    SQLDebug.level == 0 ? nil : SQLReport(sql.text, SQLDebug.level > 1 ? bindings() : [])
  }

  private init(_ sql: String, _ bindings: [SQLBinding]) {
    _sql = sql
    _bindings = bindings
  }

  /// Records the current row of a statement.
  func record(_ statement: Statement) {
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

/// SQLite's query plan of a statement.
enum QueryPlan {
  /// Returns the steps in order, nested steps indented by two spaces per level.
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
