import CoreData

extension ModelContext {
  /// Inserts a model and all models reachable through its relationships; the next save stores them.
  ///
  /// Takes back the unsaved deletion of a model of this context, and otherwise does nothing for such a model. A model
  /// whose deletion was saved is inserted anew, with its attributes. Traps for a model of another context.
  public func insert<T>(_ model: T) where T: PersistentModel {
    guard let storage = model._modelStorage else {
      programmerError("a \(T.self) can't be inserted: it has backing data of another kind than SwiftData's.")
    }
    if let object = storage.object {
      if object.managedObjectContext === managed {
        guard object.isDeleted else { return }
        managed.takeBackDeletion(of: object)
        return keep(storage)
      }
      if object.managedObjectContext != nil {
        programmerError(
          "a \(T.self) of another context can't be inserted. Get this context's own with "
            + "model(for: other.persistentModelID).")
      }
      storage.unbind(keeping: storage.values(alone: true))
    }
    _ = insertRelated(model, storage)
  }

  /// Inserts a model that is related to others, and its own related models.
  ///
  /// - Returns: The engine's object.
  func insertRelated(_ model: (any PersistentModel)?, _ storage: ModelStorage) -> ModelStorage {
    let (object, values) = _register(model, storage)
    // Iteratively: chains of models may be longer than the stack is deep.
    guard !isFilling else {
      unfilled.append((storage, values))
      return object
    }
    isFilling = true
    defer { isFilling = false }
    storage.fill(with: values)
    if unfilled.isEmpty { return object }
    var next = 0
    while next < unfilled.count {
      let (storage, values) = unfilled[next]
      next += 1
      storage.fill(with: values)
    }
    unfilled.removeAll(keepingCapacity: true)
    return object
  }

  /// Creates the engine's object for a model, without its values.
  ///
  /// - Parameter model: Nil if the instance is not known.
  private func _register(
    _ model: (any PersistentModel)?, _ storage: ModelStorage
  ) -> (ModelStorage, [DetachedValue]) {
    let modelClass = storage.modelClass
    guard let binding = core.bindings.binding(of: modelClass.type) else {
      programmerError(
        "'\(modelClass.name)' can't be inserted: the container's schema has no such class. It has: "
          + core.schema.entities.map(\.name).joined(separator: ", ") + ".")
    }
    let object = ModelStorage(entity: binding.entity, insertInto: managed)
    var values = storage.bind(to: object, binding, link)
    if let model {
      for index in modelClass.constants { _setConstant(index, of: model, in: &values, modelClass) }
      storage.setInstance(model)
    }
    keep(storage)
    return (object, values)
  }

  /// Copies the value of a constant from the model, which stores it itself.
  private func _setConstant(
    _ index: Int, of model: any PersistentModel, in values: inout [DetachedValue], _ modelClass: ModelClass
  ) {
    func read<Model: PersistentModel>(_ model: Model) -> Any? {
      (modelClass.properties[index].keypath as? PartialKeyPath<Model>).map { model[keyPath: $0] }
        ?? (model as Any)[keyPath: modelClass.properties[index].keypath]
    }
    if values.isEmpty { values = Array(repeating: .none, count: modelClass.accessors.count) }
    values[index] = read(model).map { .other(DetachedBox($0)) } ?? .none
  }

  // MARK: Joining

  /// Inserts a new model with the next use of the context, since the initializer that relates it to a model of this
  /// context may not have set all its values yet.
  func joinLater(_ storage: ModelStorage) {
    scheduleAutosave()
    joining.append(storage)
  }

  /// Inserts the models whose initializers have related them to models of this context.
  func insertJoining() {
    if joining.isEmpty { return }
    let storages = joining
    joining = []
    for storage in storages where !storage.isBound {
      // An initializer that failed has left values unset.
      guard storage.isComplete else { continue }
      let model = storage.model
      if model == nil, !storage.modelClass.constants.isEmpty {
        Console.warn(
          "a \(storage.modelClass.name) is not inserted through its relationship, since it has constants, which only "
            + "insert(_:) can read.")
        continue
      }
      _ = insertRelated(model, storage)
    }
  }

  // MARK: Retaining

  /// Retains a model until its changes are saved.
  func keep(_ storage: ModelStorage) {
    scheduleAutosave()
    if storage.keepInstance() { kept.append(storage) }
  }

  /// Releases models without unsaved changes.
  func releaseKept() {
    let storages = kept
    kept = []
    for storage in storages { storage.releaseInstance() }
  }
}
