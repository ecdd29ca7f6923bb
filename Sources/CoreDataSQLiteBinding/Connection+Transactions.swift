import CoreDataCSQLite

/// Transactions, the write-ahead log and copies of whole databases.
extension Connection {
  private static let _begin = SQLText("BEGIN IMMEDIATE")
  private static let _commit = SQLText("COMMIT")
  private static let _rollback = SQLText("ROLLBACK")

  /// Opens a transaction that holds the write lock from the start.
  ///
  /// - Throws: a busy `SQLiteError` if another writer holds the lock for longer than the timeout.
  package func beginImmediate() throws { try withStatement(Self._begin) { try $0.run() } }

  package func commit() throws { try withStatement(Self._commit) { try $0.run() } }

  /// Rolls the transaction back if one is still open: some errors make SQLite roll back on its own.
  package func rollback() {
    guard !isInAutocommit else { return }
    // A failing ROLLBACK cannot be handled; SQLite then rolls back when the connection closes.
    try? withStatement(Self._rollback) { try $0.run() }
  }

  /// Runs `body` in a transaction that holds the write lock; rolls back if it throws.
  ///
  /// - Throws: Errors of `body`; `SQLiteError`, with `isMoved` if the file has been moved or deleted
  ///   meanwhile, with `isLogLost` if its log has. In the latter case, the database file has all earlier commits.
  package func transaction<Result>(_ body: () throws -> Result) throws -> Result {
    try beginImmediate()
    commitWatch?.willWrite(self)
    do {
      let result = try body()
      try expectInPlace()
      try log.expectWhole(self)
      try commit()
      commitWatch?.didCommit(self)
      return result
    } catch {
      commitWatch?.willRollBack()
      rollback()
      // The open descriptor still has the frames.
      if (error as? SQLiteError)?.isLogLost ?? false { try? checkpoint(.full) }
      throw error
    }
  }

  /// The mode of a checkpoint.
  package enum Checkpoint: Int32, Sendable {
    /// As far as possible without waiting for other connections.
    case passive = 0
    /// Waits for writers, then copies the whole log into the database.
    case full = 1
    /// As `full`, and waits for readers so that the log starts over.
    case restart = 2
    /// As `restart`, and truncates the log file.
    case truncate = 3
  }

  /// Copies the write-ahead log into the database file.
  package func checkpoint(_ mode: Checkpoint = .passive) throws {
    let result = sqlite3_wal_checkpoint_v2(handle, nil, mode.rawValue, nil, nil)
    guard result == SQLITE_OK else { throw SQLiteError(result, on: handle, sql: "wal_checkpoint") }
  }

  /// Replaces all content of `destination` by this database's, write-ahead log included, in one transaction
  /// there.
  package func backUp(to destination: Connection) throws {
    guard let backup = sqlite3_backup_init(destination.handle, "main", handle, "main") else {
      throw SQLiteError(sqlite3_errcode(destination.handle), on: destination.handle, sql: "backup")
    }
    let stepped = sqlite3_backup_step(backup, -1)
    let finished = sqlite3_backup_finish(backup)
    guard stepped == SQLITE_DONE, finished == SQLITE_OK else {
      throw SQLiteError(finished == SQLITE_OK ? stepped : finished, on: destination.handle, sql: "backup")
    }
  }

  /// Empties the database in place, respecting other connections' locks: no tables, no content, the file stays.
  package func eraseDatabase() throws {
    _ = coredata_set_reset_database(handle, 1)
    defer { _ = coredata_set_reset_database(handle, 0) }
    try execute("VACUUM")
  }

  /// Value of a pragma as text.
  package func pragma(_ name: String) throws -> String? {
    switch try firstValue("PRAGMA \(name)") {
    case .text(let text): text
    case .int(let number): String(number)
    case .double(let number): String(number)
    default: nil
    }
  }
}
