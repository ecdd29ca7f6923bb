import CoreDataSQLiteBinding
import Foundation
import Synchronization

/// Opens a database for reading so that nothing on disk changes: not the file, not its log, and no new file
/// beside it.
///
/// SQLite itself leaves files behind when it reads a database with a write-ahead log: it makes the log and
/// its shared memory. So such a database is opened as unchanging while its log is empty (and again as soon as
/// the files changed); with a log, through the shared memory that is there, which is not written; and where
/// that is missing, as forensic copies have it, from a private copy of database and log, which is deleted
/// with the last user.
final class UntouchedFile: Sendable {
  let path: String
  private let _timeout: Double
  private let _copy = Mutex<PrivateCopy?>(nil)

  init(path: String, timeout: Double) {
    self.path = path
    _timeout = timeout
  }

  /// A new connection.
  ///
  /// - Throws: `SQLiteError`; an error of the file system.
  func open() throws -> Connection {
    let connection = try _open()
    _ = try connection.firstValue("SELECT COUNT(*) FROM sqlite_master")
    return connection
  }

  private func _open() throws -> Connection {
    // SQLite plays a log that lies there, whatever the header says.
    guard DatabaseHead.hasLog(path) || FileState.sizeAndTime(path + "-wal") != nil else {
      return try Connection(path: path, mode: .readOnly, busyTimeout: _timeout)
    }
    guard _size(path + "-wal") > 0 else {
      let state = FileState(path)
      let connection = try Connection(path: path, mode: .immutable, busyTimeout: _timeout)
      let path = path
      connection.isOutdated = { FileState(path) != state }
      return connection
    }
    if _size(path + "-shm") > 0 {
      return try Connection(path: path, mode: .readOnlyBeside, busyTimeout: _timeout)
    }
    let state = FileState(path)
    let copy = try _copied(state)
    let connection = try Connection(path: copy.path, mode: .readOnly, busyTimeout: _timeout)
    let path = path
    connection.isOutdated = {
      // Keeps the copy for as long as the connection lives.
      _ = copy
      return FileState(path) != state
    }
    return connection
  }

  private func _copied(_ state: FileState) throws -> PrivateCopy {
    if let copy = _copy.withLock({ $0 }), copy.state == state { return copy }
    let copy = try PrivateCopy(of: path, state)
    _copy.withLock { $0 = copy }
    return copy
  }

  private func _size(_ path: String) -> Int64 { FileState.sizeAndTime(path)?.size ?? 0 }
}

/// What tells that a database or its log has changed.
struct FileState: Equatable {
  private let _database: Part?
  private let _log: Part?

  struct Part: Equatable {
    let size: Int64
    let seconds: Int
    let nanoseconds: Int
    let number: UInt64
  }

  init(_ path: String) {
    _database = Self.sizeAndTime(path)
    let log = Self.sizeAndTime(path + "-wal")
    // An empty log says no more than a missing one.
    _log = log?.size == 0 ? nil : log
  }

  static func sizeAndTime(_ path: String) -> Part? {
    var status = stat()
    guard stat(path, &status) == 0 else { return nil }
    let time = modified(status)
    return Part(
      size: Int64(status.st_size), seconds: Int(time.tv_sec), nanoseconds: Int(time.tv_nsec),
      number: UInt64(status.st_ino))
  }

  /// When the content of a file was last modified.
  static func modified(_ status: stat) -> timespec {
    #if canImport(Darwin)
    status.st_mtimespec
    #else
    status.st_mtim
    #endif
  }

  /// When anything about a file was last changed, its name and permissions included.
  static func changed(_ status: stat) -> timespec {
    #if canImport(Darwin)
    status.st_ctimespec
    #else
    status.st_ctim
    #endif
  }
}
