import CoreDataModelSchema
import Foundation

extension StoreFileFacts {
  /// Migrates a store that no coordinator has, in one transaction, as far as the change can be inferred.
  ///
  /// - Parameters:
  ///   - source: The model that the store was saved with.
  ///   - destination: The model that it is to have.
  /// - Throws: A Cocoa error: 134140 when the change cannot be inferred, 134111 when objects violate a
  ///   uniqueness constraint, 134110 when objects lack a mandatory value or SQLite refuses, 134090 locked.
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
