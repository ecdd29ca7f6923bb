import CoreDataModelFiles
import CoreDataSQLiteBinding
import Foundation

/// The single row of Z_METADATA: the store's UUID in a separate column, everything else as a binary property
/// list.
enum StoreMetadata {
  static let typeKey = "NSStoreType"
  static let uuidKey = "NSStoreUUID"
  static let typeName = "SQLite"
  private static let _autoVacuumKey = "_NSAutoVacuumLevel"

  /// Returns the metadata of a new store: the caller's, with type, UUID and vacuum level.
  static func initial(_ metadata: [String: Any]) -> [String: Any] {
    var result = metadata
    result[typeKey] = typeName
    result[_autoVacuumKey] = "2"
    if result[uuidKey] as? String == nil { result[uuidKey] = UUID().uuidString }
    return result
  }

  /// Reads the metadata of an open database.
  ///
  /// Treats a missing or damaged property list as empty: UUID and type do not depend on it, and the caller
  /// must handle missing version hashes.
  ///
  /// - Throws: `StoreOpenError.typeMismatch` if there is no such row.
  static func read(_ connection: Connection, path: String) throws -> [String: Any] {
    let exists =
      try connection.firstValue(
        "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'Z_METADATA'") != nil
    guard exists else {
      throw StoreOpenError.typeMismatch(path: path, found: "the database has no table Z_METADATA")
    }
    var result: [String: Any]?
    try connection.query("SELECT Z_UUID, Z_PLIST FROM Z_METADATA ORDER BY Z_VERSION LIMIT 1") { row in
      let list = row.withBytes(1) { Data($0) }
      var metadata = _propertyList(list)
      metadata[uuidKey] = row.string(0)
      if metadata[typeKey] as? String == nil { metadata[typeKey] = typeName }
      result = metadata
    }
    guard let result else {
      throw StoreOpenError.typeMismatch(path: path, found: "its table Z_METADATA is empty")
    }
    guard let uuid = result[uuidKey] as? String, !uuid.isEmpty else {
      throw StoreOpenError.incompatible(path: path, reason: "it has no UUID in Z_METADATA")
    }
    return result
  }

  /// Whether there is a readable property list.
  static func hasPropertyList(_ connection: Connection) throws -> Bool {
    var isThere = false
    try connection.query("SELECT Z_PLIST FROM Z_METADATA ORDER BY Z_VERSION LIMIT 1") { row in
      isThere = !_propertyList(row.withBytes(0) { Data($0) }).isEmpty
    }
    return isThere
  }

  private static func _propertyList(_ data: Data) -> [String: Any] {
    data.isEmpty ? [:] : PropertyList.object(in: data) as? [String: Any] ?? [:]
  }

  /// Writes the metadata inside the caller's transaction. Without a UUID, the store keeps its own.
  static func write(_ metadata: [String: Any], to connection: Connection) throws {
    var list = metadata
    var uuid = list.removeValue(forKey: uuidKey) as? String
    list[typeKey] = typeName
    if uuid == nil, case .text(let present) = try connection.firstValue("SELECT Z_UUID FROM Z_METADATA") {
      uuid = present
    }
    let data = try PropertyListItem.binary(list)
    try connection.query("DELETE FROM Z_METADATA")
    try connection.query(
      "INSERT INTO Z_METADATA (Z_VERSION, Z_UUID, Z_PLIST) VALUES (1, ?, ?)",
      [.text(uuid ?? UUID().uuidString), .blob([UInt8](data))])
  }
}
