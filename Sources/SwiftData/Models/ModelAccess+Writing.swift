import CoreData

// Writing: `begin` in initializers, `set` afterwards.

extension _ModelAccess {
  /// Initializes an attribute.
  public func begin<Value>(
    _ keyPath: @autoclosure () -> KeyPath<Model, Value>, at index: Int = -1, with value: Value
  ) where Value: Encodable {
    _begin(keyPath(), index, value) { $0.setValue(forKey: keyPath(), to: value) }
  }

  /// Sets an attribute.
  public func set<Value>(
    _ keyPath: @autoclosure () -> KeyPath<Model, Value>, at index: Int = -1, of model: Model,
    to newValue: Value
  ) where Value: Encodable {
    if let _foreign { return _foreign.setValue(forKey: keyPath(), to: newValue) }
    _set(keyPath(), index, model, newValue)
  }

  /// Initializes a required to-one relationship.
  public func begin<Value>(
    _ keyPath: @autoclosure () -> KeyPath<Model, Value>, at index: Int = -1, with value: Value
  ) where Value: PersistentModel {
    _begin(keyPath(), index, value) { $0.setValue(forKey: keyPath(), to: value) }
    _joinLater(CollectionOfOne(value))
  }

  /// Sets a required to-one relationship.
  public func set<Value>(
    _ keyPath: @autoclosure () -> KeyPath<Model, Value>, at index: Int = -1, of model: Model,
    to newValue: Value
  ) where Value: PersistentModel {
    if let _foreign { return _foreign.setValue(forKey: keyPath(), to: newValue) }
    _set(keyPath(), index, model, newValue)
    model.joinContext(of: CollectionOfOne(newValue))
  }

  /// Initializes a to-one relationship.
  public func begin<Value>(
    _ keyPath: @autoclosure () -> KeyPath<Model, Value?>, at index: Int = -1, with value: Value?
  ) where Value: PersistentModel {
    _begin(keyPath(), index, value) { $0.setValue(forKey: keyPath(), to: value) }
    if let value { _joinLater(CollectionOfOne(value)) }
  }

  /// Sets a to-one relationship.
  public func set<Value>(
    _ keyPath: @autoclosure () -> KeyPath<Model, Value?>, at index: Int = -1, of model: Model,
    to newValue: Value?
  ) where Value: PersistentModel {
    if let _foreign { return _foreign.setValue(forKey: keyPath(), to: newValue) }
    _set(keyPath(), index, model, newValue)
    if let newValue { model.joinContext(of: CollectionOfOne(newValue)) }
  }

  /// Initializes a required to-one relationship to a Codable class.
  public func begin<Value>(
    _ keyPath: @autoclosure () -> KeyPath<Model, Value>, at index: Int = -1, with value: Value
  ) where Value: PersistentModel & Encodable {
    _begin(keyPath(), index, value) { $0.setValue(forKey: keyPath(), to: value) }
    _joinLater(CollectionOfOne(value))
  }

  /// Sets a required to-one relationship to a Codable class.
  public func set<Value>(
    _ keyPath: @autoclosure () -> KeyPath<Model, Value>, at index: Int = -1, of model: Model,
    to newValue: Value
  ) where Value: PersistentModel & Encodable {
    if let _foreign { return _foreign.setValue(forKey: keyPath(), to: newValue) }
    _set(keyPath(), index, model, newValue)
    model.joinContext(of: CollectionOfOne(newValue))
  }

  /// Initializes a to-one relationship to a Codable class.
  public func begin<Value>(
    _ keyPath: @autoclosure () -> KeyPath<Model, Value?>, at index: Int = -1, with value: Value?
  ) where Value: PersistentModel & Encodable {
    _begin(keyPath(), index, value) { $0.setValue(forKey: keyPath(), to: value) }
    if let value { _joinLater(CollectionOfOne(value)) }
  }

  /// Sets a to-one relationship to a Codable class.
  public func set<Value>(
    _ keyPath: @autoclosure () -> KeyPath<Model, Value?>, at index: Int = -1, of model: Model,
    to newValue: Value?
  ) where Value: PersistentModel & Encodable {
    if let _foreign { return _foreign.setValue(forKey: keyPath(), to: newValue) }
    _set(keyPath(), index, model, newValue)
    if let newValue { model.joinContext(of: CollectionOfOne(newValue)) }
  }

  /// Initializes a to-many relationship.
  public func begin<Value>(
    _ keyPath: @autoclosure () -> KeyPath<Model, Value>, at index: Int = -1, with value: Value
  ) where Value: RelationshipCollection {
    _begin(keyPath(), index, value) { $0.setValue(forKey: keyPath(), to: value) }
    _joinLater(ofMembers: value, Value.PersistentElement.self)
  }

  /// Sets a to-many relationship.
  public func set<Value>(
    _ keyPath: @autoclosure () -> KeyPath<Model, Value>, at index: Int = -1, of model: Model,
    to newValue: Value
  ) where Value: RelationshipCollection {
    if let _foreign { return _foreign.setValue(forKey: keyPath(), to: newValue) }
    _set(keyPath(), index, model, newValue)
    model.joinContext(ofMembers: newValue, Value.PersistentElement.self)
  }

  /// Initializes a to-many relationship to a Codable class.
  public func begin<Value>(
    _ keyPath: @autoclosure () -> KeyPath<Model, Value>, at index: Int = -1, with value: Value
  ) where Value: RelationshipCollection & Encodable {
    _begin(keyPath(), index, value) { $0.setValue(forKey: keyPath(), to: value) }
    _joinLater(ofMembers: value, Value.PersistentElement.self)
  }

  /// Sets a to-many relationship to a Codable class.
  public func set<Value>(
    _ keyPath: @autoclosure () -> KeyPath<Model, Value>, at index: Int = -1, of model: Model,
    to newValue: Value
  ) where Value: RelationshipCollection & Encodable {
    if let _foreign { return _foreign.setValue(forKey: keyPath(), to: newValue) }
    _set(keyPath(), index, model, newValue)
    model.joinContext(ofMembers: newValue, Value.PersistentElement.self)
  }

  /// Initializes a transformable attribute.
  public func beginTransformable<Value>(
    _ keyPath: @autoclosure () -> KeyPath<Model, Value>, at index: Int = -1, with value: Value
  ) {
    _begin(keyPath(), index, value) { $0.setTransformableValue(forKey: keyPath(), to: value) }
  }

  /// Sets a transformable attribute.
  public func setTransformable<Value>(
    _ keyPath: @autoclosure () -> KeyPath<Model, Value>, at index: Int = -1, of model: Model,
    to newValue: Value
  ) {
    if let _foreign { return _foreign.setTransformableValue(forKey: keyPath(), to: newValue) }
    _set(keyPath(), index, model, newValue)
  }

  /// Has a new model inserted into the context of models that its initializer relates it to.
  private func _joinLater(_ models: some Sequence<some PersistentModel>) {
    if _storage.isBound || _storage.flags.contains(.beingShown) { return }
    for model in models {
      if let context = model.modelContext { return context.joinLater(_storage) }
    }
  }

  private func _joinLater<Members, Member: PersistentModel>(ofMembers members: Members, _ type: Member.Type) {
    if let members = members as? [Member] { _joinLater(members) }
  }

  /// Initializes a property, unless the instance is created for a stored model; `foreign` sets it in other
  /// kinds of backing data.
  @inline(__always) private func _begin<Value>(
    _ keyPath: @autoclosure () -> KeyPath<Model, Value>, _ index: Int, _ value: Value,
    inForeign foreign: (any BackingData<Model>) -> Void
  ) {
    if _storage.flags.contains(.beingShown) { return }
    if let _foreign { return foreign(_foreign) }
    let own = index >= 0 && Self._usesIndexes ? index : _index(index, keyPath())
    // The model's initializer received the backing data of an existing model.
    if _storage.isBound { return _storage.set(own, to: value) }
    _storage.begin(own, .other(DetachedBox(value)))
  }

  private func _set<Value>(
    _ keyPath: @autoclosure () -> KeyPath<Model, Value>, _ index: Int, _ model: Model, _ newValue: Value
  ) {
    if !_storage.isBound { _storage.introduce(model) }
    _storage.set(index >= 0 && Self._usesIndexes ? index : _index(index, keyPath()), to: newValue)
  }
}

// Properties whose type is unsupported: the getter reports it, so these need not.

extension _ModelAccess {
  /// For unsupported types.
  @_disfavoredOverload
  public func begin<Value>(
    _ keyPath: @autoclosure () -> KeyPath<Model, Value>, at index: Int = -1, with value: Value
  ) { programmerError("a \(Value.self) can't be stored.") }

  /// For unsupported types.
  @_disfavoredOverload
  public func set<Value>(
    _ keyPath: @autoclosure () -> KeyPath<Model, Value>, at index: Int = -1, of model: Model,
    to newValue: Value
  ) { programmerError("a \(Value.self) can't be stored.") }
}
