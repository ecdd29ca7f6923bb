import CoreData

extension ModelContext {
  /// Returns the model with an identity: the registered one, or one whose values are read on demand. Never
  /// reads from the store.
  ///
  /// Traps for an identity of another container's store. A missing model is detected only when one of its
  /// values is read.
  public func model(for persistentModelID: PersistentIdentifier) -> any PersistentModel {
    mergeNews()
    if let object = object(for: persistentModelID) { return model(of: object) }
    programmerError(
      "there is no model for \(persistentModelID.id.uri) in this container: it has no such store or entity, or the model was "
        + "never inserted into this context.")
  }

  /// Returns the registered model with an identity; nil if there is none or it is of another class. Never
  /// reads from the store.
  public func registeredModel<T>(for persistentModelID: PersistentIdentifier) -> T?
  where T: PersistentModel {
    mergeNews()
    if persistentModelID.isTemporary { return object(for: persistentModelID).flatMap { model(of: $0) as? T } }
    guard let id = objectID(for: persistentModelID),
      let object = managed.registeredObject(for: id) as? ModelStorage,
      let model = object.storage?.model
    else { return nil }
    return model as? T
  }

  /// Returns the model with an identity and reads it from the store if necessary; nil if there is none or it
  /// is of another class. If the store can't be read, the model reads again when a value is read, under the
  /// context's ``readFailurePolicy``.
  func storedModel<T>(for persistentModelID: PersistentIdentifier) -> T? where T: PersistentModel {
    if let registered: T = registeredModel(for: persistentModelID), !registered.isDeleted {
      return registered
    }
    guard let id = storedObjectID(for: persistentModelID), let object = _existing(id), !object.isDeleted
    else {
      return nil
    }
    return model(of: object) as? T
  }

  /// Reads an object from the store; nil if there is none.
  private func _existing(_ id: NSManagedObjectID) -> NSManagedObject? {
    do {
      return try managed.existingObject(with: id)
    } catch let error as CocoaError where error.code.rawValue == NSManagedObjectReferentialIntegrityError {
      return nil
    } catch {
      // It may well be there.
      return managed.object(with: id)
    }
  }

  /// Returns the engine's object with an identity.
  func object(for identifier: PersistentIdentifier) -> NSManagedObject? {
    if identifier.isTemporary {
      return managed.insertedObjects.first {
        unsafeDowncast($0, to: ModelStorage.self).storage?.temporaryIdentifier == identifier
      }
    }
    return storedObjectID(for: identifier).map { managed.object(with: $0) }
  }

  /// Returns the engine's ID for a permanent identity, whose object tells whether a predicate has deleted its
  /// row; nil for one of another store.
  func storedObjectID(for identifier: PersistentIdentifier) -> NSManagedObjectID? {
    let id = objectID(for: identifier)
    if let id { managed.rowDeletions.read(id) }
    return id
  }

  /// Returns the engine's ID for a permanent identity; nil for one of another store.
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
