import CoreDataModelSchema
import Foundation

// Adding and removing stores.

extension NSPersistentStoreCoordinator {
  @discardableResult
  final func addStore(
    ofType storeType: String, configurationName configuration: String?, at storeURL: URL?,
    options: [AnyHashable: Any]?
  ) throws -> NSPersistentStore {
    let model = try usableModel()
    let entities = try entities(of: configuration)
    let store: NSPersistentStore
    switch storeType {
    case NSInMemoryStoreType:
      try _checkForMemory(model, entities)
      store = _memoryStore(configuration, storeURL, options, entities, model)
    case NSSQLiteStoreType:
      guard let storeURL else {
        throw CocoaError.coreData(
          NSPersistentStoreOpenError,
          "A SQLite store needs a file URL; use file:///dev/null for one that is thrown away.")
      }
      store = try openSQLite(storeURL, configuration, options, entities, model)
    default:
      store = try openRegistered(storeType, configuration, storeURL, options, model)
    }
    try _checkIsNew(store)
    store._coordinator = self
    // Without its transformer a value reads as the stored data; only writing could lose it.
    if !store.isReadOnly { for line in model.missingTransformers { Console.warn(line) } }
    try followRemoteChanges(of: store)
    append(store)
    store.didAdd(to: self)
    NotificationCenter.default.post(
      name: .NSPersistentStoreCoordinatorStoresDidChange, object: self,
      userInfo: [NSAddedPersistentStoresKey: [store]])
    return store
  }

  /// Refuses a store that is here already, as the IDs of its objects would be of two stores.
  private final func _checkIsNew(_ store: NSPersistentStore) throws {
    guard let same = persistentStores.first(where: { $0.identifier == store.identifier }) else { return }
    store.engine?.close()
    throw CocoaError.coreData(
      134081,
      "Can't add the same store twice: the coordinator has the store \(same.identifier ?? "?") at "
        + "\(same.url?.path ?? "memory") already. Use that one, or give a copy a UUID of its own (NSStoreUUIDKey).",
      [NSAffectedStoresErrorKey: [same]])
  }

  /// Refuses models with attributes that only SQLite can hold. Core Data raises here.
  private final func _checkForMemory(_ model: FrozenModel, _ entities: Set<String>?) throws {
    for layout in model.layout.layouts where entities?.contains(layout.entityName) ?? true {
      for slot in layout.slots {
        guard let attribute = slot.attribute, !slot.isTransient,
          attribute.isDerived || attribute.type == .composite
        else { continue }
        throw CocoaError.coreData(
          NSPersistentStoreIncompatibleSchemaError,
          "\(layout.entityName).\(slot.name) is a \(attribute.isDerived ? "derived" : "composite") attribute, which a store "
            + "in memory does not support; use a SQLite store (file:///dev/null for one that is thrown away)."
        )
      }
    }
  }

  /// Adds a store, creating its file if there is none; throws as the other form.
  @discardableResult
  public final func addPersistentStore(
    type: NSPersistentStore.StoreType, configuration: String? = nil, at storeURL: URL,
    options: [AnyHashable: Any]? = nil
  ) throws -> NSPersistentStore {
    try addPersistentStore(
      ofType: type.rawValue, configurationName: configuration, at: storeURL, options: options)
  }

  final func removeStore(_ store: NSPersistentStore) throws {
    guard persistentStores.contains(where: { $0 === store }) else {
      throw CocoaError.coreData(
        NSPersistentStoreOperationError,
        "The store at \(store.url?.path ?? "memory") is not of this coordinator.",
        [NSAffectedStoresErrorKey: [store]])
    }
    NotificationCenter.default.post(name: .NSPersistentStoreCoordinatorWillRemoveStore, object: store)
    store.willRemove(from: self)
    drop(store)
    store._coordinator = nil
    store.remoteChanges.withLock { $0 = nil }
    store.engine?.close()
    NotificationCenter.default.post(
      name: .NSPersistentStoreCoordinatorStoresDidChange, object: self,
      userInfo: [NSRemovedPersistentStoresKey: [store]])
  }

  // MARK: Metadata
  final func replaceMetadata(of store: NSPersistentStore, with metadata: [String: Any]?) {
    store.setMetadata(metadata ?? [:])
  }

  /// Metadata of a store file that no coordinator needs to have open.
  ///
  /// A SQLite store that a crash left in need of recovery is recovered, as when it is added, unless the options
  /// have `NSReadOnlyPersistentStoreOption`. `NSPersistentStoreTimeoutOption` holds.
  ///
  /// - Throws: A Cocoa error if there is no such file or it is no store.
  public class func metadataForPersistentStore(
    ofType storeType: String, at url: URL, options: [AnyHashable: Any]? = nil
  ) throws -> [String: Any] {
    if storeType != NSSQLiteStoreType, let storeClass = StoreRegistry.storeClass(for: storeType) {
      return try storeClass.metadataForPersistentStore(with: url)
    }
    return try SQLiteStoreOpening.metadata(at: url, options: options)
  }

  /// Metadata of a store file that no coordinator needs to have open; throws as the other form.
  public class func metadataForPersistentStore(
    type storeType: NSPersistentStore.StoreType, at storeURL: URL, options: [AnyHashable: Any]? = nil
  ) throws -> [String: Any] {
    try metadataForPersistentStore(ofType: storeType.rawValue, at: storeURL, options: options)
  }

  // MARK: Making stores

  /// The model, frozen; with the reason if it cannot be used.
  final func usableModel() throws -> FrozenModel {
    if let frozen { return frozen }
    do {
      return try model.frozen()
    } catch {
      throw CocoaError.coreData(NSCoreDataError, "The model cannot be used: \(error)")
    }
  }

  /// Names of the entities of a configuration; nil for all.
  final func entities(of configuration: String?) throws -> Set<String>? {
    guard let configuration, configuration != "PF_DEFAULT_CONFIGURATION_NAME", configuration != "Default"
    else {
      return nil
    }
    guard let entities = model.entities(forConfigurationName: configuration) else {
      throw CocoaError.coreData(
        NSPersistentStoreOpenError,
        "The model has no configuration '\(configuration)'. It has: "
          + model.configurations.sorted().joined(separator: ", ") + ".")
    }
    return Set(entities.compactMap(\.name))
  }

  private final func _memoryStore(
    _ configuration: String?, _ url: URL?, _ options: [AnyHashable: Any]?, _ entities: Set<String>?,
    _ model: FrozenModel
  ) -> NSPersistentStore {
    let key = StoreKey.named(UUID().uuidString)
    let metadata: [String: Any] = [
      NSStoreTypeKey: NSInMemoryStoreType, NSStoreUUIDKey: key.identifier,
      NSStoreModelVersionHashesKey: model.versionHashes,
    ]
    let store = NSPersistentStore(
      type: NSInMemoryStoreType, configuration: configuration, url: url, options: options, entities: entities,
      isReadOnly: (options?[NSReadOnlyPersistentStoreOption] as? NSNumber)?.boolValue ?? false,
      metadata: metadata,
      key: key)
    store.attach(MemoryStoreEngine(model, key: key, store: store, metadata: metadata), metadata: metadata)
    return store
  }
}
