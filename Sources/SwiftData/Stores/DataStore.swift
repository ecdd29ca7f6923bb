/// The configuration of a custom store: its name and its part of the schema.
public protocol DataStoreConfiguration: Hashable {
  /// The store created from it.
  associatedtype Store: DataStore where Self == Self.Store.Configuration
  /// Name of the configuration.
  var name: String { get }
  /// The entities in the store; the container replaces nil by its own schema.
  var schema: Schema? { get set }
  /// Validates the configuration.
  ///
  /// - Throws: The error with which creating the container fails.
  func validate() throws
}

extension DataStoreConfiguration {
  /// Checks nothing.
  public func validate() throws {}
}

/// A custom store: a directory of files, a service, another database.
///
/// Models are exchanged as snapshots. Called where the requesting context is used, one call at a time per
/// context.
public protocol DataStore: AnyObject {
  /// The type of the configuration.
  associatedtype Configuration: DataStoreConfiguration where Self == Self.Configuration.Store
  /// The type of snapshots.
  associatedtype Snapshot: DataStoreSnapshot

  /// Creates the store.
  init(_ configuration: Configuration, migrationPlan: (any SchemaMigrationPlan.Type)?) throws

  /// The store's configuration.
  var configuration: Configuration { get }
  /// Identifies the store; part of the identities of its models.
  var identifier: String { get }
  /// The entities in the store.
  var schema: Schema { get }

  /// Fetches models.
  ///
  /// - Throws: ``DataStoreError/preferInMemoryFilter`` or ``DataStoreError/preferInMemorySort`` to receive
  ///   the request again without predicate or order, which the context then applies itself; any other error
  ///   reaches the caller.
  func fetch<T>(
    _ request: DataStoreFetchRequest<T>
  ) throws -> DataStoreFetchResult<T, Snapshot> where T: PersistentModel
  /// Counts models.
  func fetchCount<T>(_ request: DataStoreFetchRequest<T>) throws -> Int where T: PersistentModel
  /// Fetches the identities of models.
  func fetchIdentifiers<T>(
    _ request: DataStoreFetchRequest<T>
  ) throws -> [PersistentIdentifier] where T: PersistentModel
  /// Saves changes.
  func save(
    _ request: DataStoreSaveChangesRequest<Snapshot>
  ) throws -> DataStoreSaveChangesResult<Snapshot>
  /// Removes everything.
  func erase() throws
  /// A context begins.
  func initializeState(for editingState: EditingState)
  /// A context ends.
  func invalidateState(for editingState: EditingState)
  /// Returns cached snapshots of models.
  func cachedSnapshots(
    for persistentIdentifiers: [PersistentIdentifier], editingState: EditingState
  ) throws -> [PersistentIdentifier: Snapshot]
}

extension DataStore {
  /// Counts the results of a fetch.
  public func fetchCount<T>(_ request: DataStoreFetchRequest<T>) throws -> Int where T: PersistentModel {
    try fetch(request).fetchedSnapshots.count
  }

  /// Returns the identities of the results of a fetch.
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

  /// Returns no snapshots.
  public func cachedSnapshots(
    for persistentIdentifiers: [PersistentIdentifier], editingState: EditingState
  ) throws -> [PersistentIdentifier: Snapshot] { [:] }
}

/// A custom store that deletes all models which satisfy a predicate in one operation.
public protocol DataStoreBatching: DataStore {
  /// Deletes models.
  func delete<T>(_ request: DataStoreBatchDeleteRequest<T>) throws where T: PersistentModel
}

/// A custom store with a history.
public protocol HistoryProviding {
  /// Its transactions.
  associatedtype HistoryType: HistoryTransaction
  /// Its transactions.
  static var historyType: HistoryType.Type { get }
  /// Fetches transactions.
  func fetchHistory(_ descriptor: HistoryDescriptor<HistoryType>) throws -> [HistoryType]
  /// Deletes transactions.
  func deleteHistory(_ descriptor: HistoryDescriptor<HistoryType>) throws
}

extension HistoryProviding {
  /// Its transactions.
  public static var historyType: HistoryType.Type { HistoryType.self }
}

/// An operation that a custom store doesn't support.
public enum DataStoreError: Error, Hashable, Sendable {
  /// The predicate is invalid.
  case invalidPredicate
  /// The context must filter.
  case preferInMemoryFilter
  /// The context must sort.
  case preferInMemorySort
  /// The store doesn't support the operation.
  case unsupportedFeature
}
