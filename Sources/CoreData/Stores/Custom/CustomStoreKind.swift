import CoreDataModelSchema
import Foundation

/// Stores of a registered class: a subclass of `NSIncrementalStore` or `NSAtomicStore`.
struct CustomStoreKind: StoreKind {
  let type: String
  let storeClass: NSPersistentStore.Type

  /// - Throws: 134100 for a store of another model version, and any error of the class.
  func open(_ request: StoreRequest) throws -> NSPersistentStore {
    let place = request.url ?? URL(fileURLWithPath: "/dev/null")
    let store = StoreMaker.make(
      storeClass, request.coordinator, request.configuration, place, request.options)
    try store.loadMetadata()
    var metadata = store.metadata ?? [:]
    if metadata[NSStoreTypeKey] == nil { metadata[NSStoreTypeKey] = type }
    switch store {
    case let store as NSIncrementalStore:
      store.attach(IncrementalStoreEngine(store, request.model), metadata: metadata)
    case let store as NSAtomicStore:
      let engine = AtomicStoreEngine(store, request.model)
      store.attach(engine, metadata: metadata)
      try store.load()
      try engine.adopt(store.cacheNodes())
    default: break
    }
    try _checkVersion(metadata, of: place, request)
    if metadata[NSStoreModelVersionHashesKey] == nil || store.isReadOnly == false {
      // What depends on the hashes, if the store has it, changes with them.
      for (name, value) in StoreVersioning.hashMetadata(request.model.versionHashes)
      where name == NSStoreModelVersionHashesKey || metadata[name] != nil { metadata[name] = value }
      store.attach(store.engine!, metadata: metadata)
    }
    return store
  }

  private func _checkVersion(_ metadata: [String: Any], of url: URL, _ request: StoreRequest) throws {
    let model = request.coordinator.model
    guard metadata[NSStoreModelVersionHashesKey] is [String: Any],
      !StoreOptions.isTrue(NSIgnorePersistentStoreVersioningOption, request.options),
      !model.isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata),
      !model.isConfiguration(withName: request.configuration, compatibleWithStoreMetadata: metadata)
    else { return }
    throw CocoaError.coreData(
      NSPersistentStoreIncompatibleVersionHashError,
      "The store at \(url.path) was written with another version of the model "
        + "(\(StoreVersioning.differences(model, metadata))). Stores of a custom class are not migrated by "
        + "themselves: open it with that version, or use an NSMigrationManager.", ["metadata": metadata])
  }

  func metadata(at url: URL, options: [AnyHashable: Any]?) throws -> [String: Any] {
    try storeClass.metadataForPersistentStore(with: url)
  }

  func setMetadata(_ metadata: [String: Any]?, at url: URL, options: [AnyHashable: Any]?) throws {
    try storeClass.setMetadata(metadata, forPersistentStoreAt: url)
  }

  /// Deletes the file if the class finds metadata in it.
  func destroy(at url: URL, options: [AnyHashable: Any]?, closing: () throws -> Void) throws {
    try closing()
    guard FileManager.default.fileExists(atPath: url.path) else { return }
    // Reject devices and pipes before reading.
    _ = try StoreErrors.translating(url: url) { try StoreLocation(url).occupant() }
    if StoreLocation(url).isInMemory { return }
    _ = try storeClass.metadataForPersistentStore(with: url)
    try FileManager.default.removeItem(at: url)
  }
}
