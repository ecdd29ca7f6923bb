import CoreData

// Models at the other end of relationships.

extension _ModelStorage {
  /// The model of an object at the other end, untyped.
  @inline(__always) final func related(_ object: NSManagedObject) -> AnyObject {
    let target = unsafeDowncast(object, to: _ModelStorage.self)
    if let known = target.shownInstance { return known }
    return _relatedByContext(target)
  }

  private final func _relatedByContext(_ target: _ModelStorage) -> AnyObject {
    guard let known = link?.instance(of: target) else {
      programmerError("a model that left its context leads to one that was never shown.")
    }
    return known
  }

  /// The model of an object at the other end.
  @inline(__always) final func model<Model: PersistentModel>(
    of object: NSManagedObject, as type: Model.Type
  ) -> Model {
    // The destination of a relationship has the destination entity's class.
    unsafeDowncast(related(object), to: Model.self)
  }

  /// Returns the engine's object of a model that is set as destination; inserts a new one.
  final func object<Model: PersistentModel>(of model: Model, for property: String) -> NSManagedObject {
    guard let link, let context = link.context else {
      programmerError("'\(modelClass.name).\(property)' can't be changed: the model's context is gone.")
    }
    guard let storage = model._modelStorage else {
      programmerError("'\(modelClass.name).\(property)' takes models with backing data of SwiftData's own.")
    }
    if let object = storage.object {
      guard storage.link === link else {
        programmerError(
          "'\(modelClass.name).\(property)' was given a \(Model.self) of another context, or one whose deletion was saved. "
            + "Get this context's own with model(for: other.persistentModelID).")
      }
      return object
    }
    return context.insertRelated(model, storage)
  }
}
