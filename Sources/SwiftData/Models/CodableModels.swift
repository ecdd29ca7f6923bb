// A model class may be Codable as well, but remains the destination of relationships. Without these
// overloads, those for values and those for models would be ambiguous, and no accessor would compile.

extension BackingData {
  /// The destination of a required to-one relationship to a Codable class.
  public func getValue<Value>(forKey: KeyPath<Model, Value>) -> Value
  where Value: PersistentModel & Decodable {
    _model(forKey)
  }

  /// The destination of a to-one relationship to a Codable class.
  public func getValue<Value>(forKey: KeyPath<Model, Value?>) -> Value?
  where Value: PersistentModel & Decodable {
    _model(forKey)
  }

  /// Sets a required to-one relationship to a Codable class.
  public func setValue<Value>(forKey: KeyPath<Model, Value>, to newValue: Value)
  where Value: PersistentModel & Encodable { _setModel(forKey, newValue) }

  /// Sets a to-one relationship to a Codable class.
  public func setValue<Value>(forKey: KeyPath<Model, Value?>, to newValue: Value?)
  where Value: PersistentModel & Encodable { _setModel(forKey, newValue) }

  // Generic over PersistentModel alone, which selects the overloads for models.

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
  /// The destination of a required to-one relationship to a Codable class.
  public func getValue<Value>(forKey: KeyPath<Self, Value>) -> Value
  where Value: PersistentModel & Decodable {
    _model(forKey)
  }

  /// The destination of a to-one relationship to a Codable class.
  public func getValue<Value>(forKey: KeyPath<Self, Value?>) -> Value?
  where Value: PersistentModel & Decodable {
    _model(forKey)
  }

  /// Sets a required to-one relationship to a Codable class.
  public func setValue<Value>(forKey: KeyPath<Self, Value>, to newValue: Value)
  where Value: PersistentModel & Encodable { _setModel(forKey, newValue) }

  /// Sets a to-one relationship to a Codable class.
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
