import CoreDataCSQLite

/// An error from SQLite: the extended result code, its message and the SQL that caused it.
///
/// Neither message nor SQL contains bound values, so that a log of errors reveals no data.
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

  /// Creates the error that `connection` just reported; `connection` is nil if it could not even be
  /// allocated.
  package init(_ code: Int32, on connection: OpaquePointer?, sql: String? = nil) {
    let extended = connection.map { sqlite3_extended_errcode($0) } ?? code
    // After a misuse the connection still reports an older error; the given code is then the right one.
    let matches = extended & 0xff == code & 0xff
    self.code = matches ? extended : code
    let text = matches ? connection.flatMap { sqlite3_errmsg($0) } : nil
    message = (text ?? sqlite3_errstr(code)).map { String(cString: $0) } ?? "unknown error"
    self.sql = sql
  }

  /// The code without its extension, such as 19 for any violated constraint.
  package var primaryCode: Int32 { code & 0xff }

  /// Another connection held a lock for longer than the busy timeout.
  package var isBusy: Bool { primaryCode == SQLITE_BUSY || primaryCode == SQLITE_LOCKED }
  /// A UNIQUE index, or the primary key of a table without row ID, has these values already.
  package var isUniqueViolation: Bool { code == 2067 || code == 1555 || code == 2579 }
  package var isNotADatabase: Bool { primaryCode == SQLITE_NOTADB }
  package var isCorrupt: Bool { primaryCode == SQLITE_CORRUPT }
  package var isReadOnly: Bool { primaryCode == SQLITE_READONLY }
  package var isFull: Bool { primaryCode == SQLITE_FULL }
  /// The database was opened read-only and needs a recovery, which writes: of a hot journal
  /// (READONLY_ROLLBACK) or of the log's shared memory (READONLY_RECOVERY, CANTLOCK and CANTINIT, PROTOCOL).
  package var needsRecovery: Bool { [776, 264, 520, 1288].contains(code) || primaryCode == SQLITE_PROTOCOL }
  /// Another connection blocks the operation temporarily: a lock, or a race for the log's header.
  package var isTransient: Bool { isBusy || primaryCode == SQLITE_PROTOCOL }
  /// The medium failed, or the file or its log could not be opened in the requested mode.
  package var isFault: Bool {
    switch primaryCode {
    case SQLITE_IOERR, SQLITE_CANTOPEN, SQLITE_READONLY, SQLITE_FULL, SQLITE_NOMEM, SQLITE_CORRUPT,
      SQLITE_NOTADB, SQLITE_PROTOCOL:
      true
    default: false
    }
  }

  /// The medium, another connection or the process is the cause, and not what the file holds.
  package var isOfEnvironment: Bool {
    switch primaryCode {
    case SQLITE_IOERR, SQLITE_CANTOPEN, SQLITE_READONLY, SQLITE_FULL, SQLITE_NOMEM, SQLITE_PROTOCOL,
      SQLITE_BUSY,
      SQLITE_LOCKED, SQLITE_PERM, SQLITE_INTERNAL, SQLITE_MISUSE, SQLITE_NOLFS:
      true
    default: false
    }
  }

  /// The statement was interrupted: by `Connection.interrupt`, by its caller, or because it took too many
  /// steps.
  package var isInterrupted: Bool { primaryCode == SQLITE_INTERRUPT }

  /// The statement is nested too deeply, is too long or has too many parameters for SQLite.
  package var isTooComplex: Bool {
    switch primaryCode {
    case SQLITE_TOOBIG: true
    case SQLITE_ERROR:
      ["parser stack overflow", "Expression tree is too large", "too many SQL variables"].contains {
        message.hasPrefix($0)
      }
    default: false
    }
  }

  package var description: String {
    if isInterrupted {
      return
        "SQLite ended a statement that was cancelled, or that took far more steps than the file has rows "
        + "for: a view or a trigger in it may never come to an end; 'coredata store check' names them"
    }
    guard let sql else { return "SQLite error \(code): \(message)" }
    return "SQLite error \(code): \(message) - in: \(sql)"
  }
}

/// An error that may be caused by an error of SQLite.
package protocol SQLiteFailure: Error {
  /// The error that SQLite reported; nil if it reported none.
  var underlying: SQLiteError? { get }
}

extension SQLiteError: SQLiteFailure {
  package var underlying: SQLiteError? { self }
}
