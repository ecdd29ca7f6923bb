import CoreDataCSQLite

/// A prepared statement.
///
/// Not thread-safe: it belongs to its connection's user. A mistake in binding (no such parameter, out
/// of memory) is remembered and thrown by the next `step`, so that binding costs no branch at the call site.
package final class Statement {
  @usableFromInline let handle: OpaquePointer
  @exclusivity(unchecked) @usableFromInline var bindResult: Int32 = SQLITE_OK
  /// A large value or a pointer is bound and must be released before the next use.
  @exclusivity(unchecked) @usableFromInline var holdsLargeValues = false
  @exclusivity(unchecked) @usableFromInline var scratch: UnsafeMutablePointer<UInt8>?
  @exclusivity(unchecked) @usableFromInline var scratchUsed = 0
  @usableFromInline static var scratchSize: Int { 1024 }

  /// For the statement cache: whether the statement is lent, and when it was last lent.
  @exclusivity(unchecked) var isLent = false
  @exclusivity(unchecked) var lastLoan: UInt64 = 0
  let id: Int

  /// Compiles `sql` on `connection`.
  ///
  /// - Throws: `SQLiteError` with the parser's message.
  init(_ sql: String, id: Int = 0, on connection: OpaquePointer, persistent: Bool = true) throws {
    var handle: OpaquePointer?
    var text = sql
    let result = text.withUTF8 { buffer in
      buffer.withMemoryRebound(to: CChar.self) { characters in
        sqlite3_prepare_v3(
          connection, characters.baseAddress, Int32(clamping: characters.count),
          persistent ? UInt32(SQLITE_PREPARE_PERSISTENT) : 0, &handle, nil)
      }
    }
    guard result == SQLITE_OK else { throw SQLiteError(result, on: connection, sql: sql) }
    guard let handle else {
      throw SQLiteError(code: SQLITE_MISUSE, message: "the text holds no statement", sql: sql)
    }
    self.handle = handle
    self.id = id
  }

  deinit {
    sqlite3_finalize(handle)
    scratch?.deallocate()
  }

  /// Text as prepared.
  package var sql: String { sqlite3_sql(handle).map { String(cString: $0) } ?? "" }

  /// Number of columns in the result.
  package var columnCount: Int { Int(sqlite3_column_count(handle)) }

  // MARK: Stepping

  /// Advances to the next row; false if there is none.
  ///
  /// - Throws: `SQLiteError` for any error of SQLite, including a failed binding.
  @inlinable package func step() throws -> Bool {
    if bindResult != SQLITE_OK { throw failure(bindResult) }
    let result = sqlite3_step(handle)
    if result == SQLITE_ROW { return true }
    if result == SQLITE_DONE { return false }
    throw failure(result)
  }

  /// Runs the statement to completion, for statements without a result.
  @inlinable package func run() throws {
    while try step() {}
  }

  /// Resets the statement for the next run. Every parameter must be bound again.
  @inlinable package func reset() {
    sqlite3_reset(handle)
    scratchUsed = 0
    bindResult = SQLITE_OK
    if holdsLargeValues { clearBindings() }
  }

  @usableFromInline func clearBindings() {
    sqlite3_clear_bindings(handle)
    holdsLargeValues = false
  }

  @usableFromInline func failure(_ result: Int32) -> SQLiteError {
    SQLiteError(result, on: sqlite3_db_handle(handle), sql: sql)
  }
}
