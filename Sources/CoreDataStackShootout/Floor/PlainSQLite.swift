import CoreDataCSQLite

/// A connection used as by a C program: measures the floor and checks stores.
///
/// Deliberately not the project's own binding, which must not affect the floor.
final class PlainSQLite {
  struct Failure: Error, CustomStringConvertible {
    let description: String
  }

  let handle: OpaquePointer

  /// Opens a file; creates it if it is missing and the connection may write.
  init(path: String, readOnly: Bool = false) throws {
    var opened: OpaquePointer?
    let flags = readOnly ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
    guard sqlite3_open_v2(path, &opened, flags | SQLITE_OPEN_NOMUTEX, nil) == SQLITE_OK, let opened else {
      let reason = opened.map { String(cString: sqlite3_errmsg($0)) } ?? "out of memory"
      sqlite3_close(opened)
      throw Failure(description: "SQLite cannot open '\(path)': \(reason)")
    }
    handle = opened
    sqlite3_busy_timeout(handle, 5000)
  }

  deinit { sqlite3_close_v2(handle) }

  /// Runs statements without results.
  func execute(_ sql: String) throws {
    try check(sqlite3_exec(handle, sql, nil, nil, nil), sql)
  }

  func prepare(_ sql: String) throws -> OpaquePointer {
    var statement: OpaquePointer?
    try check(sqlite3_prepare_v2(handle, sql, -1, &statement, nil), sql)
    guard let statement else { throw Failure(description: "SQLite sees no statement in '\(sql)'") }
    return statement
  }

  /// All rows of a query as text; nil for NULL.
  func rows(_ sql: String) throws -> [[String?]] {
    let statement = try prepare(sql)
    defer { sqlite3_finalize(statement) }
    var rows: [[String?]] = []
    while true {
      switch sqlite3_step(statement) {
      case SQLITE_ROW:
        rows.append(
          (0..<sqlite3_column_count(statement)).map { Self.text(statement, $0) })
      case SQLITE_DONE: return rows
      case let code: try check(code, sql)
      }
    }
  }

  /// A column as text, including NUL bytes; nil for NULL.
  static func text(_ statement: OpaquePointer, _ column: Int32) -> String? {
    guard let start = sqlite3_column_text(statement, column) else { return nil }
    let count = Int(sqlite3_column_bytes(statement, column))
    return String(decoding: UnsafeBufferPointer(start: start, count: count), as: UTF8.self)
  }

  /// Throws SQLite's error for a failed call.
  func check(_ code: Int32, _ context: @autoclosure () -> String) throws {
    guard code == SQLITE_OK || code == SQLITE_ROW || code == SQLITE_DONE else {
      throw Failure(
        description: "SQLite: \(String(cString: sqlite3_errmsg(handle))) (code \(code)) in: \(context())")
    }
  }
}
