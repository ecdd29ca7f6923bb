import CoreDataSQLiteBinding
import Foundation

// Opening a store file, in a single step.

extension SQLiteStoreFile {
  /// Opens the database for writing and lets SQLite recover it.
  ///
  /// The first read makes SQLite roll back an interrupted transaction, replay the log of a killed process,
  /// and create the log's shared memory, under its own locks. All later information about the file is read
  /// from the connection, never from the file itself. Waits up to the file's timeout while another connection
  /// recovers, migrates or closes the store.
  ///
  /// - Parameter creates: Whether a missing file is created, empty.
  /// - Throws: `SQLiteError`; `StoreOpenError` for a file that cannot be a store, and `unwritable` for a file
  ///   that the process may only read.
  func openForWriting(creates: Bool = false) throws -> Connection {
    try checkIsFile(mayBeMissing: creates)
    let deadline = Deadline(seconds: timeout)
    var faults = 0
    do {
      return try deadline.retrying(while: { Self._isPassing($0, &faults) }) {
        let connection = try Connection(
          path: path, mode: creates ? .create : .readWrite, busyTimeout: deadline.remaining)
        guard !connection.isFaulty else { throw _OpenedReadOnly(mayBeWritten: _mayBeWritten) }
        _ = try connection.firstValue("SELECT COUNT(*) FROM sqlite_master")
        connection.setBusyTimeout(timeout)
        return connection
      }
    } catch is _OpenedReadOnly {
      throw unwritable()
    } catch let error as SQLiteError where isUnwritable(error) {
      throw unwritable(error)
    }
  }

  /// Opens the database for a single read that changes nothing on disk. A database that SQLite would have to
  /// recover, or that another connection keeps locked (`PRAGMA locking_mode = EXCLUSIVE`), is read from a
  /// copy.
  func openForReading() throws -> Connection {
    do {
      let connection = try waiting(min(timeout, 1)).untouched().open()
      connection.setBusyTimeout(timeout)
      return connection
    } catch let error as SQLiteError where error.isBusy {
      return try untouched().openCopy()
    }
  }

  /// Opens another connection to an open database.
  ///
  /// - Parameter mode: `.readWrite` or `.readOnly`.
  func openAnother(_ mode: Connection.Mode = .readWrite) throws -> Connection {
    if mode == .readWrite { return try openForWriting() }
    let connection = try Connection(path: path, mode: mode, busyTimeout: timeout)
    _ = try connection.firstValue("SELECT COUNT(*) FROM sqlite_master")
    return connection
  }

  /// Returns read-only access to the database for several connections that change nothing on disk.
  func untouched() -> UntouchedFile { UntouchedFile(path: path, timeout: timeout) }

  // MARK: Obstacles

  /// SQLite opened the file read-only, its fallback whenever opening for writing fails.
  private struct _OpenedReadOnly: Error {
    let mayBeWritten: Bool
  }

  /// Whether a retry may succeed: until the deadline after a lock conflict, a few times after a fault
  /// unrelated to the file's permissions.
  private static func _isPassing(_ error: any Error, _ faults: inout Int) -> Bool {
    switch error {
    case let error as SQLiteError where error.isBusy: return true
    case let error as SQLiteError where error.needsRecovery: faults += 1
    case let error as _OpenedReadOnly where error.mayBeWritten: faults += 1
    default: return false
    }
    return faults < 4
  }

  private var _mayBeWritten: Bool { access(path, W_OK) == 0 }

  /// Whether an error results from a file or directory that the process may not write.
  func isUnwritable(_ error: SQLiteError) -> Bool {
    guard [3, 8, 14].contains(error.primaryCode), access(path, F_OK) == 0 else { return false }
    return !_mayBeWritten || access((path as NSString).deletingLastPathComponent, W_OK) != 0
  }

  /// Returns the error for a file that the process may only read.
  func unwritable(_ error: SQLiteError? = nil) -> StoreOpenError {
    .unwritable(
      path: path, error ?? SQLiteError(code: 8, message: "attempt to write a readonly database"))
  }

  /// - Throws: `StoreOpenError` for a file that cannot be a store.
  func checkIsFile(mayBeMissing: Bool) throws {
    switch try location.occupant() {
    case .file: return
    case .directory: throw StoreOpenError.notADatabase(path: path)
    case .nothing where mayBeMissing: return
    case .nothing: throw StoreOpenError.missing(path: path)
    }
  }
}
