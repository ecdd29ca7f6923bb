/// What a custom store is asked for.
public struct DataStoreFetchRequest<T>: Sendable where T: PersistentModel {
  /// What is fetched.
  public let descriptor: FetchDescriptor<T>
  /// The context that asks.
  public let editingState: EditingState
}

/// What a custom store has found.
public struct DataStoreFetchResult<ModelType, SnapshotType>
where ModelType: PersistentModel, SnapshotType: DataStoreSnapshot {
  /// What was asked for.
  public let descriptor: FetchDescriptor<ModelType>
  /// The models found.
  public let fetchedSnapshots: [SnapshotType]
  /// Models that those lead to.
  public let relatedSnapshots: [PersistentIdentifier: SnapshotType]

  /// Creates a result.
  public init(
    descriptor: FetchDescriptor<ModelType>, fetchedSnapshots: [SnapshotType],
    relatedSnapshots: [PersistentIdentifier: SnapshotType] = [:]
  ) {
    self.descriptor = descriptor
    self.fetchedSnapshots = fetchedSnapshots
    self.relatedSnapshots = relatedSnapshots
  }
}

/// What a custom store is to keep.
public struct DataStoreSaveChangesRequest<SnapshotType>: Sendable where SnapshotType: DataStoreSnapshot {
  /// The context that saves.
  public let editingState: EditingState
  /// New models, with temporary identities.
  public let inserted: [SnapshotType]
  /// Changed models.
  public let updated: [SnapshotType]
  /// Deleted models.
  public let deleted: [SnapshotType]
}

/// What a custom store has made of a save.
public final class DataStoreSaveChangesResult<T> where T: DataStoreSnapshot {
  /// The store's identifier.
  public let storeIdentifier: String
  /// Permanent identities by the temporary ones that they stand for.
  public let remappedIdentifiers: [PersistentIdentifier: PersistentIdentifier]
  /// New values of models that contexts have.
  public let snapshotsToReregister: [PersistentIdentifier: T]
  /// The place in the store's history after the save.
  public let historyToken: (any HistoryToken)?

  /// Creates a result.
  public convenience init(
    for storeIdentifier: String, remappedIdentifiers: [PersistentIdentifier: PersistentIdentifier] = [:],
    snapshotsToReregister: [PersistentIdentifier: T] = [:]
  ) {
    self.init(
      for: storeIdentifier, remappedIdentifiers: remappedIdentifiers,
      snapshotsToReregister: snapshotsToReregister, historyToken: nil)
  }

  /// Creates a result with a place in the store's history.
  public init(
    for storeIdentifier: String, remappedIdentifiers: [PersistentIdentifier: PersistentIdentifier],
    snapshotsToReregister: [PersistentIdentifier: T], historyToken: (any HistoryToken)?
  ) {
    self.storeIdentifier = storeIdentifier
    self.remappedIdentifiers = remappedIdentifiers
    self.snapshotsToReregister = snapshotsToReregister
    self.historyToken = historyToken
  }
}

/// What a custom store is to delete at once.
public struct DataStoreBatchDeleteRequest<T> where T: PersistentModel {
  /// The context that deletes.
  public let editingState: EditingState
  /// What the models meet; nil for all.
  public let predicate: Predicate<T>?
  /// Whether models of subclasses are deleted, too.
  public let includeSubclasses: Bool
}
