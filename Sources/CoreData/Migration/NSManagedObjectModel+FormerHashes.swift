import CoreDataModelSchema
import Foundation

// Versions of this package up to 0.2 hashed some entities otherwise than Core Data does (`VersionHash.Rule.former`).
// Files from them still count as of this model.

extension NSManagedObjectModel {
  /// The hashes that earlier versions of this package gave to entities, where they differ from Core Data's.
  private final var _formerHashes: [String: Data] {
    let frozen = frozenModel.withLock { $0 }
    return (frozen?.layout.schema ?? ModelSchema(self)).formerEntityVersionHashes().mapValues { Data($0) }
  }

  /// Returns hashes from a file with those of this model's entities by the former rule replaced by the
  /// present ones. All comparisons of hashes from files are made with the result.
  package final func renewed(_ hashes: [String: Data]) -> [String: Data] {
    let mine = entityVersionHashesByName
    guard hashes.contains(where: { name, hash in mine[name].map { $0 != hash } ?? false }) else {
      return hashes
    }
    var result = hashes
    for (name, former) in _formerHashes where hashes[name] == former { result[name] = mine[name] }
    return result
  }

  /// Whether a hash from a file is that of an entity of this model.
  final func recognizes(_ hash: Data, of entity: String) -> Bool {
    renewed([entity: hash])[entity] == entityVersionHashesByName[entity]
  }

  /// The version checksum by the former rule; nil if it is the same.
  final var formerVersionChecksum: String? {
    let former = _formerHashes
    return former.isEmpty ? nil : Self.checksum(entityVersionHashesByName.merging(former) { $1 })
  }
}

extension NSPersistentStore {
  /// Replaces hashes by the former rule, with their digest and checksum, in the metadata that the next save
  /// writes. What another program has written there by then stays.
  final func renewVersionHashes(of model: NSManagedObjectModel) {
    guard !isReadOnly, let metadata, let renewed = model._renewed(metadata: metadata) else { return }
    renewMetadata(renewed) { model._renewed(metadata: $0) }
  }
}

extension NSManagedObjectModel {
  /// Returns metadata with the present hashes in place of those by the former rule; nil if there is none.
  fileprivate final func _renewed(metadata: [String: Any]) -> [String: Any]? {
    guard let stored = Self.versionHashes(in: metadata) else { return nil }
    let hashes = renewed(stored)
    return hashes == stored ? nil : metadata.merging(StoreVersioning.hashMetadata(hashes)) { $1 }
  }
}
