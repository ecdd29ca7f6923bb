import CoreDataModelFiles
import CoreDataModelSchema
import CoreDataSQLiteBinding
import Foundation

// Opening a store: its file, its version, its migration.

extension SQLiteStoreKind {
  func open(_ request: StoreRequest) throws -> NSPersistentStore {
    guard let url = request.url else {
      throw CocoaError.coreData(
        NSPersistentStoreOpenError,
        "A SQLite store needs a file URL; use file:///dev/null for one that is thrown away.")
    }
    let provisional = StoreKey.named(UUID().uuidString)
    let opening = try _open(url, request, identifier: provisional.identifier)
    return try StoreErrors.translating(url: url) {
      let store = NSPersistentStore(
        type: type, configuration: request.configuration, url: url, options: request.options,
        entities: request.entities, isReadOnly: opening.options.isReadOnly, metadata: [:], key: provisional)
      let engine = try SQLiteStoreEngine(
        opening, layout: request.model.layout, entities: request.model.entities, persistentStore: store)
      store.attach(engine, metadata: try engine.metadata)
      return store
    }
  }

  /// Opens the file, and migrates it if necessary and requested.
  private func _open(_ url: URL, _ request: StoreRequest, identifier: String) throws -> StoreOpening {
    let (model, options) = (request.coordinator.model, request.options)
    func open(isReadOnly: Bool) throws -> StoreOpening {
      try StoreErrors.translating(url: url) {
        var settings = try SQLiteStoreOptions(options)
        settings.isReadOnly = settings.isReadOnly || isReadOnly
        try _checkReconstructed(model, url, isReadOnly: settings.isReadOnly)
        return try StoreOpening(
          url: url, layout: request.model.layout, options: settings,
          initialMetadata: StoreVersioning.metadata(
            for: request.model, model, identifier: identifier))
      }
    }
    func opened() throws -> StoreOpening? {
      var opening = try open(isReadOnly: false)
      if opening.isNew { return opening }
      var migrationOptions = options
      // The file's location may not allow writing.
      if opening.options.isReadOnly {
        migrationOptions = (options ?? [:]).merging([NSReadOnlyPersistentStoreOption: true]) { $1 }
      }
      // Repeats only if another process meanwhile migrates the store to yet another version.
      for _ in 0..<4 {
        let migration = try StoreErrors.translating(url: url) {
          try _migration(of: opening, url, request, migrationOptions)
        }
        guard let migration else { break }
        // Errors of policies and handlers pass unchanged.
        try migration()
        try StoreErrors.translating(url: url) { try opening.readMetadata() }
      }
      return try StoreErrors.translating(url: url) { try _mayWrite(opening, url) } ? opening : nil
    }
    // The writable connection is closed by now.
    return try opened() ?? open(isReadOnly: true)
  }

  /// Whether the store may be written. False for a store with a history whose options do not enable history:
  /// the history would lack the writes, and its readers would miss them.
  private func _mayWrite(_ opening: StoreOpening, _ url: URL) throws -> Bool {
    guard !opening.options.tracksHistory, !opening.options.isReadOnly, try opening.keepsHistory() else {
      return true
    }
    Console.warn(
      "the store at \(url.path) keeps a history of its transactions but was added without NSPersistentHistoryTrackingKey; "
        + "it is opened read-only. Add it with that option set to true to write to it.")
    return false
  }

  /// Rejects writing with a model reconstructed from tables: details missing from the model would be lost.
  private func _checkReconstructed(_ model: NSManagedObjectModel, _ url: URL, isReadOnly: Bool) throws {
    guard model.isReconstructedFromTables, !isReadOnly else { return }
    throw CocoaError.coreData(
      NSPersistentStoreIncompatibleSchemaError,
      "The model for the store at \(url.path) was put together from its tables, which is good for reading only. Add the "
        + "store with NSReadOnlyPersistentStoreOption, or use the model that it was made with to write to it."
    )
  }

  /// Compares the version hashes in the file with the model's. Returns the migration if they differ and the
  /// options request it; nil if nothing is to be done.
  private func _migration(
    of opening: StoreOpening, _ url: URL, _ request: StoreRequest, _ options: [AnyHashable: Any]?
  ) throws -> (() throws -> Void)? {
    let metadata = opening.metadata
    let (model, frozen) = (request.coordinator.model, request.model)
    if (options?[NSIgnorePersistentStoreVersioningOption] as? NSNumber)?.boolValue ?? false { return nil }
    guard metadata[NSStoreModelVersionHashesKey] is [String: Any] else {
      guard try !opening.hasDamagedMetadata() else {
        throw CocoaError.coreData(
          NSFileReadCorruptFileError,
          "The metadata of the store at \(url.path) are missing or damaged (Z_PLIST in Z_METADATA), so that nothing says which "
            + "model it was saved with. To open it all the same, as far as its tables fit the model, add it with "
            + "NSIgnorePersistentStoreVersioningOption.")
      }
      // A store without hashes is checked by its tables when it is bound to the model.
      return nil
    }
    // The model has no version hashes; binding checks its tables.
    if model.isReconstructedFromTables { return nil }
    // A file has tables and hashes for the whole model, regardless of the configuration.
    if model.isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata)
      || model.isConfiguration(withName: request.configuration, compatibleWithStoreMetadata: metadata)
    {
      return nil
    }
    let differing = StoreVersioning.differences(model, metadata)
    if (options?[NSMigratePersistentStoresAutomaticallyOption] as? NSNumber)?.boolValue ?? false {
      let store = SQLiteMigratingStore(
        url: url, connection: opening.connection, metadata: metadata, options: options)
      if let manager = options?[NSPersistentStoreStagedMigrationManagerOptionKey] as? NSStagedMigrationManager
      {
        return {
          try StagedMigration(manager, store).run(to: model)
        }
      }
      return { try AutomaticMigration(store).run(to: frozen, model) }
    }
    throw CocoaError.coreData(
      NSPersistentStoreIncompatibleVersionHashError,
      "The store at \(url.path) was written with another version of the model (\(differing)). Open it with that version, "
        + "or set NSMigratePersistentStoresAutomaticallyOption.",
      ["metadata": metadata])
  }
}
