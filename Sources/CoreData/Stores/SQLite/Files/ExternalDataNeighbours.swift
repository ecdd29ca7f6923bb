import CoreDataSQLiteBinding
import Foundation

/// The stores that share an external data directory with a given store.
///
/// The directory is named after a store's file without its extension, so `A.sqlite` and `A.db` share one.
struct ExternalDataNeighbours {
  private let _location: StoreLocation
  private let _paths: [String]

  /// Finds other databases with the same base name in a store's directory.
  init(of location: StoreLocation) {
    _location = location
    let own = (location.path as NSString).lastPathComponent
    let base = (own as NSString).deletingPathExtension
    let names = (try? FileManager.default.contentsOfDirectory(atPath: location.directory)) ?? []
    _paths = names.filter { name in
      name != own && (name as NSString).deletingPathExtension == base
        && !["-wal", "-shm", "-journal"].contains { name.hasSuffix($0) }
    }.map { (location.directory as NSString).appendingPathComponent($0) }.filter(Self._isDatabase)
  }

  /// Whether the store shares its directory with no other.
  var isEmpty: Bool { _paths.isEmpty }

  /// Returns the names of the files that the other stores reference; nil if one of them cannot be read.
  func names() -> Set<String>? {
    var names: Set<String> = []
    for path in _paths {
      guard
        let connection = try? SQLiteStoreFile(url: URL(fileURLWithPath: path), timeout: 1).openForReading(),
        let found = try? Self.names(in: connection)
      else { return nil }
      names.formUnion(found)
    }
    return names
  }

  /// Returns the names of the files that only this store uses and that may be deleted along with it.
  ///
  /// - Parameter connection: An open connection to the store; nil if there is none.
  func ownNames(_ connection: Connection?) throws -> Set<String> {
    let present = Set(ExternalDataDirectory(storePath: _location.path).names)
    if isEmpty || present.isEmpty { return present }
    guard let connection, let others = names() else { return [] }
    return try Self.names(in: connection).intersection(present).subtracting(others)
  }

  /// Returns the names of the external data files that a store's rows reference, regardless of its model.
  static func names(in connection: Connection) throws -> Set<String> {
    var columns: [(table: String, column: String)] = []
    try connection.query(
      "SELECT m.name, c.name FROM sqlite_master m, pragma_table_info(m.name) c WHERE m.type = 'table' "
        + "AND m.name LIKE 'Z%' AND m.sql NOT LIKE 'CREATE VIRTUAL%' AND upper(c.type) = 'BLOB'"
    ) { columns.append((_quoted($0.string(0)), _quoted($0.string(1)))) }
    var names: Set<String> = []
    for (table, column) in columns {
      // Length and type come from the row's header, so large values are not read.
      try connection.query(
        "SELECT \(column) FROM \(table) WHERE typeof(\(column)) = 'blob' AND length(\(column)) BETWEEN 37 AND 64"
      ) { row in
        if let name = row.withBytes(0, { ExternalDataDirectory.file(named: $0) }) { names.insert(name) }
      }
    }
    return names
  }

  private static func _quoted(_ name: String) -> String { "\"\(name.replacing("\"", with: "\"\""))\"" }

  private static func _isDatabase(_ path: String) -> Bool {
    var status = stat()
    return lstat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFREG && DatabaseHead.isDatabase(path)
  }
}
