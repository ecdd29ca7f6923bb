import Foundation

// Store files as a whole.

extension NSPersistentStoreCoordinator {
  /// Destroys a store. A store of this coordinator is removed from it first.
  ///
  /// A SQLite store is emptied in place, respecting the locks of other programs: an empty database stays behind,
  /// without external data, also where there was no file. `file:///dev/null` is left alone, and so is whatever
  /// else is no regular file. Stores of other types are deleted.
  ///
  /// - Parameter options: `NSPersistentStoreTimeoutOption` says how long to wait for another program that writes;
  ///   `NSPersistentStoreForceDestroyOption` empties a file that is no readable store, too.
  /// - Throws: A Cocoa error: 134010 or 259 for a file that is no store of the type, 134080 where no store can be
  ///   or the file cannot be written, 134090 when another program keeps it locked.
  public final func destroyPersistentStore(
    at url: URL, ofType storeType: String, options: [AnyHashable: Any]? = nil
  ) throws {
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
