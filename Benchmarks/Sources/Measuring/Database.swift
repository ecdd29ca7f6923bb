import CoreDataCSQLite

/// A connection used the way a C program would. On purpose not the project's own binding: the floor must
/// neither profit nor suffer from it.
package final class Database {
  package struct Failure: Error, CustomStringConvertible {
    package let description: String
    package init(description: String) { self.description = description }
  }

  package let handle: OpaquePointer

  /// Disables SQLite's memory statistics, which it keeps under a lock, as the engine does.
  private static let _hasNoStatistics = coredata_set_memory_statistics(0) == SQLITE_OK

  /// Opens a file with the settings that both sides have, after those that only a new file takes.
  package init(path: String, settings: String = "") throws {
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

  @inlinable package func execute(_ sql: String) throws {
    try check(sqlite3_exec(handle, sql, nil, nil, nil))
  }

  package func prepare(_ sql: String) throws -> OpaquePointer {
    var statement: OpaquePointer?
    try check(sqlite3_prepare_v3(handle, sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &statement, nil))
    guard let statement else { throw Failure(description: "SQLite sees no statement in '\(sql)'") }
    return statement
  }

  /// Steps a statement once that answers no rows, and makes it ready for the next time.
  @inlinable @inline(__always) package func run(_ statement: OpaquePointer) throws {
    let code = sqlite3_step(statement)
    sqlite3_reset(statement)
    if code != SQLITE_DONE { try check(code) }
  }

  /// Runs queries in one read transaction, which takes the file's locks once instead of once per query.
  @inlinable package func reading<Result>(_ body: () throws -> Result) throws -> Result {
    try execute("BEGIN")
    let result = try body()
    try execute("COMMIT")
    return result
  }

  /// The first column of a query's only row.
  package func number(_ sql: String) throws -> Int64 {
    let statement = try prepare(sql)
    defer { sqlite3_finalize(statement) }
    guard sqlite3_step(statement) == SQLITE_ROW else { throw failure }
    return sqlite3_column_int64(statement, 0)
  }

  @inlinable @inline(__always) package func check(_ code: Int32) throws {
    if code != SQLITE_OK, code != SQLITE_ROW, code != SQLITE_DONE { throw failure }
  }

  @usableFromInline package var failure: Failure {
    Failure(description: "SQLite: \(String(cString: sqlite3_errmsg(handle)))")
  }
}
