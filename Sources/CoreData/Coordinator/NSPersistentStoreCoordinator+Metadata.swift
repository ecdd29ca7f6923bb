import Foundation

// Metadata of store files that need not be open.

extension NSPersistentStoreCoordinator {
  /// Writes metadata into a store file immediately. Keeps the keys that describe the save (version hashes,
  /// UUID, type) unless given.
  ///
  /// ```swift
  /// var metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(
  ///   ofType: NSSQLiteStoreType, at: storeURL)
  /// metadata["LastImport"] = Date()
  /// try NSPersistentStoreCoordinator.setMetadata(
  ///   metadata, forPersistentStoreOfType: NSSQLiteStoreType, at: storeURL)
  /// ```
  ///
  /// - Throws: A Cocoa error: 134000 for a type without files, 260 if the file does not exist, 134010 if it
  ///   is not a store.
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
  /// Merges new metadata with those existing entries that a store requires.
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
