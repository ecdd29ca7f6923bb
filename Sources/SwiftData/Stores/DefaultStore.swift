import CoreData

/// The store of a ``ModelConfiguration`` in the form of a custom store, for programs that wrap it in their
/// own. Containers open such configurations without it.
///
/// For one thread at a time.
public final class DefaultStore: DataStore, DataStoreBatching, HistoryProviding {
  public typealias Configuration = ModelConfiguration
  public typealias Snapshot = DefaultSnapshot
  public typealias HistoryType = DefaultHistoryTransaction
  /// Places in the store's history.
  public typealias TokenType = DefaultHistoryToken

  /// The store's configuration.
  public let configuration: ModelConfiguration
  /// Name of the configuration.
  public let name: String
  /// UUID of the store.
  public let identifier: String
  /// The entities in the store.
  public let schema: Schema
  private let _context: ModelContext

  /// Opens the store, migrating it if necessary.
  ///
  /// - Throws: `SwiftDataError.unknownSchema` for a configuration without schema, and errors of creating a
  ///   container.
  public init(
    _ configuration: ModelConfiguration, migrationPlan: (any SchemaMigrationPlan.Type)?
  ) throws {
    guard let schema = configuration.schema else {
      throw SwiftDataError(
        .unknownSchema,
        "The configuration '\(configuration.name)' has no schema; a store of its own needs one.")
    }
    self.configuration = configuration
    self.schema = schema
    name = configuration.name
    let core = try ContainerCore(schema, migrationPlan, [configuration])
    _context = ModelContext(core, nil, isMain: false)
    _context.autosaveEnabled = false
    identifier = core.coordinator.persistentStores.first?.identifier ?? ""
  }

  /// Fetches models.
  public func fetch<T>(
    _ request: DataStoreFetchRequest<T>
  ) throws -> DataStoreFetchResult<T, DefaultSnapshot> where T: PersistentModel {
    var related: [PersistentIdentifier: any BackingData] = [:]
    let models = try _context.fetch(request.descriptor)
    return DataStoreFetchResult(
      descriptor: request.descriptor,
      fetchedSnapshots: models.map {
        DefaultSnapshot(from: $0.persistentBackingData, relatedBackingDatas: &related)
      })
  }

  /// Counts models.
  public func fetchCount<T>(_ request: DataStoreFetchRequest<T>) throws -> Int where T: PersistentModel {
    try _context.fetchCount(request.descriptor)
  }

  /// Fetches the identities of models.
  public func fetchIdentifiers<T>(
    _ request: DataStoreFetchRequest<T>
  ) throws -> [PersistentIdentifier] where T: PersistentModel {
    try _context.fetchIdentifiers(request.descriptor)
  }

  /// Saves changes.
  public func save(
    _ request: DataStoreSaveChangesRequest<DefaultSnapshot>
  ) throws -> DataStoreSaveChangesResult<DefaultSnapshot> {
    _context.author = request.editingState.author
    var new: [PersistentIdentifier: any PersistentModel] = [:]
    for snapshot in request.inserted {
      guard let binding = _context.core.bindings.binding(named: snapshot.persistentIdentifier.entityName)
      else {
        throw DataStoreError.unsupportedFeature
      }
      new[snapshot.persistentIdentifier] = binding.makeNew(in: _context)
    }
    func model(_ identifier: PersistentIdentifier) -> (any PersistentModel)? {
      new[identifier] ?? _context.object(for: identifier).map { _context.model(of: $0) }
    }
    for snapshot in request.inserted + request.updated {
      if let target = model(snapshot.persistentIdentifier) { snapshot.apply(to: target, model) }
    }
    for snapshot in request.deleted {
      if let target = model(snapshot.persistentIdentifier) { _context.deleteAny(target) }
    }
    do {
      try _context.save()
    } catch {
      _context.rollback()
      throw error
    }
    return DataStoreSaveChangesResult(
      for: identifier, remappedIdentifiers: new.mapValues { $0.persistentModelID })
  }

  /// Deletes models that satisfy a predicate.
  public func delete<T>(_ request: DataStoreBatchDeleteRequest<T>) throws where T: PersistentModel {
    try _context.delete(
      model: T.self, where: request.predicate, includeSubclasses: request.includeSubclasses)
    try _context.save()
  }

  /// Removes everything.
  public func erase() throws { try _context.core.erase() }

  /// Fetches transactions.
  public func fetchHistory(
    _ descriptor: HistoryDescriptor<DefaultHistoryTransaction>
  ) throws -> [DefaultHistoryTransaction] { try _context.fetchHistory(descriptor) }

  /// Deletes transactions.
  public func deleteHistory(_ descriptor: HistoryDescriptor<DefaultHistoryTransaction>) throws {
    try _context.deleteHistory(descriptor)
  }
}

extension ModelContext {
  /// Deletes a model whose class is known only at run time.
  func deleteAny(_ model: any PersistentModel) {
    func open<Model: PersistentModel>(_ model: Model) { delete(model) }
    open(model)
  }
}

extension EntityBinding {
  /// Inserts a model without values.
  func makeNew(in context: ModelContext) -> any PersistentModel {
    let object = ModelStorage(entity: entity, insertInto: context.managed)
    return context.model(of: object)
  }
}

extension DefaultSnapshot {
  /// Applies the values to a model.
  func apply(
    to model: any PersistentModel, _ related: (PersistentIdentifier) -> (any PersistentModel)?
  ) {
    func storage<Model: PersistentModel>(_ model: Model) -> ModelStorage? {
      model._modelStorage
    }
    guard let storage = storage(model), let object = storage.object else { return }
    for (index, accessor) in storage.modelClass.accessors.enumerated() {
      let value = value(of: accessor.name)
      if accessor.destination != nil {
        let identifiers =
          value as? [PersistentIdentifier] ?? (value as? PersistentIdentifier).map { [$0] } ?? []
        storage.setTargets(
          index, to: identifiers.compactMap { related($0).flatMap { self._object(of: $0) } })
      } else if let value {
        storage.setAny(index, to: value)
      } else {
        object.setValue(nil, forKey: accessor.name)
      }
    }
  }

  private func _object(of model: any PersistentModel) -> NSManagedObject? {
    func open<Model: PersistentModel>(_ model: Model) -> NSManagedObject? {
      model._modelStorage?.object
    }
    return open(model)
  }
}
