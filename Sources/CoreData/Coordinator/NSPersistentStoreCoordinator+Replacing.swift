import CoreDataSQLiteBinding
import Foundation

// Stores that take the place of others.

extension NSPersistentStoreCoordinator {
  final func replaceStore(
    at destinationURL: URL, destinationOptions: [AnyHashable: Any]?,
    withPersistentStoreFrom sourceURL: URL, sourceOptions: [AnyHashable: Any]?, ofType storeType: String
  ) throws {
    guard storeType == NSSQLiteStoreType else {
      throw CocoaError.coreData(
        NSPersistentStoreInvalidTypeError,
        "Stores of type '\(storeType)' have no file to be replaced; '\(NSSQLiteStoreType)' has.")
    }
    guard StoreLocation(destinationURL).path != StoreLocation(sourceURL).path else { return }
    _ = try SQLiteStoreOpening.metadata(at: sourceURL, options: sourceOptions)
    if let store = persistentStore(for: destinationURL) { try remove(store) }
    let (source, destination) = (StoreFiles(url: sourceURL), StoreFiles(url: destinationURL))
    try StoreErrors.translating(url: destinationURL) {
      let settings = try SQLiteStoreOpening.options(destinationOptions)
      let file = SQLiteStoreFile(url: destinationURL, timeout: settings.timeout)
      let isNew = !FileManager.default.fileExists(atPath: destinationURL.path)
      try destination.expectFile()
      if isNew { destination.create(like: source) }
      try file.translating {
        let connection = try file.openForWriting(creates: true)
        do {
          if try SQLiteStoreFile.isEmpty(connection) {
            return try source.copy(to: destination, on: connection)
          }
          // What is no store stays: a wrong path must not cost anybody a file.
          _ = try StoreMetadata.read(connection, path: file.path)
          try destination.replaceContent(on: connection) { try source.copy(to: $0) }
        } catch {
          if isNew { destination.remove() }
          throw error
        }
      }
    }
  }

  /// Puts a copy of one store in another's place; as the other form.
  public final func replacePersistentStore(
    at destinationURL: URL, destinationOptions: [AnyHashable: Any]? = nil,
    withPersistentStoreFrom sourceURL: URL, sourceOptions: [AnyHashable: Any]? = nil,
    type sourceType: NSPersistentStore.StoreType
  ) throws {
    try replacePersistentStore(
      at: destinationURL, destinationOptions: destinationOptions, withPersistentStoreFrom: sourceURL,
      sourceOptions: sourceOptions, ofType: sourceType.rawValue)
  }
}
