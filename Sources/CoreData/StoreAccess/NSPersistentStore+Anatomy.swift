import CoreDataModelSchema

extension NSPersistentStore {
  /// Where the store's file keeps everything; nil for a store that is no SQLite file.
  package final var anatomy: StoreAnatomy? { (engine as? SQLiteStoreEngine).map { StoreAnatomy($0.mapping) } }

  /// SQL that makes the tables, indexes and triggers of a new store of a model.
  ///
  /// - Throws: A Cocoa error for a model that SQLite cannot hold.
  package static func schemaStatements(for model: NSManagedObjectModel) throws -> [String] {
    try StoreErrors.translating {
      try SchemaWriter(MappingBuilder.mapping(for: ModelLayout(ModelSchema(model)))).statements()
    }
  }
}
