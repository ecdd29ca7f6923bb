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
    _ = try SQLiteStoreOpening.metadata(at: sourceURL)
    if let store = persistentStore(for: destinationURL) { try remove(store) }
    let (source, destination) = (StoreFiles(url: sourceURL), StoreFiles(url: destinationURL))
    try StoreErrors.translating(url: destinationURL) { try destination.expectFile() }
    guard SQLiteStoreOpening.isFilled(destinationURL) else {
      do {
        try StoreErrors.translating(url: destinationURL) { try source.copy(to: destination) }
      } catch {
        destination.remove()
        throw error
      }
      return
    }
    // What is no store stays: a wrong path must not cost anybody a file.
    _ = try SQLiteStoreOpening.metadata(at: destinationURL)
    try StoreErrors.translating(url: destinationURL) {
      let settings = try SQLiteStoreOpening.options(destinationOptions)
      let connection = try Connection(
        path: destinationURL.path, mode: .readWrite, busyTimeout: settings.timeout)
      var outcome: (finish: () -> Void, undo: () -> Void)?
      do {
        try connection.transaction {
          let sibling = destination.sibling()
          defer { sibling.remove() }
          try source.copy(to: sibling)
          outcome = try destination.replaceContent(by: sibling, on: connection)
        }
      } catch {
        outcome?.undo()
        throw error
      }
      outcome?.finish()
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
