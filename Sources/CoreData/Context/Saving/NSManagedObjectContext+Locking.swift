import CoreDataModelSchema
import Foundation

// Objects that a save depends on without changing them, and the target stores of new objects.

extension NSManagedObjectContext {
  final func lockVersion(of object: NSManagedObject) {
    checkQueue()
    guard object._context === self else {
      programmerError(
        "an attempt to detect conflicts of an object of \(object._context?.label ?? "no context") in \(label)."
      )
    }
    object.fireFault()
    if !object._flags.contains(.listed) { unsaved.append(object) }
    object._state.lock()
  }

  final func chooseStore(_ store: NSPersistentStore, for object: Any) {
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
}
