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
    let store = try StoreKinds.kind(of: storeType).open(
      StoreRequest(
        coordinator: self, configuration: configuration, url: storeURL, options: options, entities: entities,
        model: model))
    try _checkIsNew(store)
    store._coordinator = self
    if !StoreOptions.isTrue(NSIgnorePersistentStoreVersioningOption, options) {
      store.renewVersionHashes(of: self.model)
    }
    // Without its transformer a value reads as the stored data; only writing could lose it.
    if !store.isReadOnly { for line in model.missingTransformers { Console.warn(line) } }
    try followRemoteChanges(of: store)
    append(store)
    store.didAdd(to: self)
    _startRecording(options)
    announceStores([NSAddedPersistentStoresKey: [store]])
    return store
  }

  /// Records the contexts, if a store's options ask for it, until the last store is removed.
  private final func _startRecording(_ options: [AnyHashable: Any]?) {
    let key = NSPersistentStoreRecordingFileOption
    guard let value = options?[key] else { return }
    let url = (value as? URL) ?? (value as? NSURL).map { $0 as URL }
    guard let path = url?.path ?? (value as? String) ?? (value as? NSString).map(String.init), !path.isEmpty
    else {
      return Console.warn("\(key): its value is no path and no URL of a file. Nothing is recorded.")
    }
    let recordsValues = StoreOptions.isTrue(NSPersistentStoreRecordingValuesOption, options)
    TraceRecorder.start(
      TraceRecorder.Request(path: path, recordsValues: recordsValues, coordinator: self, source: key))
  }

  /// Rejects a store that was added already: IDs of its objects would belong to two stores.
  private final func _checkIsNew(_ store: NSPersistentStore) throws {
    guard let same = persistentStores.first(where: { $0.identifier == store.identifier }) else { return }
    store.engine?.close()
    throw CocoaError.coreData(
      CoreDataErrorCode.storeAddedTwice,
      "Can't add the same store twice: the coordinator has the store \(same.identifier ?? "?") at "
        + "\(same.url?.path ?? "memory") already. Use that one, or give a copy a UUID of its own (NSStoreUUIDKey).",
      [NSAffectedStoresErrorKey: [same]])
  }

  /// Adds a store, as `addPersistentStore(ofType:configurationName:at:options:)` does.
  ///
  /// ```swift
  /// let store = try coordinator.addPersistentStore(
  ///   type: .sqlite, at: storeURL, options: [NSPersistentStoreTimeoutOption: 10])
  /// ```
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
    announceRemoval(of: store)
    store.willRemove(from: self)
    drop(store)
    store._coordinator = nil
    store.remoteChanges.withLock { $0 = nil }
    store.engine?.close()
    if persistentStores.isEmpty { TraceRecorder.end(of: self) }
    announceStores([NSRemovedPersistentStoresKey: [store]])
  }

  // MARK: Metadata
  final func replaceMetadata(of store: NSPersistentStore, with metadata: [String: Any]?) {
    store.setMetadata(metadata ?? [:])
  }

  /// Reads the metadata of a store file, whether or not a coordinator has it open.
  ///
  /// Recovers a SQLite store after a crash, as adding it does, unless the options contain
  /// `NSReadOnlyPersistentStoreOption`. Respects `NSPersistentStoreTimeoutOption`.
  ///
  /// ```swift
  /// let metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(
  ///   ofType: NSSQLiteStoreType, at: storeURL)
  /// let isCurrent = model.isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata)
  /// ```
  ///
  /// - Throws: A Cocoa error if the file does not exist or is not a store.
  public class func metadataForPersistentStore(
    ofType storeType: String, at url: URL, options: [AnyHashable: Any]? = nil
  ) throws -> [String: Any] {
    try (StoreKinds.known(storeType) ?? StoreKinds.standard).metadata(at: url, options: options)
  }

  /// Reads the metadata of a store file, as `metadataForPersistentStore(ofType:at:options:)` does.
  public class func metadataForPersistentStore(
    type storeType: NSPersistentStore.StoreType, at storeURL: URL, options: [AnyHashable: Any]? = nil
  ) throws -> [String: Any] {
    try metadataForPersistentStore(ofType: storeType.rawValue, at: storeURL, options: options)
  }

  // MARK: Making stores

  /// Returns the frozen model, or throws the reason why it is unusable.
  final func usableModel() throws -> FrozenModel {
    if let frozen { return frozen }
    do {
      return try model.frozen()
    } catch {
      throw CocoaError.coreData(NSCoreDataError, "The model cannot be used: \(error)")
    }
  }

  /// Returns the names of a configuration's entities; nil for all.
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

  /// Posts notifications about each commit to a store by any process, if its options enable that, and lets a store follow them that
  /// wants to.
  final func followRemoteChanges(of store: NSPersistentStore) throws {
    let posts = StoreOptions.isOn(NSPersistentStoreRemoteChangeNotificationPostOptionKey, store.options)
    guard posts || store.engine?.followsChanges ?? false,
      let watch = try RemoteChangeWatch(store, coordinator: self, posts: posts)
    else { return }
    store.remoteChanges.withLock { $0 = watch }
  }
}
