import CoreData

/// Reads and writes one property of a model class in the engine's objects.
///
/// Immutable. One per property of a class, and one per entity of the class, which knows the slot.
class PropertyAccessor: @unchecked Sendable {
  // Unchecked: all members of all subclasses are immutable except `slot`, which is set before the accessor is
  // shared.

  let name: String
  /// Place in the engine's rows; -1 in the accessor of the class.
  fileprivate(set) final var slot = -1

  init(_ name: String) { self.name = name }

  /// The attribute's stored form; nil for a relationship.
  var form: StoredForm? { nil }
  /// Class at the other end; nil for an attribute.
  var destination: (any PersistentModel.Type)? { nil }
  var isToMany: Bool { false }
  /// Whether nil is a value.
  var isOptional: Bool { false }

  /// A copy for another slot.
  func copy() -> PropertyAccessor { fatalError("overridden") }

  final func bound(to slot: Int) -> PropertyAccessor {
    let copy = copy()
    copy.slot = slot
    copy.declare(declaredValue)
    return copy
  }

  /// Sets the value of the property's declaration; nil for none. Called before the accessor is shared.
  func declare(_ value: Any?) {}

  /// The value of the property's declaration, which stands for one that the store lacks; nil for none.
  var declaredValue: Any? { nil }

  /// The engine's value for the declared one; nil for none.
  var storedDeclaration: Any? { nil }

  /// The value, untyped.
  func any(_ object: NSManagedObject, _ storage: ModelStorage) -> Any { fatalError("overridden") }

  /// Sets an untyped value, which must be of the property's type.
  func setAny(_ value: Any, _ object: NSManagedObject, _ storage: ModelStorage) { fatalError("overridden") }

  /// Sets the value that a model had before it was inserted. Keeps values that others have since set at the
  /// other end of a relationship.
  func fill(_ value: Any, _ object: NSManagedObject, _ storage: ModelStorage) {
    setAny(value, object, storage)
  }

  /// Sets the property in a new object to the value that the model had before it was inserted.
  func fill(_ value: DetachedValue, _ object: NSManagedObject, _ storage: ModelStorage) {
    if let value = value.any { fill(value, object, storage) }
  }

  /// Returns the engine's value for a value; nil for null.
  ///
  /// - Throws: `DecodingError` for a value of another type whose coded form doesn't fit the attribute.
  func stored(_ value: Any) throws -> Any? { nil }
  /// Type of an attribute's values, as a Codable one.
  var codableType: (any Codable.Type)? { nil }

  /// Converts an engine value of the attribute; nil for one of another type.
  func restored(_ stored: Any) -> Any? { nil }

  /// Returns the names of elements that lead to a part of an attribute's value; nil if there are none.
  func elementPath(of keyPath: AnyKeyPath) -> [String]? { nil }

  /// Returns the engine's value for a placeholder.
  func storedPlaceholder(_ placeholder: Any) -> Any? { nil }

  /// The path of elements from an attribute to its actual value.
  var valuePath: [String] { form?.valuePath ?? [] }

  /// Returns the engine's value for comparing a value in a store; nil if stores can't compare it.
  func comparable(_ value: Any) -> Any? { nil }
}

/// A typed accessor.
class ValueAccessor<Value>: PropertyAccessor, @unchecked Sendable {
  /// The value of the property's declaration; nil for none.
  private(set) final var declared: Value?

  override func declare(_ value: Any?) { declared = value.flatMap { $0 as? Value } }
  final override var declaredValue: Any? { declared }

  func value(_ object: NSManagedObject, _ storage: ModelStorage) -> Value { fatalError("overridden") }
  func set(_ value: Value, _ object: NSManagedObject, _ storage: ModelStorage) { fatalError("overridden") }

  /// Returns the value of the property in a model without a stored value.
  func absent(_ model: String) -> Value {
    programmerError(
      "'\(model).\(name)' was read before it had a value. Assign it in the initialiser, or give it an initial value."
    )
  }

  /// Returns a placeholder for evaluating key paths; nil if there is none.
  func placeholder(_ number: inout Int, _ recording: KeyPathRecording) -> Value? { nil }

  final override func any(_ object: NSManagedObject, _ storage: ModelStorage) -> Any {
    value(object, storage)
  }

  final override func setAny(_ value: Any, _ object: NSManagedObject, _ storage: ModelStorage) {
    guard let value = value as? Value else {
      programmerError("'\(name)' takes a \(Value.self), not a \(type(of: value)).")
    }
    set(value, object, storage)
  }
}

/// An attribute of a type that the engine supports directly.
class BasicAccessor<Value: BasicValue>: ValueAccessor<Value>, @unchecked Sendable {
  override var form: StoredForm? { StoredForm(type: Value.attributeType) }
  override func copy() -> PropertyAccessor { BasicAccessor(name) }

  override func value(_ object: NSManagedObject, _ storage: ModelStorage) -> Value {
    Value.read(object, slot) ?? declared ?? .empty
  }

  final override var storedDeclaration: Any? { declared?.stored }

  override func set(_ value: Value, _ object: NSManagedObject, _ storage: ModelStorage) {
    Value.write(value, object, slot)
  }

  final override func placeholder(_ number: inout Int, _ recording: KeyPathRecording) -> Value? {
    number += 1
    return .placeholder(number)
  }

  final override func comparable(_ value: Any) -> Any? { (value as? Value)?.stored }
  final override func stored(_ value: Any) throws -> Any? { try _converted(value, Value.self).stored }
  final override var codableType: (any Codable.Type)? { Value.self as? any Codable.Type }
  final override func restored(_ stored: Any) -> Any? { Value.restored(stored) }
}

/// An optional attribute of a type that the engine supports directly.
class OptionalBasicAccessor<Value: BasicValue>: ValueAccessor<Value?>, @unchecked Sendable {
  override var form: StoredForm? { StoredForm(type: Value.attributeType) }
  override var isOptional: Bool { true }
  override func copy() -> PropertyAccessor { OptionalBasicAccessor(name) }

  override func value(_ object: NSManagedObject, _ storage: ModelStorage) -> Value? {
    Value.read(object, slot)
  }

  override func set(_ value: Value?, _ object: NSManagedObject, _ storage: ModelStorage) {
    Value.write(value, object, slot)
  }

  final override func absent(_ model: String) -> Value? { nil }

  final override func placeholder(_ number: inout Int, _ recording: KeyPathRecording) -> Value?? {
    number += 1
    return .some(.placeholder(number))
  }

  final override func comparable(_ value: Any) -> Any? { (value as? Value)?.stored }
  final override func stored(_ value: Any) throws -> Any? { try _converted(value, Value.self).stored }
  final override var codableType: (any Codable.Type)? { Value.self as? any Codable.Type }
  final override func restored(_ stored: Any) -> Any? { Value.restored(stored) }
}

/// An attribute whose values are converted by a coder.
final class CodedAccessor<Value>: ValueAccessor<Value>, @unchecked Sendable {
  private let _coder: ValueCoder<Value>
  /// The engine's value for the declared one, for what a store lacks.
  private var _fallback: Any?

  init(_ name: String, _ coder: ValueCoder<Value>) {
    _coder = coder
    super.init(name)
  }

  override var form: StoredForm? { _coder.form }
  override var isOptional: Bool { _coder.isOptional }
  override func copy() -> PropertyAccessor { CodedAccessor(name, _coder) }

  override func declare(_ value: Any?) {
    super.declare(value)
    _fallback = isOptional ? nil : storedDeclaration
  }

  override var storedDeclaration: Any? {
    guard let declared, _coder.canStore(declared) else { return nil }
    return _coder.stored(declared)
  }

  override func value(_ object: NSManagedObject, _ storage: ModelStorage) -> Value {
    let stored = object.value(forKey: name)
    // Caches decoded JSON: decoding an array on every access would make loops slow.
    guard let data = stored as? Data else {
      return _fallback.map { _coder.value(of: stored, orElse: $0) } ?? _coder.value(of: stored)
    }
    if let known = storage.decoded[slot], known.data == data, let value = known.value as? Value {
      return value
    }
    let value = _coder.value(of: data)
    storage.decoded[slot] = (data, value)
    return value
  }

  override func set(_ value: Value, _ object: NSManagedObject, _ storage: ModelStorage) {
    object.notifyWrite(forKey: name)
    object.setValue(_coder.stored(value), forKey: name)
  }

  override func absent(_ model: String) -> Value { isOptional ? _coder.value(of: nil) : super.absent(model) }

  override func placeholder(_ number: inout Int, _ recording: KeyPathRecording) -> Value? {
    // Empty JSON need not be a valid value.
    form?.type == .compositeAttributeType || isOptional ? _coder.placeholder(&number) : nil
  }

  override func storedPlaceholder(_ placeholder: Any) -> Any? {
    (placeholder as? Value).flatMap { _coder.stored($0) }
  }
  override func stored(_ value: Any) throws -> Any? { _coder.stored(try _converted(value, Value.self)) }
  override var codableType: (any Codable.Type)? { Value.self as? any Codable.Type }
  override func restored(_ stored: Any) -> Any? { flattened(_coder.value(of: stored)) }
  override func elementPath(of keyPath: AnyKeyPath) -> [String]? { _coder.elementPath(of: keyPath) }
  override func comparable(_ value: Any) -> Any? { _coder.comparable(value) }
}

/// An attribute whose values a value transformer turns into data.
final class TransformableAccessor<Value>: ValueAccessor<Value>, @unchecked Sendable {
  private let _transformer: String

  init(_ name: String, transformer: String) {
    _transformer = transformer
    super.init(name)
  }

  override var form: StoredForm? {
    StoredForm(
      type: .transformableAttributeType, transformerName: _transformer,
      valueClassName: String(describing: Value.self))
  }

  override var isOptional: Bool { Value.self is any OptionalType.Type }
  override func copy() -> PropertyAccessor { TransformableAccessor(name, transformer: _transformer) }

  override func value(_ object: NSManagedObject, _ storage: ModelStorage) -> Value {
    let stored = object.value(forKey: name)
    if let value = stored as? Value { return value }
    if stored == nil, let none = nilValue(of: Value.self) ?? declared { return none }
    if object.isUnreadable, let empty = EmptyValue.made(Value.self) { return empty }
    programmerError(
      "'\(name)' holds \(stored.map { "a \(type(of: $0))" } ?? "nothing"), not a \(Value.self).")
  }

  override func set(_ value: Value, _ object: NSManagedObject, _ storage: ModelStorage) {
    object.notifyWrite(forKey: name)
    object.setValue(flattened(value), forKey: name)
  }

  override var storedDeclaration: Any? { flattened(declared) }

  override func absent(_ model: String) -> Value {
    nilValue(of: Value.self) ?? super.absent(model)
  }
}

/// Converts a value to a property's type, directly or through its coded form.
private func _converted<Value>(_ value: Any, _ type: Value.Type) throws -> Value {
  if let value = value as? Value { return value }
  guard let encodable = value as? any Encodable, let wanted = type as? any Decodable.Type,
    let converted = try JSONDecoder().decode(wanted, from: JSONEncoder().encode(encodable)) as? Value
  else {
    throw DecodingError.typeMismatch(
      type,
      .init(codingPath: [], debugDescription: "A snapshot has a \(Swift.type(of: value)) for a \(type)."))
  }
  return converted
}
