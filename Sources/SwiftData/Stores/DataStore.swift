/// What a custom store needs to know: its name and what of the schema it keeps.
public protocol DataStoreConfiguration: Hashable {
  /// The store that is made of it.
  associatedtype Store: DataStore where Self == Self.Store.Configuration
  /// Name of the configuration.
  var name: String { get }
  /// The entities that the store keeps; the container sets it to its own schema where it is nil.
  var schema: Schema? { get set }
  /// Checks that a store can be made of it.
  ///
  /// - Throws: What making the container is to throw.
  func validate() throws
}

extension DataStoreConfiguration {
  /// Checks nothing.
  public func validate() throws {}
}

/// A store of a program's own: a folder of files, a service, another database.
///
/// Models come and go as snapshots. Called where the context that asks is used, one call at a time for each context.
public protocol DataStore: AnyObject {
  /// What the store is made of.
  associatedtype Configuration: DataStoreConfiguration where Self == Self.Configuration.Store
  /// What the store keeps of a model.
  associatedtype Snapshot: DataStoreSnapshot

  /// Creates the store.
  init(_ configuration: Configuration, migrationPlan: (any SchemaMigrationPlan.Type)?) throws

  /// What the store was made of.
  var configuration: Configuration { get }
  /// Tells the store from every other; part of the identities of its models.
  var identifier: String { get }
  /// The entities that the store keeps.
  var schema: Schema { get }

  /// Finds models.
  ///
  /// - Throws: ``DataStoreError/preferInMemoryFilter`` or ``DataStoreError/preferInMemorySort`` to be asked again without
  ///   predicate or order, which the context then applies itself; anything else reaches the caller.
  func fetch<T>(
    _ request: DataStoreFetchRequest<T>
  ) throws -> DataStoreFetchResult<T, Snapshot> where T: PersistentModel
  /// Counts models.
  func fetchCount<T>(_ request: DataStoreFetchRequest<T>) throws -> Int where T: PersistentModel
  /// Finds the identities of models.
  func fetchIdentifiers<T>(
    _ request: DataStoreFetchRequest<T>
  ) throws -> [PersistentIdentifier] where T: PersistentModel
  /// Keeps what has changed.
  func save(
    _ request: DataStoreSaveChangesRequest<Snapshot>
  ) throws -> DataStoreSaveChangesResult<Snapshot>
  /// Removes everything.
  func erase() throws
  /// A context begins.
  func initializeState(for editingState: EditingState)
  /// A context ends.
  func invalidateState(for editingState: EditingState)
  /// What the store has at hand of models.
  func cachedSnapshots(
    for persistentIdentifiers: [PersistentIdentifier], editingState: EditingState
  ) throws -> [PersistentIdentifier: Snapshot]
}

extension DataStore {
  /// Counts what a fetch finds.
  public func fetchCount<T>(_ request: DataStoreFetchRequest<T>) throws -> Int where T: PersistentModel {
    try fetch(request).fetchedSnapshots.count
  }

  /// The identities of what a fetch finds.
  public func fetchIdentifiers<T>(
    _ request: DataStoreFetchRequest<T>
  ) throws -> [PersistentIdentifier] where T: PersistentModel {
    try fetch(request).fetchedSnapshots.map(\.persistentIdentifier)
  }

  /// Throws ``DataStoreError/unsupportedFeature``.
  public func erase() throws { throw DataStoreError.unsupportedFeature }
  /// Does nothing.
  public func initializeState(for editingState: EditingState) {}
  /// Does nothing.
  public func invalidateState(for editingState: EditingState) {}

  /// Nothing.
  public func cachedSnapshots(
    for persistentIdentifiers: [PersistentIdentifier], editingState: EditingState
  ) throws -> [PersistentIdentifier: Snapshot] { [:] }
}

/// A custom store that deletes all models which meet a predicate at once.
public protocol DataStoreBatching: DataStore {
  /// Deletes models.
  func delete<T>(_ request: DataStoreBatchDeleteRequest<T>) throws where T: PersistentModel
}

/// A custom store that keeps a history.
public protocol HistoryProviding {
  /// Its transactions.
  associatedtype HistoryType: HistoryTransaction
  /// Its transactions.
  static var historyType: HistoryType.Type { get }
  /// Finds transactions.
  func fetchHistory(_ descriptor: HistoryDescriptor<HistoryType>) throws -> [HistoryType]
  /// Deletes transactions.
  func deleteHistory(_ descriptor: HistoryDescriptor<HistoryType>) throws
}

extension HistoryProviding {
  /// Its transactions.
  public static var historyType: HistoryType.Type { HistoryType.self }
}

/// What a custom store can't do.
public enum DataStoreError: Error, Hashable, Sendable {
  /// The predicate makes no sense.
  case invalidPredicate
  /// The context is to filter.
  case preferInMemoryFilter
  /// The context is to sort.
  case preferInMemorySort
  /// The store doesn't do that.
  case unsupportedFeature
}
