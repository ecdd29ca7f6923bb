import CoreDataSQLiteBinding
import Foundation

/// Empties a store in place, as Core Data does: an empty database and no external data stay behind, and programs
/// that have the store open find it empty rather than lose their file.
///
/// What is no store stays as it is, since a wrong path must not destroy a file. Where there is no file an
/// empty one is made, so that the file may be deleted afterwards in any case.
struct StoreDestruction {
  private let _location: StoreLocation
  private let _timeout: Double
  private let _isForced: Bool

  /// - Parameter isForced: Whether a file that is no readable database is emptied, too.
  init(_ location: StoreLocation, timeout: Double, isForced: Bool) {
    _location = location
    _timeout = timeout
    _isForced = isForced
  }

  /// - Throws: `StoreOpenError`; `SQLiteError`, for instance when another program keeps the store locked.
  func run() throws {
    let occupant = try _location.occupant()
    // A store in memory is gone with its connection, and its URL is a device that all programs share.
    if _location.isInMemory { return }
    switch occupant {
    case .directory: throw StoreOpenError.notADatabase(path: _location.path)
    case .nothing: try _createEmpty()
    case .file: try _empty()
    }
  }

  private func _createEmpty() throws {
    // Where there is no directory either, nothing is left to destroy.
    guard FileManager.default.fileExists(atPath: _location.directory) else { return }
    // Before there is a file: SQLite would play a log that is there.
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
    // Leaves no old pages behind in the log, unless someone still reads them.
    connection.setBusyTimeout(0)
    try? connection.checkpoint(.truncate)
    _removeExternalData(files)
  }

  /// Lets a Core Data store pass, one whose making was cut short, and one that is too damaged to tell.
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

  /// - Parameter files: Names of the files to delete; nil for the whole directory, unless another store uses it.
  private func _removeExternalData(_ files: Set<String>?) {
    let directory = ExternalDataDirectory(storePath: _location.path)
    if let files { return directory.remove(Array(files)) }
    guard ExternalDataNeighbours(of: _location).isEmpty else { return }
    try? FileManager.default.removeItem(atPath: directory.supportPath)
  }
}
