import CoreDataSQLiteBinding
import Foundation

/// Reads a store's file with SQL.
enum SQLiteText {
  /// Returns the SQL of the triggers by name.
  static func triggers(at url: URL) throws -> [String: String] {
    var result: [String: String] = [:]
    try rows(of: "SELECT name, sql FROM sqlite_master WHERE type = 'trigger'", at: url) {
      result[$0[0]] = $0[1]
    }
    return result
  }

  /// Returns the columns of a table in order, with declared types.
  static func columns(of table: String, at url: URL) throws -> [String] {
    var result: [String] = []
    try rows(of: "SELECT name, type FROM pragma_table_info('\(table)')", at: url) {
      result.append("\($0[0]) \($0[1])")
    }
    return result
  }

  /// Returns each row of a query as text.
  static func rows(of sql: String, at url: URL, _ body: ([String]) -> Void) throws {
    let connection = try Connection(path: url.path, busyTimeout: 1)
    try connection.query(sql) { row in body((0..<row.columnCount).map { row.string(Int32($0)) }) }
  }
}
