import CoreDataCSQLite

/// Detects whether the file of a connection has been moved.
extension Connection {
  /// Whether the database file has been deleted, moved or replaced since it was opened: later writes are lost
  /// to readers. Costs one file system look-up; false for an in-memory database.
  package var hasMoved: Bool {
    var isMoved: Int32 = 0
    let result = sqlite3_file_control(handle, "main", SQLITE_FCNTL_HAS_MOVED, &isMoved)
    return result == SQLITE_OK && isMoved != 0
  }

  /// - Throws: `SQLiteError` with `isMoved`.
  package func expectInPlace() throws {
    if let files { return try files.expectInPlace() }
    guard !hasMoved else { throw SQLiteError.moved(path: path) }
  }

  /// Keeps the write-ahead log unchanged when the last connection to the database closes.
  func keepLogOnClosing() { _ = coredata_set_no_checkpoint_on_close(handle, 1) }

  /// Sets how long a statement waits for another connection's lock, in seconds.
  package func setBusyTimeout(_ seconds: Double) {
    sqlite3_busy_timeout(handle, Int32(clamping: Int(max(0, min(seconds, 1_000_000)) * 1000)))
  }
}

extension SQLiteError {
  /// The database file was deleted, moved, emptied or replaced while it was open, or its log was.
  package var isMoved: Bool { code == Self._moved || isLogLost }

  /// SQLITE_READONLY_DBMOVED.
  private static let _moved: Int32 = 1032

  static func moved(path: String) -> SQLiteError {
    SQLiteError(
      code: _moved,
      message: "the file \(path) was deleted, moved, emptied or replaced while the database was open")
  }
}
