import CoreDataModelSchema
import CoreDataSQLiteBinding
import Foundation

/// Operations on a store file without a model.
package enum StoreFileFacts {
  /// Returns the metadata of the store in Core Data's form.
  ///
  /// - Throws: A Cocoa error as `StoreReader`'s initializer throws it.
  package static func metadata(path: String) throws -> [String: Any] {
    let url = URL(fileURLWithPath: path)
    return try StoreErrors.translating(url: url) {
      try SQLiteStoreFile(url: url, timeout: 5).metadata()
    }
  }

  /// Returns the model in a store: its own copy, or an inexact reconstruction from its tables.
  ///
  /// - Throws: A Cocoa error.
  package static func model(path: String) throws -> (schema: ModelSchema, isExact: Bool) {
    let url = URL(fileURLWithPath: path)
    return try StoreErrors.translating(url: url) {
      let found = try StoredModel.read(at: url)
      return (found.schema, found.isExact)
    }
  }

  /// Opens the database read-only, regardless of its contents.
  ///
  /// - Throws: A Cocoa error.
  package static func open(path: String) throws -> Connection {
    let url = URL(fileURLWithPath: path)
    return try StoreErrors.translating(url: url) {
      do {
        let connection = try SQLiteStoreFile(url: url, timeout: 5).openForReading()
        try ForeignSchema.bound(connection)
        return connection
      } catch let error as SQLiteError {
        throw StoreOpenError(error, path: path)
      }
    }
  }

  /// Returns the kind of file at a path, without following links.
  package static func externalFile(at path: String) -> ExternalFile { PlainFile.kind(of: path) }

  /// Returns the directory of the store's external data files, which need not exist.
  package static func externalDirectory(path: String) -> String {
    ExternalDataDirectory(storePath: StoreLocation(URL(fileURLWithPath: path)).path).supportPath
      + "/_EXTERNAL_DATA"
  }

  /// Returns the names of the external data files of other stores that share the directory; nil if one of
  /// those stores cannot be read.
  package static func externalFilesOfNeighbours(path: String) -> Set<String>? {
    ExternalDataNeighbours(of: StoreLocation(URL(fileURLWithPath: path))).names()
  }

  /// Copies a store with its log and external data to a vacant path.
  ///
  /// - Throws: A Cocoa error.
  package static func copy(path: String, to destination: String) throws {
    let source = URL(fileURLWithPath: path)
    try StoreErrors.translating(url: source) {
      let file = SQLiteStoreFile(url: source, timeout: 5)
      guard try !file.isVacant() else { throw StoreOpenError.missing(path: file.path) }
      try StoreFiles(url: source).copy(to: StoreFiles(url: URL(fileURLWithPath: destination)))
    }
  }

  /// Opens a database for repair, with the functions that triggers in Core Data's files call.
  ///
  /// - Throws: A Cocoa error.
  package static func openForMending(path: String) throws -> Connection {
    try StoreErrors.translating(url: URL(fileURLWithPath: path)) {
      do {
        let connection = try SQLiteStoreFile(url: URL(fileURLWithPath: path), timeout: 5).openForWriting()
        try SQLFunctions.register(on: connection)
        return connection
      } catch let error as SQLiteError {
        throw StoreOpenError(error, path: path)
      }
    }
  }

  /// Describes the entities that differ between a model and the store's version hashes; nil if they match or
  /// the store has none.
  package static func versionDifferences(model: ModelSchema, metadata: [String: Any]) throws -> String? {
    guard metadata[NSStoreModelVersionHashesKey] is [String: Any] else { return nil }
    let model = try NSManagedObjectModel(schema: model)
    guard !model.isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata) else { return nil }
    let text = StoreVersioning.differences(model, metadata)
    return text.isEmpty ? nil : text
  }

  /// Returns the model of a store, for a coordinator in a process without the model's classes.
  ///
  /// - Throws: `ModelLayoutError`.
  package static func managedObjectModel(_ schema: ModelSchema) throws -> NSManagedObjectModel {
    let model = try NSManagedObjectModel(schema: schema)
    model.isFromStore = true
    return model
  }
}
