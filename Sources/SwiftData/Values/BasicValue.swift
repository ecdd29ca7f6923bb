import CoreData

/// A type that the engine's attributes support directly.
protocol BasicValue {
  static var attributeType: NSAttributeType { get }
  /// The value of a required attribute that the store has no value for.
  static var empty: Self { get }
  /// A placeholder that differs from those of other numbers, as far as the type allows, for evaluating key
  /// paths.
  static func placeholder(_ number: Int) -> Self
  /// The value for the engine.
  var stored: Any { get }
  /// Converts an engine value; nil for one of another type.
  static func restored(_ stored: Any) -> Self?
  static func read(_ object: NSManagedObject, _ slot: Int) -> Self?
  static func write(_ value: Self?, _ object: NSManagedObject, _ slot: Int)
}

/// A whole number.
protocol BasicInteger: BasicValue, FixedWidthInteger {}

extension BasicInteger {
  static var empty: Self { 0 }
  static func placeholder(_ number: Int) -> Self { Self(truncatingIfNeeded: 3 &+ number) }
  var stored: Any { Int64(truncatingIfNeeded: self) }

  static func restored(_ stored: Any) -> Self? {
    (stored as? NSNumber).map { Self(truncatingIfNeeded: $0.int64Value) }
  }

  @inline(__always) static func read(_ object: NSManagedObject, _ slot: Int) -> Self? {
    object.integer(at: slot).map { Self(truncatingIfNeeded: $0) }
  }

  @inline(__always) static func write(_ value: Self?, _ object: NSManagedObject, _ slot: Int) {
    object.setInteger(value.map { Int64(truncatingIfNeeded: $0) }, at: slot)
  }
}

extension Int: BasicInteger { static var attributeType: NSAttributeType { .integer64AttributeType } }
extension Int64: BasicInteger { static var attributeType: NSAttributeType { .integer64AttributeType } }
extension Int32: BasicInteger { static var attributeType: NSAttributeType { .integer32AttributeType } }
extension Int16: BasicInteger { static var attributeType: NSAttributeType { .integer16AttributeType } }
// Stored in the next larger type; unsigned 64-bit integers by their bit pattern.
extension Int8: BasicInteger { static var attributeType: NSAttributeType { .integer16AttributeType } }
extension UInt8: BasicInteger { static var attributeType: NSAttributeType { .integer16AttributeType } }
extension UInt16: BasicInteger { static var attributeType: NSAttributeType { .integer32AttributeType } }
extension UInt32: BasicInteger { static var attributeType: NSAttributeType { .integer64AttributeType } }
extension UInt64: BasicInteger { static var attributeType: NSAttributeType { .integer64AttributeType } }
extension UInt: BasicInteger { static var attributeType: NSAttributeType { .integer64AttributeType } }

extension Bool: BasicValue {
  static var attributeType: NSAttributeType { .booleanAttributeType }
  static var empty: Bool { false }
  static func placeholder(_ number: Int) -> Bool { true }
  var stored: Any { self }
  static func restored(_ stored: Any) -> Bool? { (stored as? NSNumber)?.boolValue }
  @inline(__always) static func read(_ object: NSManagedObject, _ slot: Int) -> Bool? {
    object.integer(at: slot).map { $0 != 0 }
  }

  @inline(__always) static func write(_ value: Bool?, _ object: NSManagedObject, _ slot: Int) {
    object.setInteger(value.map { $0 ? 1 : 0 }, at: slot)
  }
}

/// A number that may have a fraction.
protocol BasicFloat: BasicValue, BinaryFloatingPoint {}

extension BasicFloat {
  static var empty: Self { 0 }
  static func placeholder(_ number: Int) -> Self { Self(number) + 3.5 }
  var stored: Any { Double(self) }
  static func restored(_ stored: Any) -> Self? { (stored as? NSNumber).map { Self($0.doubleValue) } }

  @inline(__always) static func read(_ object: NSManagedObject, _ slot: Int) -> Self? {
    object.double(at: slot).map { Self($0) }
  }

  @inline(__always) static func write(_ value: Self?, _ object: NSManagedObject, _ slot: Int) {
    object.setDouble(value.map { Double($0) }, at: slot)
  }
}

extension Double: BasicFloat { static var attributeType: NSAttributeType { .doubleAttributeType } }
extension CGFloat: BasicFloat { static var attributeType: NSAttributeType { .doubleAttributeType } }
extension Float: BasicFloat { static var attributeType: NSAttributeType { .floatAttributeType } }

extension String: BasicValue {
  static var attributeType: NSAttributeType { .stringAttributeType }
  static var empty: String { "" }
  static func placeholder(_ number: Int) -> String { "stand-in \(number)" }
  var stored: Any { self }
  static func restored(_ stored: Any) -> String? { stored as? String }
  @inline(__always) static func read(_ object: NSManagedObject, _ slot: Int) -> String? {
    object.string(at: slot)
  }

  @inline(__always) static func write(_ value: String?, _ object: NSManagedObject, _ slot: Int) {
    object.setString(value, at: slot)
  }
}
