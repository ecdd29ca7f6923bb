import Foundation

// Attributes that may be nil. Hand-written classes may declare them non-optional.

extension ManagedKey where Value == String? {
  /// The property of an object.
  public subscript(object: NSManagedObject) -> String? {
    get { _string(object) }
    @inlinable set { setText(newValue, object) }
  }
}

extension ManagedKey where Value == String {
  /// The property of an object; nil reads as an empty string.
  public subscript(object: NSManagedObject) -> String {
    get { _string(object) ?? "" }
    @inlinable set { setText(newValue, object) }
  }
}

extension ManagedKey where Value == Date? {
  /// The property of an object.
  public subscript(object: NSManagedObject) -> Date? {
    get { _date(object) }
    @inlinable set { setDate(newValue, object) }
  }
}

extension ManagedKey where Value == Date {
  /// The property of an object; traps if it is nil.
  public subscript(object: NSManagedObject) -> Date {
    get { _date(object) ?? missing(object) }
    @inlinable set { setDate(newValue, object) }
  }
}

extension ManagedKey where Value == Data? {
  /// The property of an object.
  public subscript(object: NSManagedObject) -> Data? {
    get { _data(object) }
    set { write(newValue.map { .data($0) } ?? .null, newValue, object) }
  }
}

extension ManagedKey where Value == Data {
  /// The property of an object; nil reads as empty data.
  public subscript(object: NSManagedObject) -> Data {
    get { _data(object) ?? Data() }
    set { write(.data(newValue), newValue, object) }
  }
}

extension ManagedKey where Value == UUID? {
  /// The property of an object.
  public subscript(object: NSManagedObject) -> UUID? {
    get { _uuid(object) }
    set { write(newValue.map { .uuid($0) } ?? .null, newValue, object) }
  }
}

extension ManagedKey where Value == UUID {
  /// The property of an object; traps if it is nil.
  public subscript(object: NSManagedObject) -> UUID {
    get { _uuid(object) ?? missing(object) }
    set { write(.uuid(newValue), newValue, object) }
  }
}

extension ManagedKey where Value == URL? {
  /// The property of an object.
  public subscript(object: NSManagedObject) -> URL? {
    get { _url(object) }
    set { write(newValue.map { .string($0.absoluteString) } ?? .null, newValue, object) }
  }
}

extension ManagedKey where Value == URL {
  /// The property of an object; traps if it is nil.
  public subscript(object: NSManagedObject) -> URL {
    get { _url(object) ?? missing(object) }
    set { write(.string(newValue.absoluteString), newValue, object) }
  }
}

extension ManagedKey where Value == Decimal? {
  /// The property of an object.
  public subscript(object: NSManagedObject) -> Decimal? {
    get { _decimal(object) }
    set { write(newValue.map { .decimal(DecimalBox($0)) } ?? .null, newValue, object) }
  }
}

extension ManagedKey where Value == Decimal {
  /// The property of an object; nil reads as zero.
  public subscript(object: NSManagedObject) -> Decimal {
    get { _decimal(object) ?? 0 }
    set { write(.decimal(DecimalBox(newValue)), newValue, object) }
  }
}

extension ManagedKey where Value == NSDecimalNumber? {
  /// The property of an object.
  public subscript(object: NSManagedObject) -> NSDecimalNumber? {
    get { _decimal(object).map { NSDecimalNumber(decimal: $0) } }
    set { write(newValue.map { .decimal(DecimalBox($0.decimalValue)) } ?? .null, newValue, object) }
  }
}

extension ManagedKey where Value == NSDecimalNumber {
  /// The property of an object, of any numeric type; traps if it is nil.
  public subscript(object: NSManagedObject) -> NSDecimalNumber {
    get { _decimal(object).map { NSDecimalNumber(decimal: $0) } ?? missing(object) }
    set { write(.decimal(DecimalBox(newValue.decimalValue)), newValue, object) }
  }
}

// MARK: Reading

extension ManagedKey {
  @inline(__always) fileprivate func _string(_ object: NSManagedObject) -> String? {
    let slot = slot(in: object)
    guard slot != Self.indirect else { return _converted(object) { $0 as? String } }
    return object.string(at: slot)
  }

  @inline(__always) fileprivate func _date(_ object: NSManagedObject) -> Date? {
    let slot = slot(in: object)
    guard slot != Self.indirect else { return _converted(object) { $0 as? Date } }
    return object.double(at: slot).map { Date(timeIntervalSinceReferenceDate: $0) }
  }

  @inline(__always) fileprivate func _data(_ object: NSManagedObject) -> Data? {
    let slot = slot(in: object)
    guard slot != Self.indirect else { return _converted(object) { $0 as? Data } }
    if case .data(let value) = object.read(slot) { return value }
    return nil
  }

  @inline(__always) fileprivate func _uuid(_ object: NSManagedObject) -> UUID? {
    let slot = slot(in: object)
    guard slot != Self.indirect else { return _converted(object) { $0 as? UUID } }
    if case .uuid(let value) = object.read(slot) { return value }
    return nil
  }

  fileprivate func _url(_ object: NSManagedObject) -> URL? {
    let slot = slot(in: object)
    guard slot != Self.indirect else { return _converted(object) { $0 as? URL } }
    return object.string(at: slot).flatMap { URL(string: $0) }
  }

  @inline(__always) fileprivate func _decimal(_ object: NSManagedObject) -> Decimal? {
    let slot = slot(in: object)
    guard slot != Self.indirect else { return _converted(object) { AttributeCoding.decimal(of: $0) } }
    if case .decimal(let box) = object.read(slot) { return box.decimal }
    return nil
  }

  /// Converts the value of a property that has another type in the model. Traps if there is no conversion to
  /// the declared type.
  private func _converted<T>(_ object: NSManagedObject, _ convert: (Any) -> T?) -> T? {
    guard let found = object.valueOfProperty(name) else { return nil }
    return convert(found) ?? mismatch(found, object)
  }
}
