import Foundation
import Synchronization

/// Migrates a store to another version of its model with a mapping model, object by object.
///
/// Uses two stacks: opens the source store read-only, and saves the destination objects at the end, in one
/// transaction. An earlier failure leaves the source unchanged, and no new file. For one thread at a time,
/// except ``cancelMigrationWithError(_:)`` and the progress properties.
///
/// ```swift
/// let mapping = try NSMappingModel.inferredMappingModel(
///   forSourceModel: oldModel, destinationModel: newModel)
/// let manager = NSMigrationManager(sourceModel: oldModel, destinationModel: newModel)
/// try manager.migrateStore(
///   from: storeURL, type: .sqlite, mapping: mapping, to: backupURL, type: .sqlite)
/// ```
open class NSMigrationManager: NSObject {
  private let _sourceModel: NSManagedObjectModel
  private let _destinationModel: NSManagedObjectModel
  /// The stacks, created on demand.
  private var _sides: (source: MigrationSide, destination: MigrationSide)?
  private var _mapping: NSMappingModel?
  final var associations = MigrationAssociations()
  /// State that other threads access while a migration runs.
  final let state = Mutex(MigrationState())

  /// Creates a manager that migrates stores from one model version to another.
  public init(sourceModel: NSManagedObjectModel, destinationModel: NSManagedObjectModel) {
    _sourceModel = sourceModel
    _destinationModel = destinationModel
    super.init()
  }

  /// Whether a store may be migrated with its own means if possible: a SQLite store with an inferred mapping
  /// then copies rows in SQL, without objects, policies or progress. True by default.
  ///
  /// ```swift
  /// let manager = NSMigrationManager(sourceModel: oldModel, destinationModel: newModel)
  /// manager.usesStoreSpecificMigrationManager = false  // object by object, with progress
  /// ```
  open var usesStoreSpecificMigrationManager = true

  /// Arbitrary information for policies.
  open var userInfo: [AnyHashable: Any]?

  /// The model version from which stores are migrated.
  open var sourceModel: NSManagedObjectModel { _sourceModel }

  /// The model version to which stores are migrated.
  open var destinationModel: NSManagedObjectModel { _destinationModel }

  /// The mapping model of the running migration; an empty one otherwise.
  open var mappingModel: NSMappingModel { _mapping ?? NSMappingModel() }

  // MARK: Migrating

  /// Migrates a store.
  ///
  /// An existing destination store with the destination model receives the objects in addition to its own.
  ///
  /// - Parameters:
  ///   - sourceURL: The source store, which remains unchanged.
  ///   - mappings: The mapping from the source to the destination model.
  ///   - dURL: The destination store.
  /// - Throws: A Cocoa error: 134110 for a mapping that does not match the models or objects that fail
  ///   validation, 134111 for objects that violate a uniqueness constraint, 134150 and 134160 for an unusable
  ///   source or destination store, 134170 for a missing policy class; an error thrown by a policy, or the
  ///   error of a cancellation.
  open func migrateStore(
    from sourceURL: URL, sourceType sStoreType: String, options sOptions: [AnyHashable: Any]? = nil,
    with mappings: NSMappingModel?, toDestinationURL dURL: URL, destinationType dStoreType: String,
    destinationOptions dOptions: [AnyHashable: Any]? = nil
  ) throws {
    guard let mappings else {
      throw CocoaError.coreData(
        NSMigrationMissingMappingModelError,
        "There is no mapping model to migrate the store at \(sourceURL.path) with. Read one, or infer it.")
    }
    guard _mapping == nil else {
      throw CocoaError.coreData(
        NSMigrationError, "This manager is migrating a store already. Use another one, or wait.")
    }
    _mapping = mappings
    defer {
      _mapping = nil
      state.withLock { $0 = MigrationState() }
    }
    try run(
      MigrationJob(
        source: MigrationJob.End(url: sourceURL, type: sStoreType, options: sOptions),
        destination: MigrationJob.End(url: dURL, type: dStoreType, options: dOptions), mapping: mappings))
  }

  /// Migrates a store, like the overload with type names.
  open func migrateStore(
    from sourceURL: URL, type sourceType: NSPersistentStore.StoreType,
    options sourceOptions: [AnyHashable: Any]? = nil, mapping: NSMappingModel, to destinationURL: URL,
    type destinationType: NSPersistentStore.StoreType, options destinationOptions: [AnyHashable: Any]? = nil
  ) throws {
    try migrateStore(
      from: sourceURL, sourceType: sourceType.rawValue, options: sourceOptions, with: mapping,
      toDestinationURL: destinationURL, destinationType: destinationType.rawValue,
      destinationOptions: destinationOptions)
  }

  /// Drops all associations and objects, so that the manager can be reused with another mapping model.
  open func reset() {
    associations = MigrationAssociations()
    for side in [_sides?.source, _sides?.destination].compactMap({ $0 }) {
      side.context.performAndWait { side.context.reset() }
    }
  }

  /// Cancels the running migration, or else the next one, with this error, before its next object. Any
  /// thread.
  ///
  /// ```swift
  /// func cancel(_ manager: NSMigrationManager) {
  ///   manager.cancelMigrationWithError(CocoaError(.userCancelled))
  /// }
  /// ```
  open func cancelMigrationWithError(_ error: any Error) { state.withLock { $0.cancellation = error } }

  // MARK: Contexts

  final var sides: (source: MigrationSide, destination: MigrationSide) {
    if let _sides { return _sides }
    let made = (
      source: MigrationSide(_sourceModel, name: "source"),
      destination: MigrationSide(_destinationModel, name: "destination")
    )
    _sides = made
    return made
  }

  /// The context of the source objects.
  open var sourceContext: NSManagedObjectContext { sides.source.context }

  /// The context of the destination objects.
  open var destinationContext: NSManagedObjectContext { sides.destination.context }

  /// Returns the source entity of a mapping in ``sourceContext``, without the program's class.
  open func sourceEntity(for mEntity: NSEntityMapping) -> NSEntityDescription? {
    mEntity.sourceEntityName.flatMap { sides.source.model.entitiesByName[$0] }
  }

  /// Returns the destination entity of a mapping in ``destinationContext``, without the program's class.
  open func destinationEntity(for mEntity: NSEntityMapping) -> NSEntityDescription? {
    mEntity.destinationEntityName.flatMap { sides.destination.model.entitiesByName[$0] }
  }

  // MARK: Associations

  /// Associates a source object with its destination object.
  ///
  /// ```swift
  /// func copy(_ source: NSManagedObject, by mapping: NSEntityMapping, manager: NSMigrationManager) {
  ///   guard let entity = manager.destinationEntity(for: mapping) else { return }
  ///   let copy = NSManagedObject(entity: entity, insertInto: manager.destinationContext)
  ///   copy.setValue(source.value(forKey: "title"), forKey: "title")
  ///   manager.associate(sourceInstance: source, withDestinationInstance: copy, for: mapping)
  /// }
  /// ```
  open func associate(
    sourceInstance: NSManagedObject, withDestinationInstance destinationInstance: NSManagedObject,
    for entityMapping: NSEntityMapping
  ) {
    associations.add(sourceInstance, destinationInstance, mapping: entityMapping.name)
  }

  /// Returns the destination objects of a mapping for source objects, in the order of association; nil for
  /// all of the mapping's.
  open func destinationInstances(
    forEntityMappingName mappingName: String, sourceInstances: [NSManagedObject]?
  ) -> [NSManagedObject] { associations.destinations(mapping: mappingName, of: sourceInstances) }

  /// Returns the source objects of a mapping for destination objects; nil for all of the mapping's.
  open func sourceInstances(
    forEntityMappingName mappingName: String, destinationInstances: [NSManagedObject]?
  ) -> [NSManagedObject] { associations.sources(mapping: mappingName, of: destinationInstances) }

  // MARK: Progress

  /// The current mapping; an empty one if no migration runs.
  open var currentEntityMapping: NSEntityMapping {
    guard let position = state.withLock({ $0.position }), let mappings = _mapping?.entityMappings,
      mappings.indices.contains(position)
    else { return NSEntityMapping() }
    return mappings[position]
  }

  /// Progress from 0 to 1; 0 again after the migration. Any thread.
  ///
  /// Key-value observing is not available: poll it from a timer, or override a policy.
  ///
  /// ```swift
  /// func report(_ manager: NSMigrationManager) -> String {
  ///   "\(Int(manager.migrationProgress * 100)) %"
  /// }
  /// ```
  open var migrationProgress: Float { state.withLock { $0.progress } }
}

/// State of a running migration that other threads access.
struct MigrationState {
  /// Fraction of completed work.
  var progress: Float = 0
  /// Index of the current mapping.
  var position: Int?
  /// The error of a cancellation.
  var cancellation: (any Error)?
}

/// The source and destination of a migration.
package struct MigrationJob {
  package struct End {
    package let url: URL
    package let type: String
    package let options: [AnyHashable: Any]?
  }

  package let source: End
  package let destination: End
  package let mapping: NSMappingModel
}

/// One of the two stacks of a migration: a model without classes, its coordinator, and a context.
final class MigrationSide {
  let model: NSManagedObjectModel
  let coordinator: NSPersistentStoreCoordinator
  let context: NSManagedObjectContext

  init(_ original: NSManagedObjectModel, name: String) {
    model = original.copy() as! NSManagedObjectModel
    for entity in model.entities { entity.managedObjectClassName = nil }
    coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = coordinator
    context.name = "migration \(name)"
    context.undoManager = nil
  }
}

/// Associations of source and destination objects, by mapping.
struct MigrationAssociations {
  private struct Mapping {
    var destinations: [NSManagedObject] = []
    var sources: [NSManagedObject] = []
    var known: Set<NSManagedObject> = []
    var bySource: [NSManagedObject: [NSManagedObject]] = [:]
    var byDestination: [NSManagedObject: [NSManagedObject]] = [:]
  }

  private var _mappings: [String: Mapping] = [:]
  private var _bySource: [NSManagedObject: [NSManagedObject]] = [:]

  mutating func add(_ source: NSManagedObject, _ destination: NSManagedObject, mapping name: String) {
    var mapping = _mappings.removeValue(forKey: name) ?? Mapping()
    if mapping.known.insert(destination).inserted { mapping.destinations.append(destination) }
    if mapping.known.insert(source).inserted { mapping.sources.append(source) }
    mapping.bySource[source, default: []].append(destination)
    mapping.byDestination[destination, default: []].append(source)
    _mappings[name] = mapping
    _bySource[source, default: []].append(destination)
  }

  func destinations(mapping name: String, of sources: [NSManagedObject]?) -> [NSManagedObject] {
    guard let mapping = _mappings[name] else { return [] }
    guard let sources else { return mapping.destinations }
    return sources.flatMap { mapping.bySource[$0] ?? [] }
  }

  func sources(mapping name: String, of destinations: [NSManagedObject]?) -> [NSManagedObject] {
    guard let mapping = _mappings[name] else { return [] }
    guard let destinations else { return mapping.sources }
    return destinations.flatMap { mapping.byDestination[$0] ?? [] }
  }

  /// The destination objects of each source object, of any mapping.
  var all: [NSManagedObject: [NSManagedObject]] { _bySource }

  /// Returns the destination objects of any mapping.
  func destinations(of sources: [NSManagedObject]) -> [NSManagedObject] {
    sources.flatMap { _bySource[$0] ?? [] }
  }
}
