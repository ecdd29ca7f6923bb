import CoreData
import CoreDataModelFiles
import CoreDataPostgreSQLBinding
import Foundation

/// Copies stores to SQLite files, for tools that read files.
package enum PostgreSQLStoreCopy {
  /// Copies a snapshot of all objects of a store into a new SQLite store.
  ///
  /// - Parameters:
  ///   - url: The store's URL.
  ///   - path: Path of the new store.
  /// - Throws: A Cocoa error; the new store's files are then removed.
  package static func copy(_ url: URL, to path: String) throws {
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: try _model(of: url))
    // The constant registers the kind of store, which a linker that drops unused types may have made unknown by name.
    // Uses one connection, so that one transaction contains all reads.
    let store = try coordinator.addPersistentStore(
      ofType: NSPostgreSQLStoreType, configurationName: nil, at: url,
      options: [NSReadOnlyPersistentStoreOption: true, NSPersistentStoreConnectionPoolMaxSizeKey: 1])
    guard let engine = store.engine as? PostgreSQLStoreEngine else {
      preconditionFailure("a store of kind \(PostgreSQLStoreKind.typeName) has another engine")
    }
    let connection = try engine.withConnection("a copy") { connection in
      try connection.execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
      connection.keepsTransaction = true
      return connection
    }
    let file = URL(fileURLWithPath: path)
    do {
      let options: [AnyHashable: Any] = [NSSQLitePragmasOption: ["journal_mode": "DELETE"]]
      let copy = try coordinator.migratePersistentStore(store, to: file, options: options, type: .sqlite)
      try coordinator.remove(copy)
      // A read on another connection would have seen another snapshot.
      guard connection.isInTransaction else {
        throw CocoaError(
          .persistentStoreOperation,
          userInfo: [
            NSLocalizedDescriptionKey:
              "The connection to the server was lost while the store was copied. Try again."
          ])
      }
    } catch {
      try? NSPersistentStoreCoordinator(managedObjectModel: NSManagedObjectModel())
        .destroyPersistentStore(at: file, type: .sqlite)
      try? FileManager.default.removeItem(at: file)
      throw error
    }
  }

  /// Returns the model stored in a store.
  private static func _model(of url: URL) throws -> NSManagedObjectModel {
    let kind = PostgreSQLStoreKind()
    let metadata = try kind.metadata(at: url, options: nil)
    let address = try StoreErrors.translating { try PostgreSQLAddress(url) }
    return try StoreErrors.translating(url: address.url) {
      try PostgreSQLStoreError.translating {
        let connection = try PostgreSQLConnection(address.settings, prepares: false)
        let store = PostgreSQLMigratingStore(
          url: url, address: address, connection: connection, metadata: metadata, options: nil)
        guard let schema = try store.keptSchema() else {
          throw PostgreSQLStoreError.noStore(
            schema: address.schema, reason: "its table _model_cache holds no model that can be read")
        }
        return try StoreFileFacts.managedObjectModel(schema)
      }
    }
  }
}
