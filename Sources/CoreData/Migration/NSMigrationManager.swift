import Foundation
import Synchronization

/// Migrates a store to another version of its model with a mapping model, object by object.
///
/// Two stacks work side by side: the source store is opened for reading only, and what its objects become is
/// saved to the destination store at the end, in one transaction. Whatever fails before leaves the source as
/// it was, and no file where there was none. Used by one thread at a time, but for
/// ``cancelMigrationWithError(_:)`` and what tells of the progress.
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
  /// The stacks, made when first asked for.
  private var _sides: (source: MigrationSide, destination: MigrationSide)?
  private var _mapping: NSMappingModel?
  final var associations = MigrationAssociations()
  /// What other threads may ask and set while a migration runs.
  final let state = Mutex(MigrationState())

  /// Creates a manager that migrates stores of one version of a model to another.
  public init(sourceModel: NSManagedObjectModel, destinationModel: NSManagedObjectModel) {
    _sourceModel = sourceModel
    _destinationModel = destinationModel
    super.init()
  }

  /// Whether a store may migrate by means of its own where it can: a SQLite store whose mapping was inferred
  /// then copies rows in SQL, without objects, policies or progress. True at first.
  ///
  /// ```swift
  /// let manager = NSMigrationManager(sourceModel: oldModel, destinationModel: newModel)
  /// manager.usesStoreSpecificMigrationManager = false  // object by object, with progress
  /// ```
  open var usesStoreSpecificMigrationManager = true

  /// Free information for policies.
  open var userInfo: [AnyHashable: Any]?

  /// The version that stores are migrated from.
  open var sourceModel: NSManagedObjectModel { _sourceModel }

  /// The version that stores are migrated to.
  open var destinationModel: NSManagedObjectModel { _destinationModel }

  /// The mapping model of the migration that runs; one without mappings if none does.
  open var mappingModel: NSMappingModel { _mapping ?? NSMappingModel() }

  // MARK: Migrating

  /// Migrates a store.
  ///
  /// A destination that is there already, with the destination model, gets the objects in addition to its
  /// own.
  ///
  /// - Parameters:
  ///   - sourceURL: The store, which stays as it is.
  ///   - mappings: How objects of the source model become objects of the destination model.
  ///   - dURL: Where the result goes.
  /// - Throws: A Cocoa error: 134110 for a mapping that does not fit the models or objects that do not pass
  ///   validation, 134111 for objects that violate a uniqueness constraint, 134150 and 134160 for a source or
  ///   destination store that cannot be used, 134170 for a policy class that is not there; or what a policy
  ///   throws, or the migration was cancelled with.
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

  /// Migrates a store, as the form with types' names does.
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

  /// Drops all associations and objects, so that the manager can be used for another mapping model.
  open func reset() {
    associations = MigrationAssociations()
    for side in [_sides?.source, _sides?.destination].compactMap({ $0 }) {
      side.context.performAndWait { side.context.reset() }
    }
  }

  /// Ends the running migration, or else the next one, with this error, before its next object. From any
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

  /// Context with the objects that are migrated.
  open var sourceContext: NSManagedObjectContext { sides.source.context }

  /// Context with the objects that they become.
  open var destinationContext: NSManagedObjectContext { sides.destination.context }

  /// The entity that a mapping maps from, as ``sourceContext`` has it: without a class of the program's.
  open func sourceEntity(for mEntity: NSEntityMapping) -> NSEntityDescription? {
    mEntity.sourceEntityName.flatMap { sides.source.model.entitiesByName[$0] }
  }

  /// The entity that a mapping maps to, as ``destinationContext`` has it: without a class of the program's.
  open func destinationEntity(for mEntity: NSEntityMapping) -> NSEntityDescription? {
    mEntity.destinationEntityName.flatMap { sides.destination.model.entitiesByName[$0] }
  }

  // MARK: Associations

  /// Notes that one object became the other.
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

  /// What objects have become by a mapping, in the order in which they were associated; nil for all of the
  /// mapping's.
  open func destinationInstances(
    forEntityMappingName mappingName: String, sourceInstances: [NSManagedObject]?
  ) -> [NSManagedObject] { associations.destinations(mapping: mappingName, of: sourceInstances) }

  /// What objects have come from by a mapping; nil for all of the mapping's.
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

  /// How much is done, from 0 to 1; 0 again when the migration has ended. From any thread.
  ///
  /// There is no key-value observing here: ask it from a timer, or override a policy.
  ///
  /// ```swift
  /// func report(_ manager: NSMigrationManager) -> String {
  ///   "\(Int(manager.migrationProgress * 100)) %"
  /// }
  /// ```
  open var migrationProgress: Float { state.withLock { $0.progress } }
}

/// State of a running migration that other threads read and set.
struct MigrationState {
  /// Share of the work that is done.
  var progress: Float = 0
  /// Place of the mapping in work.
  var position: Int?
  /// What the migration is to end with.
  var cancellation: (any Error)?
}

/// What is to be migrated where.
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

/// Which objects became which, by mapping.
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

  /// What objects have become by any mapping.
  func destinations(of sources: [NSManagedObject]) -> [NSManagedObject] {
    sources.flatMap { _bySource[$0] ?? [] }
  }
}
