import CoreData

/// A type-erased custom store, as a context uses it.
///
/// Used where the requesting context is used.
class CustomStore {
  /// The engine's side, with the objects' values.
  let bridge: SnapshotTable
  let name: String
  let identifier: String
  let entities: Set<String>

  init(name: String, identifier: String, entities: Set<String>) {
    self.name = name
    self.identifier = identifier
    self.entities = entities
    bridge = SnapshotTable()
  }

  func fetch<T: PersistentModel>(
    _ descriptor: FetchDescriptor<T>, _ state: EditingState
  ) throws -> (found: [SnapshotValues], related: [SnapshotValues]) { fatalError("overridden") }

  func count<T: PersistentModel>(_ descriptor: FetchDescriptor<T>, _ state: EditingState) throws -> Int {
    fatalError("overridden")
  }

  func identifiers<T: PersistentModel>(
    _ descriptor: FetchDescriptor<T>, _ state: EditingState
  ) throws -> [PersistentIdentifier] { fatalError("overridden") }

  /// - Returns: False for a store that doesn't delete in batches.
  func delete<T: PersistentModel>(
    _ type: T.Type, _ predicate: Predicate<T>?, _ includeSubclasses: Bool, _ state: EditingState
  ) throws -> Bool { fatalError("overridden") }

  func save(
    inserted: [any BackingData], updated: [any BackingData], deleted: [any BackingData], _ state: EditingState
  ) throws -> (remapped: [PersistentIdentifier: PersistentIdentifier], changed: [SnapshotValues]) {
    fatalError("overridden")
  }

  func history<T: HistoryTransaction>(_ descriptor: HistoryDescriptor<T>) throws -> [T]? { nil }
  func deleteHistory<T: HistoryTransaction>(_ descriptor: HistoryDescriptor<T>) throws -> Bool { false }
  func erase() throws {}
  func begin(_ state: EditingState) {}
  func end(_ state: EditingState) {}
}

/// A custom store with its types.
final class TypedCustomStore<Store: DataStore>: CustomStore {
  private let _store: Store

  /// - Throws: Errors of the configuration's validation and the store's initializer.
  init(
    _ configuration: Store.Configuration, _ schema: Schema, _ plan: (any SchemaMigrationPlan.Type)?
  ) throws {
    var configuration = configuration
    if configuration.schema == nil { configuration.schema = schema }
    try configuration.validate()
    _store = try Store(configuration, migrationPlan: plan)
    super.init(
      name: configuration.name, identifier: _store.identifier,
      entities: Set((configuration.schema ?? schema).entitiesByName.keys))
  }

  override func fetch<T: PersistentModel>(
    _ descriptor: FetchDescriptor<T>, _ state: EditingState
  ) throws -> (found: [SnapshotValues], related: [SnapshotValues]) {
    let result = try _store.fetch(DataStoreFetchRequest(descriptor: descriptor, editingState: state))
    return (
      try result.fetchedSnapshots.map { try SnapshotValues($0) },
      try result.relatedSnapshots.values.map { try SnapshotValues($0) }
    )
  }

  override func count<T: PersistentModel>(
    _ descriptor: FetchDescriptor<T>, _ state: EditingState
  ) throws -> Int {
    try _store.fetchCount(DataStoreFetchRequest(descriptor: descriptor, editingState: state))
  }

  override func identifiers<T: PersistentModel>(
    _ descriptor: FetchDescriptor<T>, _ state: EditingState
  ) throws -> [PersistentIdentifier] {
    try _store.fetchIdentifiers(DataStoreFetchRequest(descriptor: descriptor, editingState: state))
  }

  override func delete<T: PersistentModel>(
    _ type: T.Type, _ predicate: Predicate<T>?, _ includeSubclasses: Bool, _ state: EditingState
  ) throws -> Bool {
    guard let batching = _store as? any DataStoreBatching else { return false }
    try batching.delete(
      DataStoreBatchDeleteRequest<T>(
        editingState: state, predicate: predicate, includeSubclasses: includeSubclasses))
    return true
  }

  override func save(
    inserted: [any BackingData], updated: [any BackingData], deleted: [any BackingData], _ state: EditingState
  ) throws -> (remapped: [PersistentIdentifier: PersistentIdentifier], changed: [SnapshotValues]) {
    var related: [PersistentIdentifier: any BackingData] = [:]
    for data in inserted + updated + deleted {
      if let identifier = data.persistentModelID { related[identifier] = data }
    }
    func snapshots(_ datas: [any BackingData]) -> [Store.Snapshot] {
      datas.map { Store.Snapshot(from: $0, relatedBackingDatas: &related) }
    }
    let result = try _store.save(
      DataStoreSaveChangesRequest(
        editingState: state, inserted: snapshots(inserted), updated: snapshots(updated),
        deleted: snapshots(deleted)))
    return (
      result.remappedIdentifiers, try result.snapshotsToReregister.values.map { try SnapshotValues($0) }
    )
  }

  override func history<T: HistoryTransaction>(_ descriptor: HistoryDescriptor<T>) throws -> [T]? {
    guard let provider = _store as? any HistoryProviding else { return nil }
    func open<Provider: HistoryProviding>(_ provider: Provider) throws -> [T]? {
      guard let descriptor = descriptor as? HistoryDescriptor<Provider.HistoryType> else { return nil }
      return try provider.fetchHistory(descriptor) as? [T]
    }
    return try open(provider)
  }

  override func deleteHistory<T: HistoryTransaction>(_ descriptor: HistoryDescriptor<T>) throws -> Bool {
    guard let provider = _store as? any HistoryProviding else { return false }
    func open<Provider: HistoryProviding>(_ provider: Provider) throws -> Bool {
      guard let descriptor = descriptor as? HistoryDescriptor<Provider.HistoryType> else { return false }
      try provider.deleteHistory(descriptor)
      return true
    }
    return try open(provider)
  }

  override func erase() throws { try _store.erase() }
  override func begin(_ state: EditingState) { _store.initializeState(for: state) }
  override func end(_ state: EditingState) { _store.invalidateState(for: state) }
}
