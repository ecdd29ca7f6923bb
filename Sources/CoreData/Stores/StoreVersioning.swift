import Foundation

/// Metadata about the model that a store was saved with; the same for every kind of store.
package enum StoreVersioning {
  /// Returns the initial metadata of a new store.
  package static func metadata(
    for frozen: FrozenModel, _ model: NSManagedObjectModel, identifier: String
  ) -> [String: Any] {
    let version = Int(NSCoreDataVersionNumber)
    let others: [String: Any] = [
      NSStoreUUIDKey: identifier,
      "NSPersistenceFrameworkVersion": version,
      "NSPersistenceMaximumFrameworkVersion": version,
      NSStoreModelVersionIdentifiersKey: model.versionIdentifiers.compactMap { $0 as? String }.sorted(),
    ]
    return others.merging(hashMetadata(frozen.versionHashes)) { first, _ in first }
  }

  /// Returns the part of the metadata that depends on the version hashes.
  package static func hashMetadata(_ hashes: [String: Data]) -> [String: Any] {
    [
      NSStoreModelVersionHashesKey: hashes,
      "NSStoreModelVersionHashesVersion": 3,
      "NSStoreModelVersionHashesDigest": NSManagedObjectModel.digest(hashes),
      NSPersistentStoreModelVersionChecksumKey: NSManagedObjectModel.checksum(hashes),
    ]
  }

  /// Describes the entities that differ between a model and a store.
  package static func differences(_ model: NSManagedObjectModel, _ metadata: [String: Any]) -> String {
    let mine = model.entityVersionHashesByName
    let theirs = model.renewed(NSManagedObjectModel.versionHashes(in: metadata) ?? [:])
    var parts: [String] = []
    let changed = mine.keys.filter { theirs[$0] != nil && theirs[$0] != mine[$0] }.sorted()
    let added = mine.keys.filter { theirs[$0] == nil }.sorted()
    let removed = theirs.keys.filter { mine[$0] == nil }.sorted()
    if !changed.isEmpty { parts.append("changed: \(changed.joined(separator: ", "))") }
    if !added.isEmpty { parts.append("not in the store: \(added.joined(separator: ", "))") }
    if !removed.isEmpty { parts.append("not in the model: \(removed.joined(separator: ", "))") }
    return parts.joined(separator: "; ")
  }
}

/// Reads the options of a store.
package enum StoreOptions {
  /// Option: also migrate a file in a way that loses data if the version that it was saved with is known only
  /// from the file's own copy. A boolean. SwiftData sets it, whose models declare only their latest version.
  package static let lossFromKeptModel = "CoreDataLossFromKeptModelOption"

  /// Whether an option is set and not false. A dictionary, which Core Data accepts for some options, counts
  /// as true.
  package static func isOn(_ key: String, _ options: [AnyHashable: Any]?) -> Bool {
    guard let value = options?[key] else { return false }
    return (value as? NSNumber)?.boolValue ?? (value as? Bool) ?? !(value is NSNull)
  }

  /// Whether an option is set and true.
  package static func isTrue(_ key: String, _ options: [AnyHashable: Any]?) -> Bool {
    (options?[key] as? NSNumber)?.boolValue ?? (options?[key] as? Bool) ?? false
  }
}
