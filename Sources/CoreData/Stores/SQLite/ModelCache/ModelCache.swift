import CoreDataModelFiles
import CoreDataModelSchema
import CoreDataSQLiteBinding
import CoreDataZlibBinding
import Foundation

/// The model copy of a store, in Z_MODELCACHE: a compressed keyed archive.
enum ModelCache {
  /// Larger than any unpacked model.
  private static let _sizeLimit = 64 << 20

  /// Returns the model in the form of the table.
  static func content(for schema: ModelSchema) throws -> [UInt8] {
    try RawDeflate.pack([UInt8](CompiledModelWriter.write(schema, for: .store)))
  }

  /// Writes the model to the store, inside the caller's transaction: on creation, and after a migration.
  static func write(_ schema: ModelSchema, to connection: Connection) throws {
    let content = try content(for: schema)
    try connection.query("DELETE FROM Z_MODELCACHE")
    try connection.query("INSERT INTO Z_MODELCACHE (Z_CONTENT) VALUES (?)", [.blob(content)])
  }

  /// Reads the model in an open store; nil if there is none.
  ///
  /// - Throws: `ModelFileError` if it is unreadable.
  static func read(_ connection: Connection, path: String) throws -> ModelSchema? {
    try _unpacked(connection, path: path) { try CompiledModelReader.read($0, path: $1) }
  }

  /// Returns the order of each entity's properties in an open store's model; empty without a readable model.
  static func propertyOrders(_ connection: Connection, path: String) -> [String: [String]] {
    let orders = try? _unpacked(connection, path: path) {
      try CompiledModelReader.propertyOrders(in: $0, path: $1)
    }
    return (orders ?? nil) ?? [:]
  }

  /// Calls `body` with the archive and a name for it; nil if there is none.
  private static func _unpacked<T>(
    _ connection: Connection, path: String, _ body: (Data, String) throws -> T
  ) throws -> T? {
    let exists = try connection.firstValue(
      "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'Z_MODELCACHE'")
    guard exists != nil else { return nil }
    let content = try connection.firstValue(
      "SELECT Z_CONTENT FROM Z_MODELCACHE WHERE typeof(Z_CONTENT) = 'blob' AND length(Z_CONTENT) > 0 LIMIT 1")
    guard case .blob(let bytes)? = content else { return nil }
    let name = path + " (its Z_MODELCACHE)"
    do {
      return try body(Data(RawDeflate.unpack(bytes, limit: _sizeLimit)), name)
    } catch let failure as RawDeflate.Failure {
      throw ModelFileError(path: name, reason: "the model inside \(failure)")
    }
  }
}
