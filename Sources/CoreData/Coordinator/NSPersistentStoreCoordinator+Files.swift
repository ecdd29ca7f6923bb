import Foundation

// Store files as a whole.

extension NSPersistentStoreCoordinator {
  final func destroyStore(at url: URL, ofType storeType: String, options: [AnyHashable: Any]?) throws {
    guard storeType == NSSQLiteStoreType else {
      if let store = persistentStore(for: url) { try remove(store) }
      return try _destroyRegistered(url, storeType)
    }
    try StoreErrors.translating(url: url) {
      _ = try StoreLocation(url).occupant()
      if let store = persistentStore(for: url) { try remove(store) }
      try SQLiteStoreFile(url: url, timeout: SQLiteStoreOpening.options(options).timeout)
        .destroy(isForced: SQLiteStoreOpening.isOn(NSPersistentStoreForceDestroyOption, options))
    }
  }

  /// Deletes the file of a store of a registered class, if the class finds metadata in it.
  private final func _destroyRegistered(_ url: URL, _ storeType: String) throws {
    guard FileManager.default.fileExists(atPath: url.path),
      let storeClass = StoreRegistry.storeClass(for: storeType)
    else { return }
    // A device or a pipe is refused before it is read.
    _ = try StoreErrors.translating(url: url) { try StoreLocation(url).occupant() }
    if StoreLocation(url).isInMemory { return }
    _ = try storeClass.metadataForPersistentStore(with: url)
    try FileManager.default.removeItem(at: url)
  }

  /// Destroys a store; as the other form.
  public final func destroyPersistentStore(
    at url: URL, type storeType: NSPersistentStore.StoreType, options: [AnyHashable: Any]? = nil
  ) throws {
    try destroyPersistentStore(at: url, ofType: storeType.rawValue, options: options)
  }
}
