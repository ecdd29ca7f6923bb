#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// The files of an open database, identified by device and inode as the file system reports them, so that
/// another file at the same path is recognized.
package struct DatabaseFiles: Sendable {
  package let path: String
  private let _database: FileIdentity?
  private let _hadContent: Bool
  let log: FileIdentity?

  /// Records the files at `path`, which a connection has open.
  package init(path: String) {
    self.path = path
    let file = FileStatus(path)
    _database = file?.identity
    _hadContent = file?.isEmpty == false
    log = FileStatus(path + "-wal")?.identity
  }

  /// The state of the database's path.
  package enum Place: Sendable {
    case same
    /// Deleted, moved, or replaced by another file.
    case gone
    /// Truncated. The log holds only the most recently changed pages: written into the file, they would not
    /// make a valid database.
    case emptied
  }

  /// Costs one file system look-up.
  package var place: Place {
    guard let _database else { return .same }
    guard let file = FileStatus(path), file.identity == _database else { return .gone }
    return file.isEmpty && _hadContent ? .emptied : .same
  }

  /// - Throws: `SQLiteError` with `isMoved` when the database is no longer at its path.
  package func expectInPlace() throws {
    guard place == .same else { throw SQLiteError.moved(path: path) }
  }

  /// Deletes the write-ahead log and its shared memory if nothing else is left of the database at its path.
  ///
  /// SQLite finds a log by its name alone: it would replay this one over any database created there later.
  package func removeStrayLog() {
    guard place != .same, let log, FileStatus(path + "-wal")?.identity == log else { return }
    unlink(path + "-wal")
    unlink(path + "-shm")
  }
}

/// Status of a file as the file system reports it.
struct FileStatus {
  let identity: FileIdentity
  let size: Int64
  var isEmpty: Bool { size == 0 }

  /// The file at `path`; nil if it is missing, or its status is unavailable.
  init?(_ path: String) {
    var status = stat()
    guard stat(path, &status) == 0 else { return nil }
    identity = FileIdentity(
      device: UInt64(truncatingIfNeeded: status.st_dev), number: UInt64(truncatingIfNeeded: status.st_ino))
    size = Int64(status.st_size)
  }
}

/// The number that a file has in its file system.
struct FileIdentity: Hashable {
  let device: UInt64
  let number: UInt64
}
