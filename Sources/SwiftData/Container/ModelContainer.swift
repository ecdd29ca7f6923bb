import CoreData
import Synchronization

/// The stores of a schema's models; contexts read from it and save to it.
///
/// May be used from any thread. Keeps its stores open as long as it or one of its contexts exists.
public class ModelContainer: Equatable, @unchecked Sendable {
  // Unchecked: immutable except `configurations`, which a lock guards, and the main context, which is
  // isolated to the main actor.

  let core: ContainerCore
  private let _configurations: Mutex<Set<ModelConfiguration>>
  @MainActor private var _mainContext: ModelContext?

  init(_ core: ContainerCore) {
    self.core = core
    _configurations = Mutex(Set(core.configurations))
  }

  /// Creates a container and opens its stores, migrating them if necessary.
  ///
  /// - Parameters:
  ///   - givenSchema: The schema.
  ///   - migrationPlan: The migration of stores of other versions; without it, they are migrated if the
  ///     mapping can be inferred.
  ///   - configurations: The stores; empty for one at the default location.
  /// - Throws: `SwiftDataError`: `.loadIssueModelContainer` for a store that can't be opened or migrated,
  ///   other errors for invalid configurations and plans.
  public init(
    for givenSchema: Schema, migrationPlan: (any SchemaMigrationPlan.Type)? = nil,
    configurations: [ModelConfiguration]
  ) throws {
    let configurations = configurations.isEmpty ? [ModelConfiguration()] : configurations
    core = try ContainerCore(givenSchema, migrationPlan, configurations)
    _configurations = Mutex(Set(configurations))
  }

  /// Creates a container and opens its stores.
  ///
  /// - Throws: As ``init(for:migrationPlan:configurations:)-(Schema,_,[ModelConfiguration])``.
  public convenience init(
    for givenSchema: Schema, migrationPlan: (any SchemaMigrationPlan.Type)? = nil,
    configurations: ModelConfiguration...
  ) throws {
    try self.init(for: givenSchema, migrationPlan: migrationPlan, configurations: configurations)
  }

  /// Creates a container for model classes and all classes reachable through their relationships, and opens
  /// its stores.
  ///
  /// - Throws: As ``init(for:migrationPlan:configurations:)-(Schema,_,[ModelConfiguration])``.
  public convenience init(
    for forTypes: any PersistentModel.Type..., migrationPlan: (any SchemaMigrationPlan.Type)? = nil,
    configurations: ModelConfiguration...
  ) throws {
    try self.init(for: Schema(forTypes), migrationPlan: migrationPlan, configurations: configurations)
  }

  /// Creates a container with custom stores and others.
  ///
  /// - Throws: Errors of creating a store, and as
  ///   ``init(for:migrationPlan:configurations:)-(Schema,_,[ModelConfiguration])``.
  @_disfavoredOverload
  public init(for givenSchema: Schema, configurations: [any DataStoreConfiguration]) throws {
    func custom<Configuration: DataStoreConfiguration>(_ configuration: Configuration) throws -> CustomStore {
      try TypedCustomStore<Configuration.Store>(configuration, givenSchema, nil)
    }
    let own = configurations.compactMap { $0 as? ModelConfiguration }
    let stores = try configurations.filter { !($0 is ModelConfiguration) }.map { try custom($0) }
    core = try ContainerCore(givenSchema, nil, own, customStores: stores)
    _configurations = Mutex(Set(own))
  }

  /// Creates a container for model classes with custom stores and others.
  ///
  /// - Throws: As ``init(for:configurations:)-(Schema,_)``.
  @_disfavoredOverload
  public convenience init(
    for forTypes: any PersistentModel.Type..., configurations: any DataStoreConfiguration...
  ) throws {
    try self.init(for: Schema(forTypes), configurations: configurations)
  }

  /// The schema.
  public var schema: Schema { core.schema }
  /// The migration plan.
  public var migrationPlan: (any SchemaMigrationPlan.Type)? { core.migrationPlan }
  /// The stores. Setting it has no effect on open stores.
  public var configurations: Set<ModelConfiguration> {
    get { _configurations.withLock { $0 } }
    set { _configurations.withLock { $0 = newValue } }
  }

  /// What the container's contexts do, unless they set a policy of their own, if a store can't be read where
  /// no error can be thrown; `.trap` by default. Not in Apple's SwiftData.
  public var readFailurePolicy: ReadFailurePolicy {
    get { core.coordinator.readFailurePolicy }
    set { core.coordinator.readFailurePolicy = newValue }
  }

  /// Drops the rows that are cached for the contexts. For load tests.
  package func emptyRowCache() { core.coordinator.emptyRowCache() }

  /// The main actor's context, created on demand. Saves automatically at the end of a turn of the main queue,
  /// and merges the saves of other contexts.
  @MainActor public var mainContext: ModelContext {
    if let _mainContext { return _mainContext }
    let context = ModelContext(core, self, isMain: true)
    _mainContext = context
    return context
  }

  /// Deletes all models from the stores immediately, without a save; logs errors to standard error.
  public func deleteAllData() {
    do { try erase() } catch { Console.warn("deleteAllData() failed: \(error)") }
  }

  /// Deletes all models from the stores immediately, without a save.
  ///
  /// - Throws: An error of a store that can't be written.
  public func erase() throws {
    try core.erase()
  }

  /// UUID of the store of a configuration; nil for an unknown name.
  public func storeIdentifier(forConfigurationNamed name: String) -> String? {
    core.coordinator.persistentStores.first { $0.configurationName == name }?.identifier
  }

  /// Name of the configuration of a store; nil for an unknown store.
  public func configurationName(forStoreIdentifier identifier: String) -> String? {
    core.coordinator.persistentStores.first { $0.identifier == identifier }?.configurationName
  }

  /// Posted when a store has been written, by this program or another.
  public static let remoteChange = Notification.Name.NSPersistentStoreRemoteChange

  /// Whether both are the same container.
  public static func == (lhs: ModelContainer, rhs: ModelContainer) -> Bool { lhs.core === rhs.core }
}
