import CoreDataModelSchema
import Foundation

// Objects that a save depends on without changing them, and the stores that new objects go to.

extension NSManagedObjectContext {
  /// Has the next save check that an object still is as it was read, though it is not changed here: if
  /// somebody else has saved it since, that is a conflict like one over a changed object.
  public final func detectConflicts(for object: NSManagedObject) {
    checkQueue()
    guard object._context === self else {
      programmerError(
        "an attempt to detect conflicts of an object of \(object._context?.label ?? "no context") in \(label)."
      )
    }
    object.fireFault()
    object._flags.insert(.locked)
    guard !object._flags.contains(.listed) else { return }
    object._flags.insert(.listed)
    listed.append(object)
  }

  /// Chooses the store that a new object is saved to.
  ///
  /// Without it that is the first writable store, in the order in which they were added, whose configuration
  /// has the object's entity. Traps for a store of another coordinator, for one that does not take the
  /// entity, and for an object that lives in another store already.
  public final func assign(_ object: Any, to store: NSPersistentStore) {
    checkQueue()
    guard let object = object as? NSManagedObject, object._context === self else {
      programmerError("assign(_:to:) takes an object of \(label), not \(object).")
    }
    guard let coordinator = persistentStoreCoordinator,
      coordinator.persistentStores.contains(where: { $0 === store })
    else {
      programmerError(
        "an object of \(label) cannot be assigned to a store that its coordinator does not have.")
    }
    let entity = object._layout.entityName
    guard store.takesAllEntities || store.takes(entity) else {
      programmerError(
        "an object of entity '\(entity)' cannot be assigned to the store at \(store.url?.path ?? "memory"): its configuration "
          + "'\(store.configurationName)' does not have the entity.")
    }
    if let key = object._objectID.key {
      if key.space.store === store.key { return }
      programmerError(
        "\(object._objectID.uriRepresentation().absoluteString) lives in another store already and cannot be assigned to the "
          + "one at \(store.url?.path ?? "memory").")
    }
    coordinator.assign(object._objectID, to: store)
  }

  /// Unchanged objects whose version the save under way checks, with the values they were read with.
  final var lockedObjects: [NSManagedObject] {
    listed.filter { $0._flags.contains(.locked) && !$0.hasChanges }
  }

  /// Hands a child's locks up: they are checked where the stores are written.
  final func takeLocks(_ locks: [(id: NSManagedObjectID, row: Row?)]) {
    for (id, row) in locks {
      let object = table.object(for: id) ?? make(id, row: row)
      if object.isFault, object._row == nil { object._row = row }
      detectConflicts(for: object)
    }
  }
}
