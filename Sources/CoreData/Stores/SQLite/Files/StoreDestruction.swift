import CoreDataSQLiteBinding
import Foundation

/// Empties a store in place, as Core Data does: leaves an empty database without external data, so that
/// programs that have the store open see it empty and do not lose their file.
///
/// Leaves files that are not stores untouched, since a wrong path must not destroy a file. If there is no
/// file, an empty one is created, so that deleting the file afterwards always works.
struct StoreDestruction {
  private let _location: StoreLocation
  private let _timeout: Double
  private let _isForced: Bool

  /// - Parameter isForced: Whether to empty a file that is not a readable database as well.
  init(_ location: StoreLocation, timeout: Double, isForced: Bool) {
    _location = location
    _timeout = timeout
    _isForced = isForced
  }

  /// - Throws: `StoreOpenError`; `SQLiteError`, for instance when another program keeps the store locked.
  func run() throws {
    let occupant = try _location.occupant()
    // A store in memory ends with its connection, and its URL is a device that all programs share.
    if _location.isInMemory { return }
    switch occupant {
    case .directory: throw StoreOpenError.notADatabase(path: _location.path)
    case .nothing: try _createEmpty()
    case .file: try _empty()
    }
  }

  private func _createEmpty() throws {
    // Without the directory there is nothing to destroy.
    guard FileManager.default.fileExists(atPath: _location.directory) else { return }
    // Before creating a file: SQLite would replay an existing log.
    for suffix in ["-wal", "-shm", "-journal"] { StoreLocation.removeFile(_location.path + suffix) }
    let descriptor = open(_location.path, O_WRONLY | O_CREAT | O_CLOEXEC, 0o644)
    guard descriptor >= 0 else {
      throw StoreOpenError.unreadable(
        path: _location.path, SQLiteError(code: 14, message: String(cString: strerror(errno))))
    }
    close(descriptor)
    _removeExternalData(nil)
  }

  private func _empty() throws {
    let head = DatabaseHead.bytes(_location.path, count: DatabaseHead.magic.count)
    guard let head, head.isEmpty || head == DatabaseHead.magic else {
      guard _isForced, truncate(_location.path, 0) == 0 else {
        throw StoreOpenError.notADatabase(path: _location.path)
      }
      for suffix in ["-wal", "-shm", "-journal"] { StoreLocation.removeFile(_location.path + suffix) }
      return _removeExternalData(nil)
    }
    let connection = try Connection(path: _location.path, mode: .readWrite, busyTimeout: _timeout)
    try _expectStore(connection)
    let neighbours = ExternalDataNeighbours(of: _location)
    let files = neighbours.isEmpty ? nil : (try? neighbours.ownNames(connection)) ?? []
    // Reads the schema, which may be damaged.
    try? connection.execute("PRAGMA auto_vacuum = INCREMENTAL")
    try connection.eraseDatabase()
    // Removes old pages from the log, unless a reader still uses them.
    connection.setBusyTimeout(0)
    try? connection.checkpoint(.truncate)
    _removeExternalData(files)
  }

  /// Accepts a Core Data store, an incompletely created one, and one too damaged to identify.
  private func _expectStore(_ connection: Connection) throws {
    var names: [String] = []
    do {
      try connection.query("SELECT name FROM sqlite_master WHERE type = 'table'") {
        names.append($0.string(0))
      }
    } catch let error as SQLiteError where error.isCorrupt || (_isForced && error.isNotADatabase) {
      return
    }
    guard names.isEmpty || names.contains("Z_METADATA") || _isForced else {
      throw StoreOpenError.typeMismatch(path: _location.path, found: "the database has no table Z_METADATA")
    }
  }

  /// - Parameter files: Names of the files to delete; nil for the whole directory, unless another store uses
  ///   it.
  private func _removeExternalData(_ files: Set<String>?) {
    let directory = ExternalDataDirectory(storePath: _location.path)
    if let files { return directory.remove(Array(files)) }
    guard ExternalDataNeighbours(of: _location).isEmpty else { return }
    try? FileManager.default.removeItem(atPath: directory.supportPath)
  }
}
