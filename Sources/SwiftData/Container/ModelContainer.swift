import CoreData
import Synchronization

/// The stores of a schema's models; contexts read from it and save to it.
///
/// May be used from any thread. Keeps its stores open as long as it or a context of it lives.
public class ModelContainer: Equatable, @unchecked Sendable {
  // Unchecked: immutable but for `configurations`, which a lock guards, and the main context, which is the main
  // actor's.

  let core: ContainerCore
  private let _configurations: Mutex<Set<ModelConfiguration>>
  @MainActor private var _mainContext: ModelContext?

  init(_ core: ContainerCore) {
    self.core = core
    _configurations = Mutex(Set(core.configurations))
  }

  /// Creates a container and opens its stores, migrating them if need be.
  ///
  /// - Parameters:
  ///   - givenSchema: The schema.
  ///   - migrationPlan: How stores of other versions become ones of the schema; without it they are migrated if the change
  ///     says all.
  ///   - configurations: The stores; none for one in the default place.
  /// - Throws: `SwiftDataError`: `.loadIssueModelContainer` for a store that can't be opened or migrated, others for
  ///   configurations and plans that make no sense.
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

  /// Creates a container of model classes and all that their relationships lead to, and opens its stores.
  ///
  /// - Throws: As ``init(for:migrationPlan:configurations:)-(Schema,_,[ModelConfiguration])``.
  public convenience init(
    for forTypes: any PersistentModel.Type..., migrationPlan: (any SchemaMigrationPlan.Type)? = nil,
    configurations: ModelConfiguration...
  ) throws {
    try self.init(for: Schema(forTypes), migrationPlan: migrationPlan, configurations: configurations)
  }

  /// Creates a container over stores of the program's own, and others.
  ///
  /// - Throws: What making a store throws, and as
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

  /// Creates a container of model classes over stores of the program's own, and others.
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
  /// The stores. Setting has no effect on stores that are open.
  public var configurations: Set<ModelConfiguration> {
    get { _configurations.withLock { $0 } }
    set { _configurations.withLock { $0 = newValue } }
  }

  /// The context of the main actor, made when it is first asked for. Saves by itself at the end of a turn of the main
  /// queue, and takes over what other contexts save.
  @MainActor public var mainContext: ModelContext {
    if let _mainContext { return _mainContext }
    let context = ModelContext(core, self, isMain: true)
    _mainContext = context
    return context
  }

  /// Removes all models from the stores at once, without a save; errors are written to the standard error.
  public func deleteAllData() {
    do { try erase() } catch { Console.warn("deleteAllData() failed: \(error)") }
  }

  /// Removes all models from the stores at once, without a save.
  ///
  /// - Throws: What a store throws that can't be written.
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

  /// Posted when a store has been written: by this program or another one.
  public static let remoteChange = Notification.Name.NSPersistentStoreRemoteChange

  /// Whether both are the same.
  public static func == (lhs: ModelContainer, rhs: ModelContainer) -> Bool { lhs.core === rhs.core }
}
