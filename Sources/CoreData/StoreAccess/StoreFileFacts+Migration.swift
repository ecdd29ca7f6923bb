import CoreDataModelSchema
import Foundation

extension StoreFileFacts {
  /// Migrates a store that no coordinator has open, in one transaction, as far as the mapping can be
  /// inferred.
  ///
  /// - Parameters:
  ///   - source: The model with which the store was saved.
  ///   - destination: The new model.
  /// - Throws: A Cocoa error: 134140 if the mapping cannot be inferred, 134111 if objects violate a
  ///   uniqueness constraint, 134110 if objects lack a mandatory value or for any other SQLite error, 134090
  ///   locked.
  package static func migrate(
    path: String, from source: ModelSchema, to destination: ModelSchema
  ) throws {
    let url = URL(fileURLWithPath: path)
    let metadata = try metadata(path: path)
    let model = try StoreErrors.translating(url: url) { try managedObjectModel(destination) }
    try SQLiteMigratingStore.rewriteCopy(
      at: url, metadata: metadata, options: [NSPersistentStoreTimeoutOption: 5.0], from: source, to: model)
  }
}
