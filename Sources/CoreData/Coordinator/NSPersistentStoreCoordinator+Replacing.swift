import Foundation

// Replacing stores by copies of others.

extension NSPersistentStoreCoordinator {
  final func replaceStore(
    at destinationURL: URL, destinationOptions: [AnyHashable: Any]?,
    withPersistentStoreFrom sourceURL: URL, sourceOptions: [AnyHashable: Any]?, ofType storeType: String
  ) throws {
    guard let kind = StoreKinds.known(storeType) else {
      throw CocoaError.coreData(
        NSPersistentStoreInvalidTypeError,
        "Stores of type '\(storeType)' have no file to be replaced; '\(StoreKinds.standard.type)' has.")
    }
    try kind.replace(
      at: destinationURL, options: destinationOptions, withStoreAt: sourceURL, sourceOptions: sourceOptions
    ) {
      if let store = persistentStore(for: destinationURL) { try remove(store) }
    }
  }

  /// Replaces a store by a copy of another, like the overload with a type name.
  ///
  /// ```swift
  /// try coordinator.replacePersistentStore(at: backupURL, withPersistentStoreFrom: storeURL, type: .sqlite)
  /// ```
  public final func replacePersistentStore(
    at destinationURL: URL, destinationOptions: [AnyHashable: Any]? = nil,
    withPersistentStoreFrom sourceURL: URL, sourceOptions: [AnyHashable: Any]? = nil,
    type sourceType: NSPersistentStore.StoreType
  ) throws {
    try replacePersistentStore(
      at: destinationURL, destinationOptions: destinationOptions, withPersistentStoreFrom: sourceURL,
      sourceOptions: sourceOptions, ofType: sourceType.rawValue)
  }
}
