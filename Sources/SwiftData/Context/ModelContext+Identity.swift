import CoreData

extension ModelContext {
  /// The model of an identity: the one that is registered, or one whose values are read when they are asked for. Never
  /// reads the store.
  ///
  /// Traps for an identity of no store of the container. Whether there is such a model shows when a value of it is read.
  public func model(for persistentModelID: PersistentIdentifier) -> any PersistentModel {
    mergeNews()
    if let object = object(for: persistentModelID) { return model(of: object) }
    programmerError(
      "there is no model for \(persistentModelID.id.uri) in this container: it has no such store or entity, or the model was "
        + "never inserted into this context.")
  }

  /// The model of an identity if the context has it; nil otherwise, or if it is of another class. Never reads the store.
  public func registeredModel<T>(for persistentModelID: PersistentIdentifier) -> T?
  where T: PersistentModel {
    mergeNews()
    if persistentModelID.isTemporary { return object(for: persistentModelID).flatMap { model(of: $0) as? T } }
    guard let id = objectID(for: persistentModelID),
      let object = managed.registeredObject(for: id) as? ModelObject,
      let model = object.storage?.model
    else { return nil }
    return model as? T
  }

  /// The model of an identity, read from the store if need be; nil if there is none, or it is of another class.
  func storedModel<T>(for persistentModelID: PersistentIdentifier) -> T? where T: PersistentModel {
    if let registered: T = registeredModel(for: persistentModelID), !registered.isDeleted {
      return registered
    }
    guard let id = objectID(for: persistentModelID), let object = try? managed.existingObject(with: id),
      !object.isDeleted
    else { return nil }
    return model(of: object) as? T
  }

  /// The engine's object of an identity.
  func object(for identifier: PersistentIdentifier) -> NSManagedObject? {
    if identifier.isTemporary {
      return managed.insertedObjects.first {
        unsafeDowncast($0, to: ModelObject.self).storage?.temporaryIdentifier == identifier
      }
    }
    return objectID(for: identifier).map { managed.object(with: $0) }
  }

  /// The engine's ID of a permanent identity; nil for one of another store.
  func objectID(for identifier: PersistentIdentifier) -> NSManagedObjectID? {
    guard let store = identifier.storeIdentifier else { return nil }
    switch identifier.id.key {
    case .number(let number):
      return core.coordinator.objectID(inStore: store, entity: identifier.entityName, number: number)
        ?? core.coordinator.objectID(inStore: store, entity: identifier.entityName, text: String(number))
    case .text(let text):
      return core.coordinator.objectID(inStore: store, entity: identifier.entityName, text: text)
    case .temporary: return nil
    }
  }
}
