import CoreDataModelSchema
import CoreDataSQLiteBinding
import Foundation

extension StoreReader {
  /// Ends the reading and begins another, of the moment that is now.
  ///
  /// - Returns: False when the file was changed in a way that the connection cannot follow; then a new reader is needed.
  /// - Throws: `SQLiteError`.
  package func refresh() throws -> Bool {
    if connection.isOutdated?() == true { return false }
    if !connection.isInAutocommit { try connection.execute("COMMIT") }
    try connection.execute("BEGIN")
    return true
  }
}

extension StoreFileFacts {
  /// The model of a store, to be opened by a coordinator in a process that need not have the model's classes.
  ///
  /// - Throws: `ModelLayoutError`.
  package static func managedObjectModel(_ schema: ModelSchema) throws -> NSManagedObjectModel {
    let model = try NSManagedObjectModel(schema: schema)
    model.isFromStore = true
    return model
  }
}
