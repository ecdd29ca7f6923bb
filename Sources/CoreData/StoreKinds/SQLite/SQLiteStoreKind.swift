import CoreDataModelSchema
import CoreDataSQLiteBinding
import Foundation

/// Stores in SQLite files.
struct SQLiteStoreKind: StoreKind {
  var type: String { NSSQLiteStoreType }
  var canMigrate: Bool { true }

  func metadata(at url: URL, options: [AnyHashable: Any]?) throws -> [String: Any] {
    try StoreErrors.translating(url: url) {
      try SQLiteStoreFile(url: url, timeout: SQLiteStoreOptions(options).timeout).metadata()
    }
  }

  func setMetadata(_ metadata: [String: Any]?, at url: URL, options: [AnyHashable: Any]?) throws {
    try StoreErrors.translating(url: url) {
      let file = SQLiteStoreFile(url: url, timeout: try SQLiteStoreOptions(options).timeout)
      try file.setMetadata(NSPersistentStore.completed(metadata ?? [:], from: file.metadata()))
    }
  }

  func destroy(at url: URL, options: [AnyHashable: Any]?, closing: () throws -> Void) throws {
    try StoreErrors.translating(url: url) {
      _ = try StoreLocation(url).occupant()
      try closing()
      try SQLiteStoreFile(url: url, timeout: SQLiteStoreOptions(options).timeout)
        .destroy(isForced: StoreOptions.isOn(NSPersistentStoreForceDestroyOption, options))
    }
  }

  func replace(
    at destinationURL: URL, options: [AnyHashable: Any]?, withStoreAt sourceURL: URL,
    sourceOptions: [AnyHashable: Any]?, closing: () throws -> Void
  ) throws {
    guard StoreLocation(destinationURL).path != StoreLocation(sourceURL).path else { return }
    _ = try metadata(at: sourceURL, options: sourceOptions)
    try closing()
    let (source, destination) = (StoreFiles(url: sourceURL), StoreFiles(url: destinationURL))
    try StoreErrors.translating(url: destinationURL) {
      let file = SQLiteStoreFile(url: destinationURL, timeout: try SQLiteStoreOptions(options).timeout)
      let isNew = !FileManager.default.fileExists(atPath: destinationURL.path)
      try destination.expectFile()
      if isNew { destination.create(like: source) }
      try file.translating {
        let connection = try file.openForWriting(creates: true)
        do {
          if try SQLiteStoreFile.isEmpty(connection) {
            return try source.copy(to: destination, on: connection)
          }
          // Leave a file that is not a store alone: a wrong path must not destroy a file.
          _ = try StoreMetadata.read(connection, path: file.path)
          try destination.replaceContent(on: connection) { try source.copy(to: $0) }
        } catch {
          if isNew { destination.remove() }
          throw error
        }
      }
    }
  }

  func reopen(_ store: NSPersistentStore, at url: URL, in coordinator: NSPersistentStoreCoordinator) -> Bool {
    guard let metadata = try? metadata(at: url, options: store.options),
      coordinator.model.isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata),
      let settings = try? SQLiteStoreOptions(store.options), let model = coordinator.frozen
    else { return false }
    guard
      let engine = try? SQLiteStoreEngine(
        url: url, layout: model.layout, entities: model.entities, persistentStore: store, options: settings,
        initialMetadata: metadata), let opened = try? engine.metadata
    else { return false }
    store.engine?.close()
    store.attach(engine, metadata: opened)
    store.url = url
    return true
  }

  /// A file without tables is vacant; one that is not a database is not.
  func isVacant(_ url: URL, options: [AnyHashable: Any]?) throws -> Bool {
    try StoreErrors.translating(url: url) { try SQLiteStoreFile(url: url).isVacant() }
  }

  func prepare(_ url: URL, like source: URL?) {
    if let source { StoreFiles(url: url).create(like: StoreFiles(url: source)) }
  }

  func placement(of identifier: String, at url: URL, isOpen: Bool, like source: URL?) throws -> StorePlacement? {
    try StoreErrors.translating(url: url) {
      try SQLiteStoreFile(url: url).translating {
        let destination = StoreFiles(url: url)
        try destination.expectFile()
        return try StorePlacement(
          of: identifier, at: destination, isOpen: isOpen, like: source.map { StoreFiles(url: $0) })
      }
    }
  }

  func discard(at url: URL) throws { StoreFiles(url: url).remove() }

  func follow(_ store: NSPersistentStore, _ changed: @escaping @Sendable () -> Void) throws -> AnyObject? {
    guard let engine = store.engine as? SQLiteStoreEngine else { return nil }
    return try StoreErrors.translating(url: store.url) {
      try SQLiteStoreError.translating { try SQLiteChangeFeed(engine, changed) }
    }
  }

  func migrate(
    _ job: MigrationJob, inferringFrom source: NSManagedObjectModel, to destination: NSManagedObjectModel
  ) throws -> Bool {
    guard job.source.type == type else { return false }
    try InferredCopy(job, from: source, to: destination).run()
    return true
  }
}
