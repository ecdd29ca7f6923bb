import Foundation

// Metadata of store files that no coordinator needs to have open.

extension NSPersistentStoreCoordinator {
  /// Writes metadata into a store file at once. What says how the store was saved (version hashes, UUID,
  /// type) stays unless it is given.
  ///
  /// ```swift
  /// var metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(
  ///   ofType: NSSQLiteStoreType, at: storeURL)
  /// metadata["LastImport"] = Date()
  /// try NSPersistentStoreCoordinator.setMetadata(
  ///   metadata, forPersistentStoreOfType: NSSQLiteStoreType, at: storeURL)
  /// ```
  ///
  /// - Throws: A Cocoa error: 134000 for a type that has no files, 260 if there is no such file, 134010 if it
  ///   is no store.
  public class func setMetadata(
    _ metadata: [String: Any]?, forPersistentStoreOfType storeType: String, at url: URL,
    options: [AnyHashable: Any]? = nil
  ) throws {
    guard let kind = StoreKinds.known(storeType) else {
      throw CocoaError.coreData(
        NSPersistentStoreInvalidTypeError,
        "Stores of type '\(storeType)' have no file to write metadata to; '\(StoreKinds.standard.type)' has.")
    }
    try kind.setMetadata(metadata, at: url, options: options)
  }

  /// Writes metadata into a store file, as `setMetadata(_:forPersistentStoreOfType:at:options:)` does.
  public class func setMetadata(
    _ metadata: [String: Any]?, type storeType: NSPersistentStore.StoreType, at storeURL: URL,
    options: [AnyHashable: Any]? = nil
  ) throws {
    try setMetadata(metadata, forPersistentStoreOfType: storeType.rawValue, at: storeURL, options: options)
  }
}

extension NSPersistentStore {
  /// New metadata together with those of the present that a store cannot be without.
  package final class func completed(_ metadata: [String: Any], from present: [String: Any]) -> [String: Any]
  {
    var result = metadata
    for (name, value) in present where result[name] == nil {
      if name == NSStoreTypeKey || name == NSStoreUUIDKey || formatKeys.contains(name) {
        result[name] = value
      }
    }
    return result
  }
}
