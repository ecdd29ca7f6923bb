import Foundation

/// The values that properties of objects show which cannot be read: nil, zero, empty, an enumeration's first
/// case.
package enum EmptyValue {
  /// Returns the empty value of a type; nil for a type that is not known to have one.
  package static func made<Value>(_ type: Value.Type = Value.self) -> Value? {
    if let type = type as? any _Emptiable.Type { return type._empty as? Value }
    if let type = type as? any AdditiveArithmetic.Type { return _zero(type) as? Value }
    if let type = type as? any RangeReplaceableCollection.Type { return _empty(type) as? Value }
    if let type = type as? any SetAlgebra.Type { return _empty(type) as? Value }
    if let type = type as? any RawRepresentable.Type, let value = _raw(type) { return value as? Value }
    if let type = type as? any CaseIterable.Type, let value = _first(type) { return value as? Value }
    if let type = type as? NSNumber.Type { return _number(type) as? Value }
    if _isEnumeration(type) { return _firstCase() }
    guard type is NSObject.Type else { return nil }
    let objects: [NSObject] = [NSString(), NSData(), NSArray(), NSDictionary(), NSSet(), NSOrderedSet()]
    return objects.lazy.compactMap { $0 as? Value }.first
  }

  private static func _zero<Number: AdditiveArithmetic>(_ type: Number.Type) -> Any { Number.zero }
  private static func _empty<Elements: RangeReplaceableCollection>(_ type: Elements.Type) -> Any {
    Elements()
  }
  private static func _empty<Elements: SetAlgebra>(_ type: Elements.Type) -> Any { Elements() }
  private static func _first<Value: CaseIterable>(_ type: Value.Type) -> Any? { Value.allCases.first }

  private static func _raw<Value: RawRepresentable>(_ type: Value.Type) -> Any? {
    made(Value.RawValue.self).flatMap { Value(rawValue: $0) }
  }

  private static func _number(_ type: NSNumber.Type) -> NSNumber {
    type is NSDecimalNumber.Type ? NSDecimalNumber.zero : 0
  }

  /// Whether a type is an enumeration with raw values: its cases have no payloads, and its memory is the
  /// case's number.
  private static func _isEnumeration<Value>(_ type: Value.Type) -> Bool {
    guard type is any RawRepresentable.Type, [0, 1, 2, 4].contains(MemoryLayout<Value>.size) else {
      return false
    }
    // The first word of a type's metadata is its kind.
    return unsafeBitCast(type as Any.Type, to: UnsafePointer<Int>.self).pointee == 0x201
  }

  private static func _firstCase<Value>() -> Value {
    let layout = MemoryLayout<Value>.self
    return withUnsafeTemporaryAllocation(byteCount: max(1, layout.size), alignment: layout.alignment) {
      $0.initializeMemory(as: UInt8.self, repeating: 0)
      return $0.baseAddress!.load(as: Value.self)
    }
  }
}

/// Types with an empty value that no general protocol offers.
private protocol _Emptiable { static var _empty: Self { get } }
extension Optional: _Emptiable { fileprivate static var _empty: Wrapped? { nil } }
extension Bool: _Emptiable { fileprivate static var _empty: Bool { false } }
extension Date: _Emptiable {
  fileprivate static var _empty: Date { Date(timeIntervalSinceReferenceDate: 0) }
}
extension UUID: _Emptiable {
  fileprivate static var _empty: UUID { UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)) }
}
extension URL: _Emptiable { fileprivate static var _empty: URL { URL(string: "about:blank")! } }
extension Dictionary: _Emptiable { fileprivate static var _empty: [Key: Value] { [:] } }
