import Foundation

/// Converts between the values of a type, known only at run time, and the engine's values. Immutable.
class AnyValueCoder: @unchecked Sendable {
  // Unchecked: all members of all subclasses are immutable.

  /// The stored form of the values.
  let form: StoredForm
  /// Whether nil is a value.
  let isOptional: Bool

  init(_ form: StoredForm, isOptional: Bool = false) {
    self.form = form
    self.isOptional = isOptional
  }

  /// Returns the engine's value for the value at an address; nil for null.
  func stored(at address: UnsafeRawPointer) -> Any? { fatalError("overridden") }

  /// Initializes the memory at an address with the value of an engine value.
  func initialize(_ address: UnsafeMutableRawPointer, from stored: Any?) { fatalError("overridden") }

  /// Initializes the memory at an address with the value of an engine value, with another one for what it
  /// lacks.
  func initialize(_ address: UnsafeMutableRawPointer, from stored: Any?, orElse fallback: Any?) {
    fatalError("overridden")
  }

  /// Whether a value at an address can be stored.
  func canStore(at address: UnsafeRawPointer) -> Bool { fatalError("overridden") }

  /// Initializes the memory at an address with a placeholder.
  func initializeStandIn(_ address: UnsafeMutableRawPointer, _ number: inout Int) { fatalError("overridden") }

  /// Returns the names of elements that lead to a part of the value, by a key path from it; nil if there are
  /// none.
  func elementPath(of keyPath: AnyKeyPath) -> [String]? { nil }

  /// Returns the engine's value for comparing an untyped value in a store; nil if stores can't compare it.
  func comparable(_ value: Any) -> Any? { nil }
}

/// A typed coder.
class ValueCoder<Value>: AnyValueCoder, @unchecked Sendable {
  /// Returns the engine's value for a value; nil for null.
  func stored(_ value: Value) -> Any? { fatalError("overridden") }

  /// Converts an engine value. An unreadable one yields the empty value of the type.
  func value(of stored: Any?) -> Value { fatalError("overridden") }

  /// Converts an engine value; what it lacks is taken from the engine value of another one.
  func value(of stored: Any?, orElse fallback: Any) -> Value {
    value(of: !isOptional && isAbsent(stored) ? fallback : stored)
  }

  /// Whether a value can be stored: JSON lacks some numbers, and a type's own coding may fail.
  func canStore(_ value: Value) -> Bool { true }

  /// A value for evaluating key paths.
  func placeholder(_ number: inout Int) -> Value { value(of: nil) }

  final override func stored(at address: UnsafeRawPointer) -> Any? {
    stored(address.assumingMemoryBound(to: Value.self).pointee)
  }

  final override func initialize(_ address: UnsafeMutableRawPointer, from stored: Any?) {
    address.initializeMemory(as: Value.self, to: value(of: stored))
  }

  final override func initialize(
    _ address: UnsafeMutableRawPointer, from stored: Any?, orElse fallback: Any?
  ) {
    address.initializeMemory(
      as: Value.self, to: fallback.map { value(of: stored, orElse: $0) } ?? value(of: stored))
  }

  final override func canStore(at address: UnsafeRawPointer) -> Bool {
    canStore(address.assumingMemoryBound(to: Value.self).pointee)
  }

  final override func initializeStandIn(_ address: UnsafeMutableRawPointer, _ number: inout Int) {
    address.initializeMemory(as: Value.self, to: placeholder(&number))
  }
}

/// Whether an engine value is null, or a composite of nulls.
func isAbsent(_ stored: Any?) -> Bool {
  guard let stored else { return true }
  return (stored as? [String: Any])?.values.allSatisfy { isAbsent($0) } ?? false
}

/// Types that the engine supports directly.
final class BasicCoder<Value: BasicValue>: ValueCoder<Value>, @unchecked Sendable {
  init() { super.init(StoredForm(type: Value.attributeType)) }

  override func stored(_ value: Value) -> Any? { value.stored }
  override func value(of stored: Any?) -> Value { stored.flatMap { Value.restored($0) } ?? .empty }

  override func placeholder(_ number: inout Int) -> Value {
    number += 1
    return .placeholder(number)
  }

  override func comparable(_ value: Any) -> Any? { (value as? Value)?.stored }
}

/// Optional values: nil is null.
final class OptionalCoder<Wrapped>: ValueCoder<Wrapped?>, @unchecked Sendable {
  private let _wrapped: ValueCoder<Wrapped>

  init(_ wrapped: ValueCoder<Wrapped>) {
    _wrapped = wrapped
    super.init(wrapped.form.optional, isOptional: true)
  }

  override func stored(_ value: Wrapped?) -> Any? { value.flatMap { _wrapped.stored($0) } }

  override func value(of stored: Any?) -> Wrapped? {
    guard let stored else { return nil }
    return _wrapped.value(of: stored)
  }

  override func canStore(_ value: Wrapped?) -> Bool { value.map { _wrapped.canStore($0) } ?? true }
  override func placeholder(_ number: inout Int) -> Wrapped? { _wrapped.placeholder(&number) }
  override func elementPath(of keyPath: AnyKeyPath) -> [String]? { _wrapped.elementPath(of: keyPath) }
  override func comparable(_ value: Any) -> Any? { _wrapped.comparable(value) }
}

/// All other Codable types, as JSON.
final class JSONCoder<Value>: ValueCoder<Value>, @unchecked Sendable {
  private let _name: String

  init(_ name: String, archived: Bool) {
    _name = name
    super.init(
      archived
        ? StoredForm(
          type: .transformableAttributeType, transformerName: "NSSecureUnarchiveFromData",
          valueClassName: String(describing: Value.self)) : .json)
  }

  override func stored(_ value: Value) -> Any? {
    guard let encodable = value as? any Encodable else {
      programmerError("'\(_name)' holds a \(type(of: value)), which isn't Encodable; make its type Codable.")
    }
    do {
      return try JSONEncoder().encode(encodable)
    } catch {
      programmerError("'\(_name)' can't be encoded as JSON: \(error)")
    }
  }

  override func canStore(_ value: Value) -> Bool {
    (value as? any Encodable).map { (try? JSONEncoder().encode($0)) != nil } ?? false
  }

  override func value(of stored: Any?) -> Value {
    if let data = stored as? Data, let type = Value.self as? any Decodable.Type {
      do {
        if let value = try JSONDecoder().decode(type, from: data) as? Value { return value }
      } catch {
        Console.warnOnce(about: _name, "'\(_name)' holds JSON that is no \(Value.self): \(error)")
      }
    }
    if let empty = Value.self as? any EmptyValue.Type { return empty.init() as! Value }
    guard let type = Value.self as? any Decodable.Type,
      let value = Self._made(type) ?? EmptyDecoder.decode(type) as? Value
    else {
      programmerError(
        "'\(_name)' has no value in the store that is a \(Value.self). Declare it optional, or migrate the store with a "
          + "custom stage that sets it.")
    }
    return value
  }

  /// A value decoded from minimal JSON, for types that accept it.
  private static func _made(_ type: any Decodable.Type) -> Value? {
    for text in ["{}", "[]", "0", "\"\"", "null"] {
      if let value = try? JSONDecoder().decode(type, from: Data(text.utf8)) as? Value { return value }
    }
    return nil
  }
}

/// Types with an empty value.
private protocol EmptyValue { init() }
extension Array: EmptyValue {}
extension Dictionary: EmptyValue {}
extension Set: EmptyValue {}
