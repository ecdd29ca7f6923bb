// A model class may be Codable as well. Its instances stay relationships: without these overloads, those for values
// would fit as well as those for models, and no accessor would compile.

extension BackingData {
  /// The model at the other end of a required to-one relationship whose class is Codable.
  public func getValue<Value>(forKey: KeyPath<Model, Value>) -> Value
  where Value: PersistentModel & Decodable {
    _model(forKey)
  }

  /// The model at the other end of a to-one relationship whose class is Codable.
  public func getValue<Value>(forKey: KeyPath<Model, Value?>) -> Value?
  where Value: PersistentModel & Decodable {
    _model(forKey)
  }

  /// Sets a required to-one relationship to a class that is Codable.
  public func setValue<Value>(forKey: KeyPath<Model, Value>, to newValue: Value)
  where Value: PersistentModel & Encodable { _setModel(forKey, newValue) }

  /// Sets a to-one relationship to a class that is Codable.
  public func setValue<Value>(forKey: KeyPath<Model, Value?>, to newValue: Value?)
  where Value: PersistentModel & Encodable { _setModel(forKey, newValue) }

  // These know of a model only.

  private func _model<Value: PersistentModel>(_ key: KeyPath<Model, Value>) -> Value { getValue(forKey: key) }

  private func _model<Value: PersistentModel>(_ key: KeyPath<Model, Value?>) -> Value? {
    getValue(forKey: key)
  }

  private func _setModel<Value: PersistentModel>(_ key: KeyPath<Model, Value>, _ value: Value) {
    setValue(forKey: key, to: value)
  }

  private func _setModel<Value: PersistentModel>(_ key: KeyPath<Model, Value?>, _ value: Value?) {
    setValue(forKey: key, to: value)
  }
}

extension PersistentModel {
  /// The model at the other end of a required to-one relationship whose class is Codable.
  public func getValue<Value>(forKey: KeyPath<Self, Value>) -> Value
  where Value: PersistentModel & Decodable {
    _model(forKey)
  }

  /// The model at the other end of a to-one relationship whose class is Codable.
  public func getValue<Value>(forKey: KeyPath<Self, Value?>) -> Value?
  where Value: PersistentModel & Decodable {
    _model(forKey)
  }

  /// Sets a required to-one relationship to a class that is Codable.
  public func setValue<Value>(forKey: KeyPath<Self, Value>, to newValue: Value)
  where Value: PersistentModel & Encodable { _setModel(forKey, newValue) }

  /// Sets a to-one relationship to a class that is Codable.
  public func setValue<Value>(forKey: KeyPath<Self, Value?>, to newValue: Value?)
  where Value: PersistentModel & Encodable { _setModel(forKey, newValue) }

  private func _model<Value: PersistentModel>(_ key: KeyPath<Self, Value>) -> Value { getValue(forKey: key) }

  private func _model<Value: PersistentModel>(_ key: KeyPath<Self, Value?>) -> Value? {
    getValue(forKey: key)
  }

  private func _setModel<Value: PersistentModel>(_ key: KeyPath<Self, Value>, _ value: Value) {
    setValue(forKey: key, to: value)
  }

  private func _setModel<Value: PersistentModel>(_ key: KeyPath<Self, Value?>, _ value: Value?) {
    setValue(forKey: key, to: value)
  }
}
