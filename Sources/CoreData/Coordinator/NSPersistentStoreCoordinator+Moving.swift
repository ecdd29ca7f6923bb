import Foundation

// Migrating stores to another location or type.

extension NSPersistentStoreCoordinator {
  @discardableResult
  final func migrateStore(
    _ store: NSPersistentStore, to URL: URL, options: [AnyHashable: Any]?, withType storeType: String
  ) throws -> NSPersistentStore {
    guard let source = store.engine, persistentStores.contains(where: { $0 === store }) else {
      throw CocoaError.coreData(
        NSPersistentStoreOperationError,
        "The store at \(store.url?.path ?? "memory") is not of this coordinator, so that it cannot be moved by it.",
        [NSAffectedStoresErrorKey: [store]])
    }
    let kind = try StoreKinds.kind(of: storeType)
    let isFile = kind.isPersistent && !StoreLocation(URL).isInMemory
    let placement =
      isFile
      ? try kind.placement(
        of: store.key.identifier, at: URL, isOpen: self.persistentStore(for: URL) != nil, like: store.url)
      : nil
    // A file that is not a store also occupies the URL.
    if isFile, (try? kind.isVacant(URL, options: options)) != true {
      throw CocoaError(
        .fileWriteFileExists,
        userInfo: [
          NSLocalizedDescriptionKey:
            "There is a file at \(URL.path) already, and a store is moved to a new one only. Remove it, or destroy the store in "
            + "it with destroyPersistentStore(at:ofType:options:).", NSURLErrorKey: URL.withoutPasswords,
        ])
    }
    let (moved, ids) =
      if let placement {
        try _place(source, of: store, through: placement, at: URL, options, storeType)
      } else {
        try _create(source, of: store, as: kind, at: isFile ? URL : nil, given: URL, options, storeType)
      }
    _announce(store, moved, ids)
    defer { placement?.finish() }
    try remove(store)
    return moved
  }

  /// Fills a store under another name, moves it to its location, and adds it.
  private final func _place(
    _ source: any StoreEngine, of store: NSPersistentStore, through placement: StorePlacement, at url: URL,
    _ options: [AnyHashable: Any]?, _ storeType: String
  ) throws -> (NSPersistentStore, Moved) {
    let filling = UnannouncedCoordinator(managedObjectModel: managedObjectModel)
    let filled = try filling.addPersistentStore(
      ofType: storeType, configurationName: store.configurationName, at: placement.url,
      options: _writable(options))
    let ids = try filling._copy(source, to: filled)
    try filling._carryMetadata(of: store, to: filled)
    try filling.remove(filled)
    try StoreErrors.translating(url: url) { try placement.complete() }
    let moved = try addPersistentStore(
      ofType: storeType, configurationName: store.configurationName, at: url, options: options)
    return (moved, ids.map { ($0.old, localized($0.new)) })

    func localized(_ id: NSManagedObjectID) -> NSManagedObjectID {
      id.key.flatMap { self.localized($0) }.map { NSManagedObjectID($0) } ?? id
    }
  }

  /// Creates a store where it remains.
  private final func _create(
    _ source: any StoreEngine, of store: NSPersistentStore, as kind: any StoreKind, at file: URL?,
    given url: URL,
    _ options: [AnyHashable: Any]?, _ storeType: String
  ) throws -> (NSPersistentStore, Moved) {
    if let file { kind.prepare(file, like: store.url) }
    let moved = try addPersistentStore(
      ofType: storeType, configurationName: store.configurationName, at: kind.isPersistent ? url : nil,
      options: _writable(options))
    do {
      let ids = try _copy(source, to: moved)
      try _carryMetadata(of: store, to: moved)
      // Read-only takes effect only after the copy has been written.
      if StoreOptions.isOn(NSReadOnlyPersistentStoreOption, options) { moved.isReadOnly = true }
      return (moved, ids)
    } catch {
      try? remove(moved)
      if let file { try? kind.discard(at: file) }
      throw error
    }
  }

  private final func _writable(_ options: [AnyHashable: Any]?) -> [AnyHashable: Any] {
    var options = options ?? [:]
    options[NSReadOnlyPersistentStoreOption] = nil
    return options
  }

  /// Copies all objects of a store to a new one, as `migratePersistentStore(_:to:options:withType:)` does.
  ///
  /// ```swift
  /// let copy = try coordinator.migratePersistentStore(store, to: backupURL, type: .sqlite)
  /// ```
  @discardableResult
  public final func migratePersistentStore(
    _ store: NSPersistentStore, to storeURL: URL, options: [AnyHashable: Any]? = nil,
    type storeType: NSPersistentStore.StoreType
  ) throws -> NSPersistentStore {
    try migratePersistentStore(store, to: storeURL, options: options, withType: storeType.rawValue)
  }

  /// Old and new IDs.
  private typealias Moved = [(old: NSManagedObjectID, new: NSManagedObjectID)]

  private final func _copy(_ source: any StoreEngine, to store: NSPersistentStore) throws -> Moved {
    let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = self
    context.undoManager = nil
    return try context.performAndWait {
      let copy = try StoreErrors.translating {
        try StoreCopy(of: source, in: context, tellsAllMembers: store.objectEngine != nil)
      }
      for (_, id) in copy.ids { assign(id, to: store) }
      defer { clearAssignments(copy.ids.lazy.map(\.new)) }
      if store.objectEngine != nil {
        // A custom store receives objects, which show their old values and are not announced as new.
        context.overlay.push(ChangeLayer(copy.entries))
        for entry in copy.entries { _ = context.links.materialize(entry, isNew: false) }
      }
      _ = try CommitPass(context).run(copy.entries)
      return copy.ids.compactMap { old, new in new.permanent.map { (NSManagedObjectID(old), $0) } }
    }
  }

  /// Copies the application's metadata from the old store to the new one and saves them.
  private final func _carryMetadata(of store: NSPersistentStore, to moved: NSPersistentStore) throws {
    var metadata = moved.metadata ?? [:]
    for (name, value) in store.metadata ?? [:]
    where metadata[name] == nil && !NSPersistentStore.formatKeys.contains(name) {
      metadata[name] = value
    }
    moved.metadata = metadata
    try StoreErrors.translating(url: moved.url) { try moved.saveMetadataIfNeeded() }
    guard let engine = moved.objectEngine else { return }
    let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = self
    _ = try context.performAndWait {
      try StoreErrors.translating(url: moved.url) { try engine.save(ChangeSet(), in: context) {} }
    }
  }

  /// Posts the changed object IDs, in the order observed in Core Data.
  private final func _announce(_ store: NSPersistentStore, _ moved: NSPersistentStore, _ ids: Moved) {
    for store in [store, moved] { announceRemoval(of: store) }
    let pairs: [NSManagedObjectID] = ids.flatMap { [$0.old, $0.new] }
    announceStores([NSUUIDChangedPersistentStoresKey: [store, moved, pairs] as [Any]])
  }

  final func move(_ store: NSPersistentStore, to url: URL) -> Bool {
    guard persistentStores.contains(where: { $0 === store }) else { return false }
    guard let kind = StoreKinds.known(store.type) else {
      store.url = url
      return true
    }
    let isFollowed = store.remoteChanges.withLock { $0 != nil }
    let old = store.engine
    guard kind.reopen(store, at: url, in: self) else { return false }
    guard store.engine !== old else { return true }
    store.remoteChanges.withLock { $0 = nil }
    rowCache.removeAll()
    if isFollowed { try? followRemoteChanges(of: store) }
    return true
  }
}
