/// An optional type, accessible without knowing its wrapped type.
protocol OptionalType {
  static var wrappedType: Any.Type { get }
  /// Nil, as a value of this type.
  static var noValue: Any { get }
  /// The wrapped value; nil without one.
  var wrappedValue: Any? { get }
}

extension Optional: OptionalType {
  static var wrappedType: Any.Type { Wrapped.self }
  static var noValue: Any { Self.none as Any }
  var wrappedValue: Any? { self }
}

/// Unwraps all nested optionals; nil for nil.
func flattened(_ value: Any?) -> Any? {
  guard let value else { return nil }
  guard let optional = value as? any OptionalType, type(of: value) is any OptionalType.Type else {
    return value
  }
  return flattened(optional.wrappedValue)
}

/// Nil as a value of an optional type; nil for a type that isn't optional.
func nilValue<Value>(of type: Value.Type) -> Value? {
  guard let optional = type as? any OptionalType.Type else { return nil }
  return .some(optional.noValue as! Value)
}
