import CoreData
import Foundation

/// Migrates a store to the newest version, one version at a time.
struct IterativeMigrator {
  let catalogue: ModelCatalogue

  enum Failure: Error {
    case unknownVersion
  }

  /// - Returns: The names of the versions that the store was migrated to.
  func migrate(_ url: URL) throws -> [String] {
    var path: [String] = []
    let metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(
      ofType: NSSQLiteStoreType, at: url)
    guard let stored = catalogue.version(ofStoreWith: metadata) else { throw Failure.unknownVersion }
    path.append(stored.name)
    var model = stored.model
    while let next = catalogue.version(after: model) {
      try _step(url, from: model, to: next.model)
      path.append(next.name)
      // A copy, as a cache might return it: finding it in the list of versions requires equality.
      model = next.model.copy() as! NSManagedObjectModel
    }
    return path
  }

  private func _step(_ url: URL, from old: NSManagedObjectModel, to new: NSManagedObjectModel) throws {
    let directory = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: directory) }
    let destination = directory.appendingPathComponent(url.lastPathComponent)
    let mapping = try Mappings.mapping(from: old, to: new)
    try NSMigrationManager(sourceModel: old, destinationModel: new).migrateStore(
      from: url, sourceType: NSSQLiteStoreType, with: mapping, toDestinationURL: destination,
      destinationType: NSSQLiteStoreType)
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: new)
    try coordinator.replacePersistentStore(
      at: url, withPersistentStoreFrom: destination, ofType: NSSQLiteStoreType)
    try coordinator.destroyPersistentStore(at: destination, ofType: NSSQLiteStoreType)
  }
}

/// Mapping models: compiled ones from the bundle, otherwise inferred, with a policy where values must be
/// computed.
enum Mappings {
  static func mapping(from old: NSManagedObjectModel, to new: NSManagedObjectModel) throws -> NSMappingModel {
    if let mapping = NSMappingModel(from: [.module], forSourceModel: old, destinationModel: new) {
      return mapping
    }
    let mapping = try NSMappingModel.inferredMappingModel(forSourceModel: old, destinationModel: new)
    if let tag = old.entitiesByName["Tag"], tag.attributesByName["name"] != nil,
      new.entitiesByName["Tag"]?.attributesByName["key"] != nil
    {
      _use(TagKeyPolicy.self, for: "Tag", in: mapping)
    }
    return mapping
  }

  private static func _use(
    _ policy: NSEntityMigrationPolicy.Type, for entity: String, in mapping: NSMappingModel
  ) {
    for entityMapping in mapping.entityMappings where entityMapping.destinationEntityName == entity {
      entityMapping.mappingType = .customEntityMappingType
      entityMapping.entityMigrationPolicyClassName = NSStringFromClass(policy)
    }
  }
}

/// Splits "heading: subtitle"; named by Journal5to6.xcmappingmodel.
final class TitleSplittingPolicy: NSEntityMigrationPolicy {
  override func createDestinationInstances(
    forSource sInstance: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager
  ) throws {
    try super.createDestinationInstances(forSource: sInstance, in: mapping, manager: manager)
    let made = manager.destinationInstances(forEntityMappingName: mapping.name, sourceInstances: [sInstance])
    let parts = (sInstance.value(forKey: "title") as? String ?? "").components(separatedBy: ": ")
    for note in made {
      note.setValue(parts.first, forKey: "heading")
      note.setValue(parts.count > 1 ? parts[1] : nil, forKey: "subtitle")
    }
  }
}

/// Derives keys from the names of tags.
final class TagKeyPolicy: NSEntityMigrationPolicy {
  override func createDestinationInstances(
    forSource sInstance: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager
  ) throws {
    let tag = NSEntityDescription.insertNewObject(
      forEntityName: mapping.destinationEntityName!, into: manager.destinationContext)
    tag.setValue((sInstance.value(forKey: "name") as? String)?.lowercased(), forKey: "key")
    manager.associate(sourceInstance: sInstance, withDestinationInstance: tag, for: mapping)
  }
}
