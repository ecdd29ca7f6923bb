import CoreDataSQLiteBinding
import Foundation
import Synchronization

/// Opens a database for reading without any change on disk: to the file, to its log, or by new files beside
/// it. Used only for files that must not be written; SQLite cannot recover such a file in place.
///
/// SQLite itself creates files when it reads a database with a write-ahead log: the log and its shared
/// memory. Hence three cases:
/// - The shared memory exists: read through it, without writing it.
/// - The log is empty: open the file as immutable, and reopen it when it changes. A log of 32 bytes, as left
///   by a killed process, has only a header and counts as empty: SQLite would try for ten seconds to read
///   such a log through shared memory that it must not write, and fail.
/// - SQLite would have to recover (a log without shared memory, as in forensic copies, or a hot journal): let
///   it recover a private copy, which is deleted with its last connection.
///
/// Other processes may create and delete log and shared memory meanwhile; opening is then retried.
final class UntouchedFile: Sendable {
  let path: String
  private let _timeout: Double
  private let _copy = Mutex<PrivateCopy?>(nil)

  /// Size of a log with a header only.
  private static let _logHeaderSize: Int64 = 32
  /// Number of retries if the files change while they are opened.
  private static let _maximumTries = 100

  init(path: String, timeout: Double) {
    self.path = path
    _timeout = timeout
  }

  /// Opens a new connection.
  ///
  /// - Throws: `SQLiteError`; an error of the file system.
  func open() throws -> Connection {
    let deadline = Deadline(seconds: _timeout)
    for attempt in 1... {
      let state = FileState(path)
      do {
        return try _open(state, deadline)
      } catch
        where attempt < Self._maximumTries && deadline.remaining > 0 && _hasChanged(since: state, error)
      {
        Thread.sleep(forTimeInterval: min(Double(attempt) * 0.001, 0.02))
      }
    }
    preconditionFailure("the loop ends by returning or throwing")
  }

  /// Opens a new connection to a private copy, for a file that another connection keeps locked.
  ///
  /// - Throws: As `open`.
  func openCopy() throws -> Connection {
    for attempt in 1... {
      let state = FileState(path)
      do {
        return try _openCopy(state)
      } catch  where attempt < Self._maximumTries && _hasChanged(since: state, error) {
        Thread.sleep(forTimeInterval: min(Double(attempt) * 0.001, 0.02))
      }
    }
    preconditionFailure("the loop ends by returning or throwing")
  }

  private func _hasChanged(since state: FileState, _ error: any Error) -> Bool {
    switch (error as? SQLiteError)?.primaryCode {
    // The log's shared memory disappears while it is opened.
    case 14: FileState.part(path) != nil && access(path, R_OK) == 0
    case 15: true
    default: error is PrivateCopy.ChangedError || FileState(path) != state
    }
  }

  private func _open(_ state: FileState, _ deadline: Deadline) throws -> Connection {
    let timeout = deadline.remaining
    do {
      if state.mayHaveHotJournal {
        return try _checked(Connection(path: path, mode: .readOnly, busyTimeout: timeout))
      }
      // SQLite replays an existing log, regardless of the header.
      guard state.log != nil || DatabaseHead.hasLog(path) else {
        return try _checked(Connection(path: path, mode: .readOnly, busyTimeout: timeout))
      }
      let logSize = state.log?.size ?? 0
      let hasSharedMemory = (FileState.part(path + "-shm")?.size ?? 0) > 0
      if logSize != Self._logHeaderSize, hasSharedMemory {
        return try _checked(Connection(path: path, mode: .readOnlyBeside, busyTimeout: timeout))
      }
      guard logSize <= Self._logHeaderSize else { return try _openCopy(state) }
      let connection = try _checked(Connection(path: path, mode: .immutable, busyTimeout: timeout))
      let path = path
      connection.isOutdated = { FileState(path) != state }
      return connection
    } catch let error as SQLiteError where error.needsRecovery {
      return try _openCopy(state)
    }
  }

  private func _openCopy(_ state: FileState) throws -> Connection {
    guard state.isSettled else { throw PrivateCopy.ChangedError(path: path) }
    let copy = try _copied(state)
    // For writing: SQLite recovers the copy.
    let connection = try _checked(Connection(path: copy.path, mode: .readWrite, busyTimeout: _timeout))
    try connection.execute("PRAGMA query_only = 1")
    let path = path
    connection.isOutdated = {
      // Keeps the copy as long as the connection.
      _ = copy
      return FileState(path) != state
    }
    return connection
  }

  private func _checked(_ connection: Connection) throws -> Connection {
    connection.boundSteps(byteCount: FileState.part(path)?.size ?? 0)
    _ = try connection.firstValue("SELECT COUNT(*) FROM sqlite_master")
    return connection
  }

  private func _copied(_ state: FileState) throws -> PrivateCopy {
    if let copy = _copy.withLock({ $0 }), copy.state == state { return copy }
    let copy = try PrivateCopy(of: path, state)
    _copy.withLock { $0 = copy }
    return copy
  }
}

/// A fingerprint of a database, its log and its journal, to detect changes.
struct FileState: Equatable {
  let database: Part?
  /// Nil for an empty log, which is equivalent to a missing one.
  let log: Part?
  /// Nil for an empty journal.
  let journal: Part?

  struct Part: Equatable {
    let size: Int64
    let seconds: Int
    let nanoseconds: Int
    let number: UInt64
  }

  init(_ path: String) {
    func filled(_ path: String) -> Part? {
      Self.part(path).flatMap { $0.size == 0 ? nil : $0 }
    }
    database = Self.part(path)
    log = filled(path + "-wal")
    journal = filled(path + "-journal")
  }

  /// Whether a transaction may have been interrupted. Only SQLite can determine that, since one in progress
  /// looks the same.
  var mayHaveHotJournal: Bool { journal != nil }

  /// Whether any later change will be visible: file systems store times in steps of a few milliseconds.
  var isSettled: Bool {
    let now = Date().timeIntervalSince1970
    return [database, log, journal].allSatisfy { part in
      guard let part else { return true }
      return abs(now - Double(part.seconds) - Double(part.nanoseconds) / 1e9) > 0.02
    }
  }

  static func part(_ path: String) -> Part? {
    var status = stat()
    guard stat(path, &status) == 0 else { return nil }
    let time = modified(status)
    return Part(
      size: Int64(status.st_size), seconds: Int(time.tv_sec), nanoseconds: Int(time.tv_nsec),
      number: UInt64(status.st_ino))
  }

  /// Returns the time of a file's last content change.
  static func modified(_ status: stat) -> timespec {
    #if canImport(Darwin)
    status.st_mtimespec
    #else
    status.st_mtim
    #endif
  }

  /// Returns the time of a file's last status change, including its name and permissions.
  static func changed(_ status: stat) -> timespec {
    #if canImport(Darwin)
    status.st_ctimespec
    #else
    status.st_ctim
    #endif
  }
}
