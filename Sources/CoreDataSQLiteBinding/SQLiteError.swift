import CoreDataCSQLite

/// What SQLite reported: the extended result code, its message and the SQL it happened in.
///
/// Neither message nor SQL holds bound values, so that a log of errors shows nobody's data.
package struct SQLiteError: Error, Sendable, Hashable, CustomStringConvertible {
  /// Extended result code, such as 2067 for a violated UNIQUE index.
  package let code: Int32
  package let message: String
  /// Text of the statement with its question marks.
  package let sql: String?

  package init(code: Int32, message: String, sql: String? = nil) {
    self.code = code
    self.message = message
    self.sql = sql
  }

  /// The error that `connection` just met; `connection` may be nil when it could not even be allocated.
  package init(_ code: Int32, on connection: OpaquePointer?, sql: String? = nil) {
    let extended = connection.map { sqlite3_extended_errcode($0) } ?? code
    // After a misuse the connection still shows an older error; the code at hand is then the true one.
    let matches = extended & 0xff == code & 0xff
    self.code = matches ? extended : code
    let text = matches ? connection.flatMap { sqlite3_errmsg($0) } : nil
    message = (text ?? sqlite3_errstr(code)).map { String(cString: $0) } ?? "unknown error"
    self.sql = sql
  }

  /// The code without its extension, such as 19 for any violated constraint.
  package var primaryCode: Int32 { code & 0xff }

  /// Somebody else held a lock for longer than the busy timeout.
  package var isBusy: Bool { primaryCode == SQLITE_BUSY || primaryCode == SQLITE_LOCKED }
  /// A UNIQUE index, or the primary key of a table without row ID, has these values already.
  package var isUniqueViolation: Bool { code == 2067 || code == 1555 || code == 2579 }
  package var isNotADatabase: Bool { primaryCode == SQLITE_NOTADB }
  package var isCorrupt: Bool { primaryCode == SQLITE_CORRUPT }
  package var isReadOnly: Bool { primaryCode == SQLITE_READONLY }
  package var isFull: Bool { primaryCode == SQLITE_FULL }

  package var description: String {
    guard let sql else { return "SQLite error \(code): \(message)" }
    return "SQLite error \(code): \(message) - in: \(sql)"
  }
}
