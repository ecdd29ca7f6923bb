import Foundation

// Destroying stores.

extension NSPersistentStoreCoordinator {
  final func destroyStore(at url: URL, ofType storeType: String, options: [AnyHashable: Any]?) throws {
    func close() throws { if let store = persistentStore(for: url) { try remove(store) } }
    // A store of an unknown type cannot be destroyed.
    guard let kind = StoreKinds.known(storeType) else { return try close() }
    try kind.destroy(at: url, options: options, closing: close)
  }

  /// Destroys a store, as `destroyPersistentStore(at:ofType:options:)` does.
  ///
  /// ```swift
  /// try coordinator.destroyPersistentStore(at: storeURL, type: .sqlite)
  /// ```
  public final func destroyPersistentStore(
    at url: URL, type storeType: NSPersistentStore.StoreType, options: [AnyHashable: Any]? = nil
  ) throws {
    try destroyPersistentStore(at: url, ofType: storeType.rawValue, options: options)
  }
}
