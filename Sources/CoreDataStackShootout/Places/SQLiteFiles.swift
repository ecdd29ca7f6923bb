import CoreData
import CoreDataCSQLite
import Foundation

/// SQLite files in a directory.
struct SQLiteFiles: StorePlace {
  var floorTitle: String { "SQLite C API" }

  var engine: String { "SQLite \(Machine.sqlite)" }

  var synchronous: String { "NORMAL" }
  var durability: String { "WAL and synchronous=\(synchronous)" }

  func storeName(of subject: String, in directory: String) -> String { "\(directory)/\(subject).sqlite" }

  /// The store in a file, at the same durability as the floor.
  func store(named path: String) -> ImportStore {
    ImportStore(
      url: URL(fileURLWithPath: path), type: NSSQLiteStoreType,
      pragmas: ["journal_mode": "WAL", "synchronous": synchronous])
  }

  func makeFloor(on store: ImportStore) throws -> any ImportFloor { try SQLiteFloor(path: store.url.path) }

  func stops(in store: ImportStore) throws -> [Stop] { try Self.stops(path: store.url.path) }

  static func stops(path: String) throws -> [Stop] {
    let database = try PlainSQLite(path: path, readOnly: true)
    let integrity = try database.rows("PRAGMA integrity_check").compactMap { $0[0] }
    guard integrity == ["ok"] else {
      throw StoreCheck.Failure(
        description: "the file is damaged: \(integrity.prefix(3).joined(separator: "; "))")
    }
    let sql = "SELECT ZIDENTIFIER, ZNAME, ZLATITUDE, ZLONGITUDE FROM ZSTOP ORDER BY Z_PK"
    let statement = try database.prepare(sql)
    defer { sqlite3_finalize(statement) }
    var stops: [Stop] = []
    while true {
      let code = sqlite3_step(statement)
      guard code == SQLITE_ROW else {
        try database.check(code, sql)
        return stops
      }
      guard let identifier = PlainSQLite.text(statement, 0), let name = PlainSQLite.text(statement, 1) else {
        throw StoreCheck.Failure(description: "it holds a stop without identifier or name")
      }
      stops.append(
        Stop(
          identifier: identifier, name: name, latitude: sqlite3_column_double(statement, 2),
          longitude: sqlite3_column_double(statement, 3)))
    }
  }

  func scratch(of original: ImportStore) throws -> ImportStore {
    let copy = store(named: original.url.path + ".scratch")
    remove(copy)
    // The log's index is made anew.
    for suffix in Self.suffixes where suffix != "-shm" {
      let path = original.url.path + suffix
      guard FileManager.default.fileExists(atPath: path) else { continue }
      try FileManager.default.copyItem(atPath: path, toPath: copy.url.path + suffix)
    }
    return copy
  }

  /// The files of a store.
  static let suffixes = ["", "-wal", "-shm"]

  func remove(_ store: ImportStore) {
    for suffix in Self.suffixes { try? FileManager.default.removeItem(atPath: store.url.path + suffix) }
  }
}
