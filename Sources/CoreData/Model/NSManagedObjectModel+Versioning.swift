import CoreDataModelSchema
import Foundation

extension NSManagedObjectModel {
  /// Version hash of each entity by name, 32 bytes each, equal to Core Data's. Cached until the model
  /// changes.
  ///
  /// ```swift
  /// let old = oldModel.entityVersionHashesByName
  /// let changed = newModel.entityVersionHashesByName.filter { old[$0.key] != $0.value }
  /// print("Entities that differ: \(changed.keys.sorted())")
  /// ```
  public var entityVersionHashesByName: [String: Data] {
    if let frozen = frozenModel.withLock({ $0 }) { return frozen.versionHashes }
    return versionHashes(orCompute: {
      if let layout = knownLayout { return (layout.versionHashes.mapValues { Data($0) }, true) }
      return (ModelSchema(self).entityVersionHashes().mapValues { Data($0) }, isClosed)
    })
  }

  /// Whether the model depends on no entity of another one, so that it is notified of all changes.
  final var isClosed: Bool {
    entities.allSatisfy { entity in
      entity.owner === self && (entity.superentity.map { $0.owner === self } ?? true)
        && entity.ownProperties.allSatisfy { property in
          guard property.owner === entity else { return false }
          guard let relationship = property as? NSRelationshipDescription else { return true }
          return relationship.destinationEntity.map { $0.owner === self } ?? true
        }
    }
  }

  /// Base64 of a checksum over all entity hashes; equal for models with equal entities.
  ///
  /// ```swift
  /// let stage = NSLightweightMigrationStage([oldModel.versionChecksum, newModel.versionChecksum])
  /// ```
  public var versionChecksum: String { Self.checksum(entityVersionHashesByName) }

  /// Whether a store was saved with this configuration of the model, according to its metadata: the same
  /// entity names, with equal hashes. False for metadata without hashes.
  ///
  /// Recognizes the hashes of stores that versions of this package up to 0.2 saved, which differ from Core
  /// Data's for some models.
  ///
  /// ```swift
  /// let metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(
  ///   ofType: NSSQLiteStoreType, at: storeURL)
  /// if !model.isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata) {
  ///   print("The store is of another version and will be migrated.")
  /// }
  /// ```
  public func isConfiguration(
    withName configuration: String?, compatibleWithStoreMetadata metadata: [String: Any]
  ) -> Bool {
    guard let entities = entities(forConfigurationName: configuration),
      let stored = Self.versionHashes(in: metadata)
    else { return false }
    let mine = versionHashes(of: entities)
    return stored == mine || renewed(stored) == mine
  }

  /// Returns the version hashes of some entities by name.
  final func versionHashes(of entities: [NSEntityDescription]) -> [String: Data] {
    let all = entityVersionHashesByName
    var hashes: [String: Data] = [:]
    for entity in entities {
      if let name = entity.name { hashes[name] = all[name] }
    }
    return hashes
  }

  /// Returns `NSStoreModelVersionChecksumKey` for these hashes.
  static func checksum(_ hashes: [String: Data]) -> String {
    Data(VersionHash.checksum(hashes.mapValues { Array($0) })).base64EncodedString()
  }

  /// Returns `NSStoreModelVersionHashesDigest` for these hashes.
  package static func digest(_ hashes: [String: Data]) -> String {
    Data(VersionHash.digest(hashes.mapValues { Array($0) })).base64EncodedString()
  }
}

extension NSEntityDescription {
  /// Computes the hash from the entity and its ancestors.
  final func schemaHash() -> Data {
    if let frozen { return frozen.versionHash }
    if let owner, let name, let known = owner.entityVersionHashesByName[name] { return known }
    var line: [EntitySchema] = []
    var next: NSEntityDescription? = self
    while let entity = next {
      line.insert(EntitySchema(entity), at: 0)
      next = entity.superentity
    }
    return Data(VersionHash.of(line: line))
  }
}

extension NSPropertyDescription {
  /// Computes the hash of an attribute or relationship from its kind's traits, of any other property from the
  /// common ones.
  final func schemaHash() -> Data {
    switch self {
    case let attribute as NSAttributeDescription: Data(VersionHash.of(AttributeSchema(attribute)))
    case let relationship as NSRelationshipDescription:
      Data(VersionHash.of(RelationshipSchema(relationship), declaredBy: owner?.name ?? ""))
    default: Data(VersionHash.of(PropertyTraits(self)))
    }
  }
}
