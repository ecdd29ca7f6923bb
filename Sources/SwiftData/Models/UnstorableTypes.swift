// Diagnostics for properties of unsupported types. Chosen only if no other overload matches.

extension BackingData {
  /// For types that can't be stored.
  @available(
    *, unavailable,
    message:
      "A stored property's type has to conform to Codable or to be a model, an optional one or an array of them; '@Transient' keeps the property in memory"
  )
  @_disfavoredOverload
  public func getValue<Value>(forKey: KeyPath<Model, Value>) -> Value { fatalError("unavailable") }

  /// For types that can't be stored.
  @available(
    *, unavailable,
    message:
      "A stored property's type has to conform to Codable or to be a model, an optional one or an array of them; '@Transient' keeps the property in memory"
  )
  @_disfavoredOverload
  public func setValue<Value>(forKey: KeyPath<Model, Value>, to newValue: Value) { fatalError("unavailable") }
}

extension PersistentModel {
  /// For types that can't be stored.
  @available(
    *, unavailable,
    message:
      "A stored property's type has to conform to Codable or to be a model, an optional one or an array of them; '@Transient' keeps the property in memory"
  )
  @_disfavoredOverload
  public func getValue<Value>(forKey: KeyPath<Self, Value>) -> Value { fatalError("unavailable") }

  /// For types that can't be stored.
  @available(
    *, unavailable,
    message:
      "A stored property's type has to conform to Codable or to be a model, an optional one or an array of them; '@Transient' keeps the property in memory"
  )
  @_disfavoredOverload
  public func setValue<Value>(forKey: KeyPath<Self, Value>, to newValue: Value) { fatalError("unavailable") }
}
