import CoreDataSQLiteBinding
import Foundation

// The one step in which a store file is opened.

extension SQLiteStoreFile {
  /// Opens the database for writing and lets SQLite recover it.
  ///
  /// The first read makes SQLite undo a transaction that was cut short, read the log that a killed process left,
  /// and create the log's shared memory, under its own locks. Whatever is to be known of the file is read from
  /// the connection afterwards, never from the file itself. Waits while another connection recovers, migrates
  /// or closes the store, for as long as the file's timeout says.
  ///
  /// - Parameter creates: Whether a missing file is created, empty.
  /// - Throws: `SQLiteError`; `StoreOpenError` for what can be no store, and `unwritable` for a file that the
  ///   process may only read.
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

  /// Opens the database for reading once, changing nothing on disk. What SQLite would have to recover first,
  /// and what another connection keeps locked (`PRAGMA locking_mode = EXCLUSIVE`), is read from a copy.
  func openForReading() throws -> Connection {
    do {
      let connection = try waiting(min(timeout, 1)).untouched().open()
      connection.setBusyTimeout(timeout)
      return connection
    } catch let error as SQLiteError where error.isBusy {
      return try untouched().openCopy()
    }
  }

  /// Opens one more connection to a database that is open.
  ///
  /// - Parameter mode: `.readWrite` or `.readOnly`.
  func openAnother(_ mode: Connection.Mode = .readWrite) throws -> Connection {
    if mode == .readWrite { return try openForWriting() }
    let connection = try Connection(path: path, mode: mode, busyTimeout: timeout)
    _ = try connection.firstValue("SELECT COUNT(*) FROM sqlite_master")
    return connection
  }

  /// The database as one to be read only, by several connections that change nothing on disk.
  func untouched() -> UntouchedFile { UntouchedFile(path: path, timeout: timeout) }

  // MARK: What stands in the way

  /// SQLite opened the file read-only, as it does whenever opening it for writing fails.
  private struct _OpenedReadOnly: Error {
    let mayBeWritten: Bool
  }

  /// Whether another try may succeed: when a lock is in the way, until the deadline; after a fault that had
  /// nothing to do with the file's permissions, a few times.
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

  /// Whether an error comes of a file or a directory that the process may not write.
  func isUnwritable(_ error: SQLiteError) -> Bool {
    guard [3, 8, 14].contains(error.primaryCode), access(path, F_OK) == 0 else { return false }
    return !_mayBeWritten || access((path as NSString).deletingLastPathComponent, W_OK) != 0
  }

  /// The error for a file that the process may only read.
  func unwritable(_ error: SQLiteError? = nil) -> StoreOpenError {
    .unwritable(
      path: path, error ?? SQLiteError(code: 8, message: "attempt to write a readonly database"))
  }

  /// - Throws: `StoreOpenError` for what can be no store.
  func checkIsFile(mayBeMissing: Bool) throws {
    switch try location.occupant() {
    case .file: return
    case .directory: throw StoreOpenError.notADatabase(path: path)
    case .nothing where mayBeMissing: return
    case .nothing: throw StoreOpenError.missing(path: path)
    }
  }
}
