import Foundation

extension NSManagedObjectModel {
  /// Merges all models found in `bundles`; nil for the main bundle and the resource bundles that the package
  /// manager places beside the program. Returns nil if there is no model, or if one of them cannot be read.
  ///
  /// Traps for different entities of the same name.
  ///
  /// ```swift
  /// guard let model = NSManagedObjectModel.mergedModel(from: [.main]) else { fatalError("no model") }
  /// let container = NSPersistentContainer(name: "Library", managedObjectModel: model)
  /// ```
  ///
  /// ```swift
  /// let metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(
  ///   ofType: NSSQLiteStoreType, at: storeURL)
  /// let oldModel = NSManagedObjectModel.mergedModel(from: nil, forStoreMetadata: metadata)
  /// ```
  public class func mergedModel(from bundles: [Bundle]?) -> NSManagedObjectModel? {
    let urls = ModelSearch.models(in: bundles)
    let models = urls.compactMap { NSManagedObjectModel(contentsOf: $0) }
    guard !models.isEmpty, models.count == urls.count else { return nil }
    return NSManagedObjectModel(byMerging: models)
  }

  /// Returns the model version in `bundles` with which a store was saved, according to its metadata. If no
  /// single version has its entities, merges several; nil if not all entities can be found.
  public class func mergedModel(
    from bundles: [Bundle]?, forStoreMetadata metadata: [String: Any]
  ) -> NSManagedObjectModel? {
    guard let hashes = versionHashes(in: metadata) else { return nil }
    var models: [NSManagedObjectModel] = []
    for url in ModelSearch.models(in: bundles).flatMap(ModelSearch.versions) {
      guard let model = NSManagedObjectModel(contentsOf: url) else { continue }
      if model.entityVersionHashesByName == model.renewed(hashes) { return model }
      models.append(model)
    }
    return NSManagedObjectModel(byMerging: models, forStoreMetadata: metadata)
  }

  /// Merges copies of `models`; nil for nil. Equal entities of the same name are merged; different ones trap.
  ///
  /// ```swift
  /// let model = NSManagedObjectModel(byMerging: [oldModel, newModel])
  /// ```
  public convenience init?(byMerging models: [NSManagedObjectModel]?) {
    guard let models else { return nil }
    self.init()
    var chosen: [String: (entity: NSEntityDescription, hash: Data)] = [:]
    var order: [NSEntityDescription] = []
    for model in models {
      for entity in model.entities {
        let name = entity.name ?? ""
        let hash = entity.versionHash
        if let known = chosen[name] {
          guard known.hash == hash else {
            programmerError(
              "can't merge models with two different entities named '\(name)'; pass one version of each model only"
            )
          }
          continue
        }
        chosen[name] = (entity, hash)
        order.append(entity)
      }
    }
    adoptCopy(of: models, entities: order)
  }

  /// Copies the model with which a store was saved, according to its metadata. If no single model has its
  /// entities, merges copies of several; nil if not all entities can be found.
  public convenience init?(byMerging models: [NSManagedObjectModel], forStoreMetadata metadata: [String: Any])
  {
    guard let hashes = Self.versionHashes(in: metadata) else { return nil }
    self.init()
    // A version with exactly these entities is the store's own, including requests and identifiers.
    if let version = models.first(where: { $0.entityVersionHashesByName == $0.renewed(hashes) }) {
      adoptCopy(of: [version], entities: version.entities)
      return
    }
    var chosen: [NSEntityDescription] = []
    var found: Set<String> = []
    var sources: [NSManagedObjectModel] = []
    for model in models {
      var used = false
      let hashes = model.renewed(hashes)
      for entity in model.entities {
        guard let name = entity.name, hashes[name] == entity.versionHash else { continue }
        used = true
        if found.insert(name).inserted { chosen.append(entity) }
      }
      if used { sources.append(model) }
    }
    guard found.count == hashes.count else { return nil }
    adoptCopy(of: sources, entities: chosen)
  }

  /// Returns the entity hashes in a store's metadata.
  static func versionHashes(in metadata: [String: Any]) -> [String: Data]? {
    guard let stored = metadata["NSStoreModelVersionHashes"] else { return nil }
    if let hashes = stored as? [String: Data] { return hashes }
    guard let hashes = stored as? [String: Any] else { return nil }
    var result: [String: Data] = [:]
    for (name, hash) in hashes {
      guard let data = hash as? Data ?? (hash as? NSData).map({ Data(referencing: $0) }) else { return nil }
      result[name] = data
    }
    return result
  }
}
