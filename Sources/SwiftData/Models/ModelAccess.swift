import CoreData

/// Reads and writes the properties of a class by key path, with separate methods for each kind of property.
/// Not for direct use.
public protocol _ModelAccess<Model> {
  /// The class whose instances have the properties.
  associatedtype Model: PersistentModel
  /// The storage of the instance.
  var _storage: _ModelStorage { get }
  /// A property's index in the storage, given its index among those of the class.
  func _index(_ index: Int, _ keyPath: AnyKeyPath) -> Int
  /// Whether both indexes are the same.
  static var _usesIndexes: Bool { get }
}

extension _ModelAccess {
  /// Other backing data than the module's, if the instance was created with such.
  @inline(__always) var _foreign: (any BackingData<Model>)? {
    _storage.flags.contains(.foreign) ? _storage.foreign.map { $0 as! any BackingData<Model> } : nil
  }

  /// The value of an attribute.
  public func value<Value>(
    _ keyPath: @autoclosure () -> KeyPath<Model, Value>, at index: Int = -1, of model: Model
  ) -> Value where Value: Decodable {
    if let _foreign { return _foreign.getValue(forKey: keyPath()) }
    return _read(keyPath(), index, model)
  }

  /// The destination of a required to-one relationship.
  public func value<Value>(
    _ keyPath: @autoclosure () -> KeyPath<Model, Value>, at index: Int = -1, of model: Model
  ) -> Value where Value: PersistentModel {
    if let _foreign { return _foreign.getValue(forKey: keyPath()) }
    return _read(keyPath(), index, model)
  }

  /// The destination of a to-one relationship.
  public func value<Value>(
    _ keyPath: @autoclosure () -> KeyPath<Model, Value?>, at index: Int = -1, of model: Model
  ) -> Value? where Value: PersistentModel {
    if let _foreign { return _foreign.getValue(forKey: keyPath()) }
    return _read(keyPath(), index, model)
  }

  /// The destination of a required to-one relationship to a Codable class.
  public func value<Value>(
    _ keyPath: @autoclosure () -> KeyPath<Model, Value>, at index: Int = -1, of model: Model
  ) -> Value where Value: PersistentModel & Decodable {
    if let _foreign { return _foreign.getValue(forKey: keyPath()) }
    return _read(keyPath(), index, model)
  }

  /// The destination of a to-one relationship to a Codable class.
  public func value<Value>(
    _ keyPath: @autoclosure () -> KeyPath<Model, Value?>, at index: Int = -1, of model: Model
  ) -> Value? where Value: PersistentModel & Decodable {
    if let _foreign { return _foreign.getValue(forKey: keyPath()) }
    return _read(keyPath(), index, model)
  }

  /// The models of a to-many relationship.
  public func value<Value>(
    _ keyPath: @autoclosure () -> KeyPath<Model, Value>, at index: Int = -1, of model: Model
  ) -> Value where Value: RelationshipCollection {
    if let _foreign { return _foreign.getValue(forKey: keyPath()) }
    return _read(keyPath(), index, model)
  }

  /// The models of a to-many relationship to a Codable class.
  public func value<Value>(
    _ keyPath: @autoclosure () -> KeyPath<Model, Value>, at index: Int = -1, of model: Model
  ) -> Value where Value: RelationshipCollection & Decodable {
    if let _foreign { return _foreign.getValue(forKey: keyPath()) }
    return _read(keyPath(), index, model)
  }

  /// The value of a transformable attribute.
  public func transformableValue<Value>(
    _ keyPath: @autoclosure () -> KeyPath<Model, Value>, at index: Int = -1, of model: Model
  ) -> Value {
    if let _foreign { return _foreign.getTransformableValue(forKey: keyPath()) }
    return _read(keyPath(), index, model)
  }

  /// For unsupported types.
  @available(
    *, unavailable,
    message:
      "A stored property's type has to conform to Codable or to be a model, an optional one or an array of them; '@Transient' keeps the property in memory"
  )
  @_disfavoredOverload
  public func value<Value>(
    _ keyPath: @autoclosure () -> KeyPath<Model, Value>, at index: Int = -1, of model: Model
  ) -> Value { fatalError("unavailable") }

  // MARK: With '@Relationship'

  /// The destination of a required to-one relationship.
  public func related<Value>(
    _ keyPath: @autoclosure () -> KeyPath<Model, Value>, at index: Int = -1, of model: Model
  ) -> Value where Value: PersistentModel { value(keyPath(), at: index, of: model) }

  /// The destination of a to-one relationship.
  public func related<Value>(
    _ keyPath: @autoclosure () -> KeyPath<Model, Value?>, at index: Int = -1, of model: Model
  ) -> Value? where Value: PersistentModel { value(keyPath(), at: index, of: model) }

  /// The models of a to-many relationship.
  public func related<Value>(
    _ keyPath: @autoclosure () -> KeyPath<Model, Value>, at index: Int = -1, of model: Model
  ) -> Value where Value: RelationshipCollection { value(keyPath(), at: index, of: model) }

  /// For values.
  @available(
    *, unavailable,
    message:
      "'@Relationship' requires a model, an optional one or an array of them; '@Attribute' is for values"
  )
  @_disfavoredOverload
  public func related<Value>(
    _ keyPath: @autoclosure () -> KeyPath<Model, Value>, at index: Int = -1, of model: Model
  ) -> Value { fatalError("unavailable") }

  private func _read<Value>(_ keyPath: @autoclosure () -> KeyPath<Model, Value>, _ index: Int, _ model: Model)
    -> Value
  {
    if !_storage.isBound { _storage.introduce(model) }
    return _storage.value(index >= 0 && Self._usesIndexes ? index : _index(index, keyPath()))
  }
}
