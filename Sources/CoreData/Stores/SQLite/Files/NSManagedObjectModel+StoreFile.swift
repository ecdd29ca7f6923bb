import CoreDataModelFiles
import CoreDataModelSchema
import Foundation

extension NSManagedObjectModel {
  /// Reads the model of a SQLite store file from the store itself, so that a store opens without a model
  /// file.
  ///
  /// Since 2015 a store contains a copy of the model with which it was last saved, which is exact. For an
  /// older store, or one with a damaged copy, the model is reconstructed from the tables as far as possible;
  /// see `isReconstructedFromTables`. The file is not modified.
  ///
  /// ```swift
  /// let model = try NSManagedObjectModel.load(fromStoreAt: storeURL)
  /// let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
  /// try coordinator.addPersistentStore(
  ///   type: .sqlite, at: storeURL, options: [NSReadOnlyPersistentStoreOption: true])
  /// ```
  ///
  /// - Throws: A Cocoa error for a file that is not a store, or whose tables yield no model.
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

/// The model found in a store file.
package struct StoredModel: Sendable {
  package let schema: ModelSchema
  /// Whether it is the store's own copy, rather than a reconstruction from its tables.
  package let isExact: Bool

  /// Reads the model without changing the file.
  ///
  /// - Throws: A Cocoa error for a file that is not a store, or whose tables yield no model.
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
      // Treat an unreadable copy as missing.
      if let schema = try? ModelCache.read(connection, path: file.path), (try? ModelLayout(schema)) != nil {
        return StoredModel(schema: schema, isExact: true)
      }
      return StoredModel(schema: try TableModel(connection, path: file.path).schema(), isExact: false)
    }
  }
}
