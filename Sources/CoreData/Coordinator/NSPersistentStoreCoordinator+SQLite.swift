import CoreDataModelFiles
import CoreDataModelSchema
import CoreDataSQLiteBinding
import Foundation

// Opening SQLite stores.

extension NSPersistentStoreCoordinator {
  /// Opens or creates the SQLite store at a URL.
  ///
  /// - Throws: A Cocoa error.
  final func openSQLite(
    _ url: URL, _ configuration: String?, _ options: [AnyHashable: Any]?, _ entities: Set<String>?,
    _ model: FrozenModel
  ) throws -> NSPersistentStore {
    let provisional = StoreKey.named(UUID().uuidString)
    let opening = try _open(url, configuration, options, model, identifier: provisional.identifier)
    return try StoreErrors.translating(url: url) {
      let store = NSPersistentStore(
        type: NSSQLiteStoreType, configuration: configuration, url: url, options: options, entities: entities,
        isReadOnly: opening.options.isReadOnly, metadata: [:], key: provisional)
      let engine = try SQLiteStoreEngine(
        opening, layout: model.layout, entities: model.entities, persistentStore: store)
      store.attach(engine, metadata: try engine.metadata)
      return store
    }
  }

  /// Opens the file, and migrates it where that is needed and asked for.
  private final func _open(
    _ url: URL, _ configuration: String?, _ options: [AnyHashable: Any]?, _ frozen: FrozenModel,
    identifier: String
  ) throws -> StoreOpening {
    func open(isReadOnly: Bool) throws -> StoreOpening {
      try StoreErrors.translating(url: url) {
        var settings = try SQLiteStoreOpening.options(options)
        settings.isReadOnly = settings.isReadOnly || isReadOnly
        try _checkReconstructed(url, isReadOnly: settings.isReadOnly)
        return try StoreOpening(
          url: url, layout: frozen.layout, options: settings,
          initialMetadata: SQLiteStoreOpening.metadata(for: frozen, model, identifier: identifier))
      }
    }
    func opened() throws -> StoreOpening? {
      var opening = try open(isReadOnly: false)
      if opening.isNew { return opening }
      var migrationOptions = options
      // The place of the file may allow no more.
      if opening.options.isReadOnly {
        migrationOptions = (options ?? [:]).merging([NSReadOnlyPersistentStoreOption: true]) { $1 }
      }
      // More than once only if another process migrates the store to yet another version meanwhile.
      for _ in 0..<4 {
        let migration = try StoreErrors.translating(url: url) {
          try _migration(of: opening, url, configuration, migrationOptions, frozen)
        }
        guard let migration else { break }
        // What policies and handlers throw comes out as it is.
        try migration()
        try StoreErrors.translating(url: url) { try opening.readMetadata() }
      }
      return try StoreErrors.translating(url: url) { try _mayWrite(opening, url) } ? opening : nil
    }
    // Without the connection for writing, which is closed by now.
    return try opened() ?? open(isReadOnly: true)
  }

  /// Whether a store may be written to. Not one that has kept a history and is now not asked to: the
  /// history would lack what is written, and its readers would miss it.
  private final func _mayWrite(_ opening: StoreOpening, _ url: URL) throws -> Bool {
    guard !opening.options.tracksHistory, !opening.options.isReadOnly, try opening.keepsHistory() else {
      return true
    }
    Console.warn(
      "the store at \(url.path) keeps a history of its transactions but was added without NSPersistentHistoryTrackingKey; "
        + "it is opened read-only. Add it with that option set to true to write to it.")
    return false
  }

  /// Has notifications posted about what anybody writes to a store, if its options ask for that.
  final func followRemoteChanges(of store: NSPersistentStore) throws {
    guard SQLiteStoreOpening.isOn(NSPersistentStoreRemoteChangeNotificationPostOptionKey, store.options),
      let engine = store.engine as? SQLiteStoreEngine
    else { return }
    let watch = try StoreErrors.translating(url: store.url) {
      try SQLiteStoreError.translating { try RemoteChangeWatch(store, engine: engine, coordinator: self) }
    }
    store.remoteChanges.withLock { $0 = watch }
  }

  /// A model put together from tables is good for reading only: what it does not know would be lost on
  /// writing.
  private final func _checkReconstructed(_ url: URL, isReadOnly: Bool) throws {
    guard model.isReconstructedFromTables, !isReadOnly else { return }
    throw CocoaError.coreData(
      NSPersistentStoreIncompatibleSchemaError,
      "The model for the store at \(url.path) was put together from its tables, which is good for reading only. Add the "
        + "store with NSReadOnlyPersistentStoreOption, or use the model that it was made with to write to it."
    )
  }

  /// Compares the version hashes in the file with the model's. Answers with what migrates the store if they
  /// differ and the options ask for that; nil if nothing is to be done.
  private final func _migration(
    of opening: StoreOpening, _ url: URL, _ configuration: String?, _ options: [AnyHashable: Any]?,
    _ frozen: FrozenModel
  ) throws -> (() throws -> Void)? {
    let metadata = opening.metadata
    if (options?[NSIgnorePersistentStoreVersioningOption] as? NSNumber)?.boolValue ?? false { return nil }
    guard metadata[NSStoreModelVersionHashesKey] is [String: Any] else {
      guard try !opening.hasDamagedMetadata() else {
        throw CocoaError.coreData(
          NSFileReadCorruptFileError,
          "The metadata of the store at \(url.path) are missing or damaged (Z_PLIST in Z_METADATA), so that nothing says which "
            + "model it was saved with. To open it all the same, as far as its tables fit the model, add it with "
            + "NSIgnorePersistentStoreVersioningOption.")
      }
      // A store without hashes is judged by its tables when it is bound to the model.
      return nil
    }
    // It has no version hashes; its tables tell whether it fits.
    if model.isReconstructedFromTables { return nil }
    // A file has tables and hashes for the whole model, whichever configuration it is added with.
    if model.isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata)
      || model.isConfiguration(withName: configuration, compatibleWithStoreMetadata: metadata)
    {
      return nil
    }
    let differing = SQLiteStoreOpening.differences(model, metadata)
    if (options?[NSMigratePersistentStoresAutomaticallyOption] as? NSNumber)?.boolValue ?? false {
      if let manager = options?[NSPersistentStoreStagedMigrationManagerOptionKey] as? NSStagedMigrationManager
      {
        return { [model] in
          try StagedMigration(
            manager, url: url, on: opening.connection, metadata: metadata, options: options
          ).run(to: model)
        }
      }
      return { [model] in
        try AutomaticMigration(
          url: url, on: opening.connection, metadata: metadata, options: options
        ).run(to: frozen, model)
      }
    }
    throw CocoaError.coreData(
      NSPersistentStoreIncompatibleVersionHashError,
      "The store at \(url.path) was written with another version of the model (\(differing)). Open it with that version, "
        + "or set NSMigratePersistentStoresAutomaticallyOption.",
      ["metadata": metadata])
  }
}

/// What the coordinator passes to a SQLite store, from options and model.
enum SQLiteStoreOpening {
  /// Metadata of a store that need not be open.
  static func metadata(at url: URL, options: [AnyHashable: Any]? = nil) throws -> [String: Any] {
    try StoreErrors.translating(url: url) {
      try SQLiteStoreFile(url: url, timeout: self.options(options).timeout).metadata()
    }
  }

  /// Whether there is nothing at a URL, or a file without tables.
  static func isVacant(_ url: URL) throws -> Bool {
    try StoreErrors.translating(url: url) { try SQLiteStoreFile(url: url).isVacant() }
  }

  /// Whether an option is given and is not false; a dictionary, as Core Data takes it for some, counts as
  /// true.
  static func isOn(_ key: String, _ options: [AnyHashable: Any]?) -> Bool {
    guard let value = options?[key] else { return false }
    return (value as? NSNumber)?.boolValue ?? (value as? Bool) ?? !(value is NSNull)
  }

  static func options(_ options: [AnyHashable: Any]?) throws -> SQLiteStoreOptions {
    var settings = SQLiteStoreOptions()
    if SQLDebug.level > 0 {
      settings.trace = { SQLDebug.trace($0) }
      settings.tracesValues = SQLDebug.level > 1
    }
    guard let options else { return settings }
    func flag(_ key: String) -> Bool {
      (options[key] as? NSNumber)?.boolValue ?? (options[key] as? Bool) ?? false
    }
    settings.isReadOnly = flag(NSReadOnlyPersistentStoreOption)
    settings.analyzes = flag(NSSQLiteAnalyzeOption)
    settings.vacuums = flag(NSSQLiteManualVacuumOption)
    settings.tracksHistory = isOn(NSPersistentHistoryTrackingKey, options)
    if let seconds = (options[NSPersistentStoreTimeoutOption] as? NSNumber)?.doubleValue {
      settings.timeout = seconds
    }
    if let count = (options[NSPersistentStoreConnectionPoolMaxSizeKey] as? NSNumber)?.intValue {
      settings.maximumReaders = max(1, count)
    }
    guard let pragmas = options[NSSQLitePragmasOption] else { return settings }
    guard let texts = pragmas as? [String: String] else {
      throw CocoaError.coreData(
        NSPersistentStoreOpenError,
        "NSSQLitePragmasOption takes a dictionary of strings, such as [\"synchronous\": \"FULL\"].")
    }
    settings.pragmas = texts
    return settings
  }

  /// Metadata that a new store starts with.
  static func metadata(
    for frozen: FrozenModel, _ model: NSManagedObjectModel, identifier: String
  ) -> [String: Any] {
    let version = Int(NSCoreDataVersionNumber)
    return [
      NSStoreUUIDKey: identifier,
      "NSPersistenceFrameworkVersion": version,
      "NSPersistenceMaximumFrameworkVersion": version,
      NSStoreModelVersionHashesKey: frozen.versionHashes,
      "NSStoreModelVersionHashesVersion": 3,
      "NSStoreModelVersionHashesDigest": NSManagedObjectModel.digest(frozen.versionHashes),
      NSPersistentStoreModelVersionChecksumKey: NSManagedObjectModel.checksum(frozen.versionHashes),
      NSStoreModelVersionIdentifiersKey: model.versionIdentifiers.compactMap { $0 as? String }.sorted(),
    ]
  }

  /// Entities that differ between a model and a store, in words.
  static func differences(_ model: NSManagedObjectModel, _ metadata: [String: Any]) -> String {
    let mine = model.entityVersionHashesByName
    let theirs = metadata[NSStoreModelVersionHashesKey] as? [String: Data] ?? [:]
    var parts: [String] = []
    let changed = mine.keys.filter { theirs[$0] != nil && theirs[$0] != mine[$0] }.sorted()
    let added = mine.keys.filter { theirs[$0] == nil }.sorted()
    let removed = theirs.keys.filter { mine[$0] == nil }.sorted()
    if !changed.isEmpty { parts.append("changed: \(changed.joined(separator: ", "))") }
    if !added.isEmpty { parts.append("not in the store: \(added.joined(separator: ", "))") }
    if !removed.isEmpty { parts.append("not in the model: \(removed.joined(separator: ", "))") }
    return parts.joined(separator: "; ")
  }
}
