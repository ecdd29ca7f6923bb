import CoreDataCSQLite

/// A connection used the way a C program would. On purpose not the project's own binding: the floor must
/// neither profit nor suffer from it.
final class Database {
  struct Failure: Error, CustomStringConvertible { let description: String }

  let handle: OpaquePointer

  /// Disables SQLite's memory statistics, which it keeps under a lock, as the engine does.
  private static let _hasNoStatistics = coredata_set_memory_statistics(0) == SQLITE_OK

  /// Opens a file with the settings that both sides have, after those that only a new file takes.
  init(path: String, settings: String = "") throws {
    // Has no effect if the engine has done it in this process.
    _ = Self._hasNoStatistics
    var opened: OpaquePointer?
    let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX
    guard sqlite3_open_v2(path, &opened, flags, nil) == SQLITE_OK, let opened else {
      let reason = opened.map { String(cString: sqlite3_errmsg($0)) } ?? "out of memory"
      sqlite3_close(opened)
      throw Failure(description: "SQLite cannot open '\(path)': \(reason)")
    }
    handle = opened
    sqlite3_busy_timeout(handle, 5000)
    try execute(settings + "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL")
  }

  deinit { sqlite3_close_v2(handle) }

  func execute(_ sql: String) throws { try check(sqlite3_exec(handle, sql, nil, nil, nil)) }

  func prepare(_ sql: String) throws -> OpaquePointer {
    var statement: OpaquePointer?
    try check(sqlite3_prepare_v3(handle, sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &statement, nil))
    guard let statement else { throw Failure(description: "SQLite sees no statement in '\(sql)'") }
    return statement
  }

  /// Steps a statement once that answers no rows, and makes it ready for the next time.
  @inline(__always) func run(_ statement: OpaquePointer) throws {
    let code = sqlite3_step(statement)
    sqlite3_reset(statement)
    if code != SQLITE_DONE { try check(code) }
  }

  /// Runs queries in one read transaction, which takes the file's locks once instead of once per query.
  func reading<Result>(_ body: () throws -> Result) throws -> Result {
    try execute("BEGIN")
    let result = try body()
    try execute("COMMIT")
    return result
  }

  /// The first column of a query's only row.
  func number(_ sql: String) throws -> Int64 {
    let statement = try prepare(sql)
    defer { sqlite3_finalize(statement) }
    guard sqlite3_step(statement) == SQLITE_ROW else { throw _failure }
    return sqlite3_column_int64(statement, 0)
  }

  /// Digest of a query's rows, written as the sqlite3 shell writes them.
  func digest(_ sql: String) throws -> (rows: Int, digest: String) {
    let statement = try prepare(sql)
    defer { sqlite3_finalize(statement) }
    var digest = MD5()
    var rows = 0
    let columns = sqlite3_column_count(statement)
    while sqlite3_step(statement) == SQLITE_ROW {
      rows += 1
      for column in 0..<columns {
        if let text = sqlite3_column_text(statement, column) {
          digest.update(
            UnsafeRawBufferPointer(start: text, count: Int(sqlite3_column_bytes(statement, column))))
        }
        let end: StaticString = column == columns - 1 ? "\n" : "|"
        digest.update(UnsafeRawBufferPointer(start: end.utf8Start, count: 1))
      }
    }
    return (rows, digest.finish())
  }

  @inline(__always) func check(_ code: Int32) throws {
    if code != SQLITE_OK, code != SQLITE_ROW, code != SQLITE_DONE { throw _failure }
  }

  private var _failure: Failure { Failure(description: "SQLite: \(String(cString: sqlite3_errmsg(handle)))") }
}
