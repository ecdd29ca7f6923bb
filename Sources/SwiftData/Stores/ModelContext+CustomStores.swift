import CoreData

// Fetching from custom stores, and saving to them.

extension ModelContext {
  /// Returns the results of a descriptor in a custom store, including unsaved changes.
  func objects<T: PersistentModel>(
    _ descriptor: FetchDescriptor<T>, in store: CustomStore, _ binding: EntityBinding
  ) throws -> [NSManagedObject] {
    var (asked, filters, sorts) = (descriptor, false, false)
    let isDirty = descriptor.includePendingChanges && managed.hasChanges
    if isDirty { (asked.fetchLimit, asked.fetchOffset) = (nil, nil) }
    while true {
      do {
        let (found, related) = try store.fetch(asked, editingState)
        try _enter(related, in: store)
        let objects = try _enter(found, in: store)
        let isWhole = !filters && !sorts && !isDirty
        return isWhole
          ? objects : try _finish(objects, descriptor, filters: filters, sorts: sorts || isDirty, binding)
      } catch DataStoreError.preferInMemoryFilter where asked.predicate != nil {
        (asked.predicate, filters) = (nil, true)
      } catch DataStoreError.preferInMemorySort where !asked.sortBy.isEmpty {
        (asked.sortBy, sorts) = ([], true)
      }
      (asked.fetchLimit, asked.fetchOffset) = (nil, nil)
    }
  }

  /// Applies the filter and order that a store left to the context, and unsaved changes.
  private func _finish<T: PersistentModel>(
    _ objects: [NSManagedObject], _ descriptor: FetchDescriptor<T>, filters: Bool, sorts: Bool,
    _ binding: EntityBinding
  ) throws -> [NSManagedObject] {
    var models = objects.filter { !descriptor.includePendingChanges || !$0.isDeleted }.map {
      model(of: $0) as! T
    }
    if descriptor.includePendingChanges {
      let known = Set(models.map { ObjectIdentifier($0) })
      for pending in insertedModelsArray + changedModelsArray {
        if let model = pending as? T, !known.contains(ObjectIdentifier(model)) { models.append(model) }
      }
    }
    if let predicate = descriptor.predicate, filters || descriptor.includePendingChanges && managed.hasChanges
    {
      models = try models.filter { try predicate.evaluate($0) }
    }
    if sorts, !descriptor.sortBy.isEmpty {
      models.sort { left, right in
        for order in descriptor.sortBy {
          let result = SortTranslation.compare(left, right, by: order)
          if result != .orderedSame { return result == .orderedAscending }
        }
        return false
      }
    }
    let rest = models.dropFirst(max(0, descriptor.fetchOffset ?? 0))
    let limit = descriptor.fetchLimit ?? 0
    return (limit > 0 ? rest.prefix(limit) : rest).compactMap {
      $0._modelStorage?.object
    }
  }

  /// Enters snapshots into the engine's table and returns the objects that show them.
  @discardableResult
  private func _enter(_ snapshots: [SnapshotValues], in store: CustomStore) throws -> [NSManagedObject] {
    try snapshots.map { snapshot in
      try core.enter(snapshot, in: store)
      guard let id = objectID(for: snapshot.identifier) else {
        throw SwiftDataError(
          .unknownSchema,
          "The custom store '\(store.name)' has found \(snapshot.identifier.id.uri), which is of another store or entity."
        )
      }
      let object = managed.object(with: id)
      if !object.isFault, !object.hasChanges { managed.refresh(object, mergeChanges: true) }
      return object
    }
  }

  /// Saves to custom stores; the engine saves afterwards, using the permanent identities.
  func saveToCustomStores() throws {
    guard !core.customStores.isEmpty else { return }
    // Validate first: a custom store can't roll back what the engine rejects.
    for object in managed.insertedObjects { try object.validateForInsert() }
    for object in managed.updatedObjects { try object.validateForUpdate() }
    for object in managed.deletedObjects { try object.validateForDelete() }
    for store in core.customStores {
      func own(_ objects: Set<NSManagedObject>) -> [ModelStorage] {
        objects.compactMap { $0 as? ModelStorage }.filter { store.entities.contains($0.entity.name ?? "") }
      }
      func datas(_ objects: [ModelStorage]) -> [any BackingData] { objects.map { model(of: $0)._backing } }
      let (inserted, updated, deleted) = (
        own(managed.insertedObjects), own(managed.updatedObjects), own(managed.deletedObjects)
      )
      guard !(inserted.isEmpty && updated.isEmpty && deleted.isEmpty) else { continue }
      let result = try store.save(
        inserted: datas(inserted), updated: datas(updated), deleted: datas(deleted), editingState)
      for object in inserted {
        guard let storage = object.storage, let permanent = result.remapped[storage.identifier] else {
          continue
        }
        store.bridge.setKey(permanent.id.bareKey, for: object)
      }
      for snapshot in result.changed { try core.enter(snapshot, in: store) }
      for object in deleted {
        if let parts = object.identityParts { store.bridge.remove(PersistentIdentifier(parts)) }
      }
      // The table's other values are stale; they are reread when another context needs them.
      for object in updated {
        guard let parts = object.identityParts else { continue }
        let identifier = PersistentIdentifier(parts)
        if !result.changed.contains(where: { $0.identifier == identifier }) {
          store.bridge.remove(identifier)
        }
      }
    }
  }
}

extension PersistentModel {
  /// The backing data, untyped.
  fileprivate var _backing: any BackingData { persistentBackingData }
}
