import CoreDataModelSchema
import CoreDataSQLiteBinding

/// Creates a store's tables in an empty database, in one transaction.
struct StoreCreation {
  private let _layout: ModelLayout
  private let _schema: [String]
  private let _spatialIndexes: [SpatialIndex]
  private let _metadata: [String: Any]
  private let _keepsModel: Bool

  /// - Parameter keepsModel: Whether the store contains a copy of its model.
  /// - Throws: `UnsupportedModelError` for a model that SQLite cannot store.
  init(_ mapping: StoreMapping, metadata: [String: Any], keepsModel: Bool) throws {
    _layout = mapping.layout
    let writer = SchemaWriter(mapping)
    _schema = try writer.statements()
    _spatialIndexes = try mapping.tables.flatMap(writer.spatialIndexes)
    _metadata = metadata
    _keepsModel = keepsModel
  }

  /// Creates the tables unless the database has some: another process or thread may have created the store
  /// since the caller checked.
  ///
  /// - Returns: Whether this call created the tables.
  func run(on connection: Connection) throws -> Bool {
    try connection.transaction {
      guard try SQLiteStoreFile.isEmpty(connection) else { return false }
      for statement in _schema { try connection.execute(statement) }
      for index in try SpatialIndex.makeable(_spatialIndexes, on: connection) {
        try index.make(on: connection, fills: false)
      }
      for layout in _layout.layouts {
        try connection.query(
          "INSERT INTO Z_PRIMARYKEY (Z_ENT, Z_NAME, Z_SUPER, Z_MAX) VALUES (?, ?, ?, 0)",
          [
            .int(Int64(layout.entityNumber)), .text(layout.entityName),
            .int(Int64(layout.parentNumber ?? 0)),
          ])
      }
      try StoreMetadata.write(StoreMetadata.initial(_metadata), to: connection)
      if _keepsModel { try ModelCache.write(_layout.schema, to: connection) }
      return true
    }
  }
}
