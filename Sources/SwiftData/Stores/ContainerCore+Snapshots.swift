import CoreData

extension ContainerCore {
  /// Enters the values of a snapshot into the engine's table.
  ///
  /// - Throws: An error for a value that isn't of its property's type.
  func enter(_ snapshot: SnapshotValues, in store: CustomStore) throws {
    guard let binding = bindings.binding(named: snapshot.identifier.entityName) else { return }
    var row: [String: Any] = [:]
    for accessor in binding.modelClass.accessors {
      guard let given = snapshot.values[accessor.name], let value = flattened(given) else { continue }
      if accessor.destination != nil {
        row[accessor.name] =
          value as? [PersistentIdentifier] ?? (value as? PersistentIdentifier).map { [$0] } ?? []
      } else if let stored = try accessor.stored(value) {
        row[accessor.name] = stored
      }
    }
    store.bridge.put(row, for: snapshot.identifier)
  }

  /// Connects the tables to custom stores, for models that the engine misses.
  func connectSnapshotTables() {
    for store in customStores {
      store.bridge.load = { [weak self, unowned store] identifier in
        try self?._load(identifier, from: store)
      }
    }
  }

  /// Loads one model from a custom store.
  private func _load(_ identifier: PersistentIdentifier, from store: CustomStore) throws {
    guard let type = bindings.binding(named: identifier.entityName)?.modelClass.type else { return }
    func open<Model: PersistentModel>(_ type: Model.Type) throws {
      let one = FetchDescriptor<Model>(predicate: #Predicate { $0.persistentModelID == identifier })
      let found: [SnapshotValues]
      do {
        found = try store.fetch(one, EditingState()).found
      } catch DataStoreError.preferInMemoryFilter {
        found = try store.fetch(FetchDescriptor<Model>(), EditingState()).found
      }
      for snapshot in found where snapshot.identifier == identifier { try enter(snapshot, in: store) }
    }
    try open(type)
  }
}
