/// A fetch request for a custom store.
public struct DataStoreFetchRequest<T>: Sendable where T: PersistentModel {
  /// The fetch.
  public let descriptor: FetchDescriptor<T>
  /// The requesting context.
  public let editingState: EditingState
}

/// The result of a custom store's fetch.
public struct DataStoreFetchResult<ModelType, SnapshotType>
where ModelType: PersistentModel, SnapshotType: DataStoreSnapshot {
  /// The fetch.
  public let descriptor: FetchDescriptor<ModelType>
  /// The fetched models.
  public let fetchedSnapshots: [SnapshotType]
  /// Models related to these.
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

/// The changes for a custom store to save.
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

/// The result of a custom store's save.
public final class DataStoreSaveChangesResult<T> where T: DataStoreSnapshot {
  /// The store's identifier.
  public let storeIdentifier: String
  /// Permanent identities by temporary ones.
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

/// A batch deletion for a custom store.
public struct DataStoreBatchDeleteRequest<T> where T: PersistentModel {
  /// The context that deletes.
  public let editingState: EditingState
  /// The condition for deletion; nil for all.
  public let predicate: Predicate<T>?
  /// Whether models of subclasses are deleted, too.
  public let includeSubclasses: Bool
}
