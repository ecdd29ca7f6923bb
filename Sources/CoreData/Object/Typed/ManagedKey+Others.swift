import Foundation

// Types that need conversion: NSNumber, transformable objects, composites, enumerations by raw value.

extension ManagedKey {
  /// The property of an object, by name and with a cast.
  @_disfavoredOverload  // Overloads for specific types access the slot.
  public subscript(object: NSManagedObject) -> Value {
    get {
      let found = object.valueOfProperty(name)
      if let value = found as? Value { return value }
      if let value = NumberCast<Value>.value(found) { return value }
      if found == nil, let empty = Value.self as? any EmptyWhenNil.Type { return empty.init() as! Value }
      guard let found else { return missing(object) }
      if let members = found as? Set<NSManagedObject> {
        // A to-many declared as an array.
        if let value = Array(members) as? Value { return value }
      }
      return mismatch(found, object)
    }
    set { object.setValueOfProperty(newValue, name) }
  }
}

extension ManagedKey where Value: RawRepresentable {
  /// The property of an object, stored as a raw value. Traps on reading a raw value that has no case.
  public subscript(object: NSManagedObject) -> Value {
    get {
      let found = object.valueOfProperty(name)
      guard let raw = _rawValue(found, Value.RawValue.self), let value = Value(rawValue: raw) else {
        guard let found else { return missing(object) }
        return mismatch(found, object)
      }
      return value
    }
    set { object.setValueOfProperty(newValue.rawValue, name) }
  }
}

extension ManagedKey {
  /// The property of an object, stored as a raw value. A raw value that has no case reads as nil.
  public subscript<Wrapped: RawRepresentable>(object: NSManagedObject) -> Wrapped? where Value == Wrapped? {
    get { _rawValue(object.valueOfProperty(name), Wrapped.RawValue.self).flatMap(Wrapped.init(rawValue:)) }
    set { object.setValueOfProperty(newValue?.rawValue, name) }
  }

  /// Converts a property's value to a raw value. A nil number reads as zero, as with scalar accessors.
  private func _rawValue<Raw>(_ found: Any?, _ type: Raw.Type) -> Raw? {
    if let integer = type as? any FixedWidthInteger.Type {
      guard let number = found as? NSNumber else { return nil }
      return Self._integer(number.int64Value, integer) as? Raw
    }
    return found as? Raw
  }

  private static func _integer<Integer: FixedWidthInteger>(_ value: Int64, _ type: Integer.Type) -> Any? {
    Integer(exactly: value)
  }
}

/// Types that Objective-C bridges nil to as an empty value.
private protocol EmptyWhenNil { init() }
extension Array: EmptyWhenNil {}
extension Set: EmptyWhenNil {}
extension Dictionary: EmptyWhenNil {}

extension ManagedKey {
  /// Sets the property as `setPrimitiveValue(_:forKey:)` does: without change tracking and inverse
  /// maintenance.
  public func setPrimitive(_ value: Value, of object: NSManagedObject) {
    object.setPrimitiveValueOfProperty(value, name)
  }
}
