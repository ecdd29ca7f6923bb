import Foundation

// Numbers are read from the row without conversion. Null reads as zero, as with Core Data's scalar accessors.

extension ManagedKey where Value == Bool {
  /// The property of an object.
  public subscript(object: NSManagedObject) -> Bool {
    get {
      let slot = slot(in: object)
      guard slot != Self.indirect else { return number(of: object).boolValue }
      return object.integer(at: slot) ?? 0 != 0
    }
    @inlinable set { setBool(newValue, object) }
  }
}

extension ManagedKey where Value == Int16 {
  /// The property of an object.
  public subscript(object: NSManagedObject) -> Int16 {
    get {
      let slot = slot(in: object)
      guard slot != Self.indirect else { return number(of: object).int16Value }
      return Int16(truncatingIfNeeded: object.integer(at: slot) ?? 0)
    }
    @inlinable set { setInteger(Int64(newValue), object) }
  }
}

extension ManagedKey where Value == Int32 {
  /// The property of an object.
  public subscript(object: NSManagedObject) -> Int32 {
    get {
      let slot = slot(in: object)
      guard slot != Self.indirect else { return number(of: object).int32Value }
      return Int32(truncatingIfNeeded: object.integer(at: slot) ?? 0)
    }
    @inlinable set { setInteger(Int64(newValue), object) }
  }
}

extension ManagedKey where Value == Int64 {
  /// The property of an object.
  public subscript(object: NSManagedObject) -> Int64 {
    get {
      let slot = slot(in: object)
      guard slot != Self.indirect else { return number(of: object).int64Value }
      return object.integer(at: slot) ?? 0
    }
    @inlinable set { setInteger(newValue, object) }
  }
}

extension ManagedKey where Value == Int {
  /// The property of an object.
  public subscript(object: NSManagedObject) -> Int {
    get {
      let slot = slot(in: object)
      guard slot != Self.indirect else { return number(of: object).intValue }
      return Int(truncatingIfNeeded: object.integer(at: slot) ?? 0)
    }
    @inlinable set { setInteger(Int64(newValue), object) }
  }
}

extension ManagedKey where Value == Float {
  /// The property of an object.
  public subscript(object: NSManagedObject) -> Float {
    get {
      let slot = slot(in: object)
      guard slot != Self.indirect else { return number(of: object).floatValue }
      return Float(object.double(at: slot) ?? 0)
    }
    @inlinable set { setFloat(newValue, object) }
  }
}

extension ManagedKey where Value == Double {
  /// The property of an object; a date reads as seconds since 2001-01-01 00:00 UTC.
  public subscript(object: NSManagedObject) -> Double {
    get {
      let slot = slot(in: object)
      guard slot != Self.indirect else { return _secondsOrNumber(object) }
      return object.double(at: slot) ?? 0
    }
    @inlinable set { setSeconds(newValue, object) }
  }

  @usableFromInline func setSeconds(_ seconds: Double, _ object: NSManagedObject) {
    let slot = slot(in: object)
    if slot != Self.indirect { return object.write(double: seconds, at: slot) }
    object.setValueOfProperty(
      _isDate(object) ? Date(timeIntervalSinceReferenceDate: seconds) : seconds as Any, name)
  }

  private func _secondsOrNumber(_ object: NSManagedObject) -> Double {
    if _isDate(object) { return (object.valueOfProperty(name) as? Date)?.timeIntervalSinceReferenceDate ?? 0 }
    return number(of: object).doubleValue
  }

  private func _isDate(_ object: NSManagedObject) -> Bool {
    guard let slot = object._layout.slot(named: name) else { return false }
    return object._layout.slots[slot].type == .date
  }
}

extension ManagedKey {
  /// Returns a number whose attribute has a different numeric type from the accessor's.
  func number(of object: NSManagedObject) -> NSNumber {
    switch object.valueOfProperty(name) {
    case let number as NSNumber: return number
    case nil: return 0
    case let other?: return mismatch(other, object)
    }
  }

  /// Traps because a value of the model's type cannot be converted to the declared type.
  func mismatch<T>(_ found: Any, _ object: NSManagedObject) -> T {
    programmerError(
      "'\(object._layout.entityName).\(name)' holds a \(type(of: found)), but \(type(of: object)) declares it as "
        + "\(Value.self). Change the declaration, or the model.")
  }

  /// Traps because a property that is not declared optional has no value. If the object cannot be read,
  /// returns an empty value instead, which only a type without any does not have.
  @inline(never) func missing<T>(_ object: NSManagedObject) -> T {
    if object.isUnreadable, let empty: T = _empty(object) { return empty }
    programmerError(
      "'\(object._layout.entityName).\(name)' is nil, but \(type(of: object)) declares it as \(Value.self). Declare it as "
        + "\(Value.self)?, or give it a value before it is read.")
  }

  private func _empty<T>(_ object: NSManagedObject) -> T? {
    guard T.self is NSManagedObject.Type else { return EmptyValue.made() }
    guard let slot = object._layout.slot(named: name) else { return nil }
    return object.unknownTarget(at: slot) { $0 is T.Type } as? T
  }
}
