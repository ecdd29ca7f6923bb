import CoreDataModelSchema

extension NSPersistentStore {
  /// The layout of the store's file; nil for a store that is not a SQLite file.
  package final var anatomy: StoreTableLayout? {
    (engine as? SQLiteStoreEngine).map { StoreTableLayout($0.mapping) }
  }

  /// Returns the SQL that creates the tables, indexes and triggers of a new store.
  ///
  /// - Throws: A Cocoa error for a model that SQLite cannot store.
  package static func schemaStatements(for model: NSManagedObjectModel) throws -> [String] {
    try StoreErrors.translating {
      let mapping = try MappingBuilder.mapping(for: ModelLayout(ModelSchema(model)))
      let writer = SchemaWriter(mapping)
      let spatial = try mapping.tables.flatMap(writer.spatialIndexes)
      return try writer.statements() + spatial.flatMap { [$0.creation] + $0.triggers.map(\.sql) }
    }
  }
}
