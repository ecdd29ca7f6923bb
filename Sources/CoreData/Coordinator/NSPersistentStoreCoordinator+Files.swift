import Foundation

// Store files as a whole.

extension NSPersistentStoreCoordinator {
  /// Deletes a store: its file, what SQLite keeps beside it, and its external data. A store of this
  /// coordinator is removed from it first. Nothing happens where there is no file.
  ///
  /// - Throws: A Cocoa error for a file that is no store of the type, or that cannot be deleted.
  public final func destroyPersistentStore(
    at url: URL, ofType storeType: String, options: [AnyHashable: Any]? = nil
  ) throws {
    if let store = persistentStore(for: url) { try remove(store) }
    let files = FileManager.default
    guard files.fileExists(atPath: url.path) else { return }
    guard storeType == NSSQLiteStoreType else { return try _destroyRegistered(url, storeType) }
    // What is no store stays: a wrong path must not cost anybody a file. An empty file is a store that was
    // never written.
    let size = (try? files.attributesOfItem(atPath: url.path)[.size] as? NSNumber)?.intValue ?? 0
    if size > 0 { _ = try SQLiteStoreOpening.metadata(at: url) }
    do {
      try files.removeItem(at: url)
      for suffix in ["-wal", "-shm", "-journal"] where files.fileExists(atPath: url.path + suffix) {
        try files.removeItem(atPath: url.path + suffix)
      }
      let support = ExternalDataDirectory(storePath: url.path).supportPath
      if files.fileExists(atPath: support) { try files.removeItem(atPath: support) }
    } catch {
      throw CocoaError.coreData(
        NSPersistentStoreOperationError,
        "The store at \(url.path) cannot be deleted: \(error.localizedDescription)",
        [NSUnderlyingErrorKey: error])
    }
  }

  /// Deletes the file of a store of a class of one's own, if that finds metadata in it.
  private final func _destroyRegistered(_ url: URL, _ storeType: String) throws {
    guard let storeClass = StoreRegistry.storeClass(for: storeType) else { return }
    _ = try storeClass.metadataForPersistentStore(with: url)
    try FileManager.default.removeItem(at: url)
  }

  /// Deletes a store; as the other form.
  public final func destroyPersistentStore(
    at url: URL, type storeType: NSPersistentStore.StoreType, options: [AnyHashable: Any]? = nil
  ) throws {
    try destroyPersistentStore(at: url, ofType: storeType.rawValue, options: options)
  }
}
