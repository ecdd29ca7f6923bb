import CoreDataModelFiles
import CoreDataModelSchema
import Foundation

extension NSManagedObjectModel {
  /// Reads the model of a SQLite store file from the store itself, so that a store opens without a model
  /// file.
  ///
  /// Since 2015 a store holds a copy of the model it was last saved with; that one is exact. For an older
  /// store, or one whose copy is damaged, a model is put together from its tables as well as they tell: see
  /// `isReconstructedFromTables`. The file is not changed.
  ///
  /// ```swift
  /// let model = try NSManagedObjectModel.load(fromStoreAt: storeURL)
  /// let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
  /// try coordinator.addPersistentStore(
  ///   type: .sqlite, at: storeURL, options: [NSReadOnlyPersistentStoreOption: true])
  /// ```
  ///
  /// - Throws: A Cocoa error for a file that is no store, or whose tables make no model.
  ///
  /// > Note: Not in Apple's Core Data.
  public static func load(fromStoreAt url: URL) throws -> NSManagedObjectModel {
    let found = try StoredModel.read(at: url)
    return try StoreErrors.translating(url: url) {
      let model = try NSManagedObjectModel(schema: found.schema)
      model.isReconstructedFromTables = !found.isExact
      model.isFromStore = true
      return model
    }
  }
}

/// The model that is found inside a store file.
package struct StoredModel: Sendable {
  package let schema: ModelSchema
  /// Whether it is the store's own copy, not one put together from its tables.
  package let isExact: Bool

  /// Reads it, without changing the file.
  ///
  /// - Throws: A Cocoa error for a file that is no store, or whose tables make no model.
  package static func read(at url: URL) throws -> StoredModel {
    try StoreErrors.translating(url: url) { try _read(at: url) }
  }

  private static func _read(at url: URL) throws -> StoredModel {
    let file = SQLiteStoreFile(url: url)
    try file.checkIsFile(mayBeMissing: false)
    return try file.translating {
      let connection = try file.openForReading()
      if try SQLiteStoreFile.isEmpty(connection) {
        throw StoreOpenError.typeMismatch(path: file.path, found: "the file is empty")
      }
      _ = try StoreMetadata.read(connection, path: file.path)
      // A copy that cannot be read is as good as none.
      if let schema = try? ModelCache.read(connection, path: file.path), (try? ModelLayout(schema)) != nil {
        return StoredModel(schema: schema, isExact: true)
      }
      return StoredModel(schema: try TableModel(connection, path: file.path).schema(), isExact: false)
    }
  }
}
