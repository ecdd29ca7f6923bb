#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// The files of an open database as the file system numbers them, so that another file at the same path is told
/// from them.
package struct DatabaseFiles: Sendable {
  package let path: String
  private let _database: FileIdentity?
  private let _log: FileIdentity?

  /// Notes the files at `path`, which a connection has open.
  package init(path: String) {
    self.path = path
    _database = FileIdentity(path)
    _log = FileIdentity(path + "-wal")
  }

  /// Whether the database is still at its path: neither deleted nor moved, nor replaced by another file.
  package var isInPlace: Bool { _database == nil || FileIdentity(path) == _database }

  /// - Throws: `SQLiteError` with `isMoved` when the database is no longer at its path.
  package func expectInPlace() throws {
    guard isInPlace else { throw SQLiteError.moved(path: path) }
  }

  /// Deletes the write-ahead log and its shared memory if they are all that is left of the database at its path.
  ///
  /// SQLite finds a log by its name alone: it would play this one over whatever database comes to lie there.
  package func removeStrayLog() {
    guard !isInPlace, let _log, FileIdentity(path + "-wal") == _log else { return }
    unlink(path + "-wal")
    unlink(path + "-shm")
  }
}

/// The number that a file has in its file system.
package struct FileIdentity: Sendable, Hashable {
  private let _device: UInt64
  private let _number: UInt64

  /// The file at `path`; nil if there is none, or it cannot be looked at.
  package init?(_ path: String) {
    var status = stat()
    guard stat(path, &status) == 0 else { return nil }
    _device = UInt64(truncatingIfNeeded: status.st_dev)
    _number = UInt64(truncatingIfNeeded: status.st_ino)
  }
}
