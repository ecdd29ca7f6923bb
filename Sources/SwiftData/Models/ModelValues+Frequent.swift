// The properties of the frequent types: their accessors go straight to the values in the store's form.

extension _ModelValues {
  // MARK: Attributes

  /// The value of an attribute.
  @inlinable public func value<Value: _FrequentValue>(
    _ keyPath: @autoclosure () -> KeyPath<Model, Value>, at index: Int = -1, of model: Model
  ) -> Value {
    if index >= 0, let value = Value._value(_storage, index) { return value }
    return _slow(keyPath(), index, model)
  }

  /// The value of an optional attribute.
  @inlinable public func value<Value: _FrequentValue>(
    _ keyPath: @autoclosure () -> KeyPath<Model, Value?>, at index: Int = -1, of model: Model
  ) -> Value? {
    if index >= 0, let value = Value._valueIfAny(_storage, index) { return value }
    return _slow(keyPath(), index, model)
  }

  /// Sets an attribute.
  @inlinable public func set<Value: _FrequentValue>(
    _ keyPath: @autoclosure () -> KeyPath<Model, Value>, at index: Int = -1, of model: Model,
    to newValue: Value
  ) {
    if index >= 0, Value._set(newValue, _storage, index) { return }
    _slowSet(keyPath(), index, model, newValue)
  }

  /// Sets an optional attribute.
  @inlinable public func set<Value: _FrequentValue>(
    _ keyPath: @autoclosure () -> KeyPath<Model, Value?>, at index: Int = -1, of model: Model,
    to newValue: Value?
  ) {
    if index >= 0, Value._set(newValue, _storage, index) { return }
    _slowSet(keyPath(), index, model, newValue)
  }

  /// Initializes an attribute.
  @inlinable public func begin<Value: _FrequentValue>(
    _ keyPath: @autoclosure () -> KeyPath<Model, Value>, at index: Int = -1, with value: Value
  ) {
    if _storage._isBeingShown || index >= 0 && value._begin(_storage, index) { return }
    _slowBegin(keyPath(), index, value)
  }

  // MARK: Optional values

  /// Initializes an optional attribute or a to-one relationship. Instances created for stored models keep
  /// their values.
  @inlinable public func begin<Value: Encodable>(
    _ keyPath: @autoclosure () -> KeyPath<Model, Value?>, at index: Int = -1, with value: Value?
  ) {
    if _storage._isBeingShown || index >= 0 && value == nil && _storage._beginNone(index) { return }
    _slowBegin(keyPath(), index, value)
  }

  /// Initializes a to-one relationship to a Codable class.
  @inlinable public func begin<Other: PersistentModel & Encodable>(
    _ keyPath: @autoclosure () -> KeyPath<Model, Other?>, at index: Int = -1, with value: Other?
  ) {
    if _storage._isBeingShown || index >= 0 && value == nil && _storage._beginNone(index) { return }
    _slowBeginModel(keyPath(), index, value)
  }

  /// Initializes a to-one relationship.
  @inlinable public func begin<Other: PersistentModel>(
    _ keyPath: @autoclosure () -> KeyPath<Model, Other?>, at index: Int = -1, with value: Other?
  ) {
    if _storage._isBeingShown || index >= 0 && value == nil && _storage._beginNone(index) { return }
    _slowBeginModel(keyPath(), index, value)
  }

  /// Initializes a to-many relationship.
  @inlinable public func begin<Other: PersistentModel>(
    _ keyPath: @autoclosure () -> KeyPath<Model, [Other]>, at index: Int = -1, with value: [Other]
  ) {
    if _storage._isBeingShown || index >= 0 && value.isEmpty && _storage._beginNone(index) { return }
    _slowBeginModels(keyPath(), index, value)
  }

  // MARK: Relationships

  /// The model at the other end of a to-one relationship.
  @inlinable public func value<Other: PersistentModel>(
    _ keyPath: @autoclosure () -> KeyPath<Model, Other?>, at index: Int = -1, of model: Model
  ) -> Other? {
    // The destination of a relationship has this class.
    if index >= 0, let found = _storage._modelIfAny(index) {
      return found.map { unsafeDowncast($0, to: Other.self) }
    }
    return _slowModel(keyPath(), index, model)
  }

  /// Sets a to-one relationship.
  @inlinable public func set<Other: PersistentModel>(
    _ keyPath: @autoclosure () -> KeyPath<Model, Other?>, at index: Int = -1, of model: Model,
    to newValue: Other?
  ) {
    if index >= 0, _setTarget(newValue, index) { return }
    _slowSetModel(keyPath(), index, model, newValue)
  }

  /// Sets a to-one relationship without generic code; false if that is not possible.
  @inlinable func _setTarget<Other: PersistentModel>(_ newValue: Other?, _ index: Int) -> Bool {
    guard let newValue else { return _storage._setTarget(nil, index) }
    guard let target = newValue._modelStorage else { return false }
    return _storage._setTarget(target, index)
  }

  /// Sets a to-one relationship to a class that is Codable.
  @inlinable public func set<Other: PersistentModel & Encodable>(
    _ keyPath: @autoclosure () -> KeyPath<Model, Other?>, at index: Int = -1, of model: Model,
    to newValue: Other?
  ) {
    if index >= 0, _setTarget(newValue, index) { return }
    _slowSetModel(keyPath(), index, model, newValue)
  }

  /// The models of a to-many relationship.
  @inlinable public func value<Other: PersistentModel>(
    _ keyPath: @autoclosure () -> KeyPath<Model, [Other]>, at index: Int = -1, of model: Model
  ) -> [Other] {
    if index >= 0, let found = _storage._models(index) { return unsafeBitCast(found, to: [Other].self) }
    return _slowModels(keyPath(), index, model)
  }

  /// The model at the other end of a to-one relationship with `@Relationship`.
  @inlinable public func related<Other: PersistentModel>(
    _ keyPath: @autoclosure () -> KeyPath<Model, Other?>, at index: Int = -1, of model: Model
  ) -> Other? { value(keyPath(), at: index, of: model) }

  /// The models of a to-many relationship with `@Relationship`.
  @inlinable public func related<Other: PersistentModel>(
    _ keyPath: @autoclosure () -> KeyPath<Model, [Other]>, at index: Int = -1, of model: Model
  ) -> [Other] { value(keyPath(), at: index, of: model) }

  // MARK: Without index, or not inserted

  @inline(never) @usableFromInline func _slow<Value: Decodable>(
    _ keyPath: KeyPath<Model, Value>, _ index: Int, _ model: Model
  ) -> Value { _any.value(keyPath, at: index, of: model) }

  @inline(never) @usableFromInline func _slowSet<Value: Encodable>(
    _ keyPath: KeyPath<Model, Value>, _ index: Int, _ model: Model, _ value: Value
  ) { _any.set(keyPath, at: index, of: model, to: value) }

  @inline(never) @usableFromInline func _slowBegin<Value: Encodable>(
    _ keyPath: KeyPath<Model, Value>, _ index: Int, _ value: Value
  ) { _any.begin(keyPath, at: index, with: value) }

  @inline(never) @usableFromInline func _slowBeginModel<Other: PersistentModel>(
    _ keyPath: KeyPath<Model, Other?>, _ index: Int, _ value: Other?
  ) { _any.begin(keyPath, at: index, with: value) }

  @inline(never) @usableFromInline func _slowBeginModels<Other: PersistentModel>(
    _ keyPath: KeyPath<Model, [Other]>, _ index: Int, _ value: [Other]
  ) { _any.begin(keyPath, at: index, with: value) }

  @inline(never) @usableFromInline func _slowSetModel<Other: PersistentModel>(
    _ keyPath: KeyPath<Model, Other?>, _ index: Int, _ model: Model, _ value: Other?
  ) { _any.set(keyPath, at: index, of: model, to: value) }

  @inline(never) @usableFromInline func _slowModel<Other: PersistentModel>(
    _ keyPath: KeyPath<Model, Other?>, _ index: Int, _ model: Model
  ) -> Other? { _any.value(keyPath, at: index, of: model) }

  @inline(never) @usableFromInline func _slowModels<Other: PersistentModel>(
    _ keyPath: KeyPath<Model, [Other]>, _ index: Int, _ model: Model
  ) -> [Other] { _any.value(keyPath, at: index, of: model) }

  /// The same, with the general forms only.
  private var _any: some _ModelAccess<Model> { self }
}
