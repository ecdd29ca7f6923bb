import CoreData

/// Reads and writes one property of a model class in the engine's objects.
///
/// Immutable. One for each property of a class, and one for each entity that stands for the class, which knows
/// the slot.
class PropertyAccessor: @unchecked Sendable {
  // Unchecked: all members of all subclasses are immutable but `slot`, which is set before anybody else has it.

  let name: String
  /// Place in the engine's rows; -1 in the accessor of the class.
  fileprivate(set) final var slot = -1

  init(_ name: String) { self.name = name }

  /// How the attribute lies in a store; nil for a relationship.
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
    return copy
  }

  /// The value as anything.
  func any(_ object: NSManagedObject, _ storage: ModelStorage) -> Any { fatalError("overridden") }

  /// Sets a value of the property's type given as anything.
  func setAny(_ value: Any, _ object: NSManagedObject, _ storage: ModelStorage) { fatalError("overridden") }

  /// Sets the value that a model had before it was inserted. What others have set since at the other end of a relationship
  /// stays.
  func fill(_ value: Any, _ object: NSManagedObject, _ storage: ModelStorage) {
    setAny(value, object, storage)
  }

  /// Sets the property in a new object to the value that the model had before it was inserted.
  func fill(_ value: DetachedValue, _ object: NSManagedObject, _ storage: ModelStorage) {
    if let value = value.any { fill(value, object, storage) }
  }

  /// What the engine keeps for a value; nil for null.
  ///
  /// - Throws: `DecodingError` for a value of another type that has no coded form of the attribute's.
  func stored(_ value: Any) throws -> Any? { nil }
  /// Type of an attribute's values, as a Codable one.
  var codableType: (any Codable.Type)? { nil }

  /// The value of what the engine gives for the attribute; nil for something else.
  func restored(_ stored: Any) -> Any? { nil }

  /// The names of elements that lead to a part of an attribute's value; nil for no such part.
  func elementPath(of keyPath: AnyKeyPath) -> [String]? { nil }

  /// What the engine would keep for a stand-in.
  func storedStandIn(_ standIn: Any) -> Any? { nil }

  /// Elements between an attribute and what stands for its value.
  var valuePath: [String] { form?.valuePath ?? [] }

  /// What a store is asked with for a value; nil where no store can be asked.
  func comparable(_ value: Any) -> Any? { nil }
}

/// An accessor that knows the property's type.
class ValueAccessor<Value>: PropertyAccessor, @unchecked Sendable {
  func value(_ object: NSManagedObject, _ storage: ModelStorage) -> Value { fatalError("overridden") }
  func set(_ value: Value, _ object: NSManagedObject, _ storage: ModelStorage) { fatalError("overridden") }

  /// What the property of a model that has no value for it shows.
  func absent(_ model: String) -> Value {
    programmerError(
      "'\(model).\(name)' was read before it had a value. Assign it in the initialiser, or give it an initial value."
    )
  }

  /// A value to follow key paths with; nil where there is none.
  func standIn(_ number: inout Int, _ recording: KeyPathRecording) -> Value? { nil }

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

/// An attribute of a type that the engine knows.
class BasicAccessor<Value: BasicValue>: ValueAccessor<Value>, @unchecked Sendable {
  override var form: StoredForm? { StoredForm(type: Value.attributeType) }
  override func copy() -> PropertyAccessor { BasicAccessor(name) }

  override func value(_ object: NSManagedObject, _ storage: ModelStorage) -> Value {
    Value.read(object, slot) ?? .empty
  }

  override func set(_ value: Value, _ object: NSManagedObject, _ storage: ModelStorage) {
    Value.write(value, object, slot)
  }

  final override func standIn(_ number: inout Int, _ recording: KeyPathRecording) -> Value? {
    number += 1
    return .standIn(number)
  }

  final override func comparable(_ value: Any) -> Any? { (value as? Value)?.stored }
  final override func stored(_ value: Any) throws -> Any? { try converted(value, Value.self).stored }
  final override var codableType: (any Codable.Type)? { Value.self as? any Codable.Type }
  final override func restored(_ stored: Any) -> Any? { Value.restored(stored) }
}

/// An optional attribute of a type that the engine knows.
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

  final override func standIn(_ number: inout Int, _ recording: KeyPathRecording) -> Value?? {
    number += 1
    return .some(.standIn(number))
  }

  final override func comparable(_ value: Any) -> Any? { (value as? Value)?.stored }
  final override func stored(_ value: Any) throws -> Any? { try converted(value, Value.self).stored }
  final override var codableType: (any Codable.Type)? { Value.self as? any Codable.Type }
  final override func restored(_ stored: Any) -> Any? { Value.restored(stored) }
}

/// An attribute whose values a coder turns into what the engine knows.
final class CodedAccessor<Value>: ValueAccessor<Value>, @unchecked Sendable {
  private let _coder: ValueCoder<Value>

  init(_ name: String, _ coder: ValueCoder<Value>) {
    _coder = coder
    super.init(name)
  }

  override var form: StoredForm? { _coder.form }
  override var isOptional: Bool { _coder.isOptional }
  override func copy() -> PropertyAccessor { CodedAccessor(name, _coder) }

  override func value(_ object: NSManagedObject, _ storage: ModelStorage) -> Value {
    let stored = object.value(forKey: name)
    // Decoding JSON for every look at an array would make loops over it slow.
    guard let data = stored as? Data else { return _coder.value(of: stored) }
    if let known = storage.decoded[slot], known.data == data, let value = known.value as? Value {
      return value
    }
    let value = _coder.value(of: data)
    storage.decoded[slot] = (data, value)
    return value
  }

  override func set(_ value: Value, _ object: NSManagedObject, _ storage: ModelStorage) {
    object.setValue(_coder.stored(value), forKey: name)
  }

  override func absent(_ model: String) -> Value { isOptional ? _coder.value(of: nil) : super.absent(model) }

  override func standIn(_ number: inout Int, _ recording: KeyPathRecording) -> Value? {
    // JSON of nothing need not be a value.
    form?.type == .compositeAttributeType || isOptional ? _coder.standIn(&number) : nil
  }

  override func storedStandIn(_ standIn: Any) -> Any? { (standIn as? Value).flatMap { _coder.stored($0) } }
  override func stored(_ value: Any) throws -> Any? { _coder.stored(try converted(value, Value.self)) }
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
    if stored == nil, let none = nilValue(of: Value.self) { return none }
    programmerError(
      "'\(name)' holds \(stored.map { "a \(type(of: $0))" } ?? "nothing"), not a \(Value.self).")
  }

  override func set(_ value: Value, _ object: NSManagedObject, _ storage: ModelStorage) {
    object.setValue(flattened(value), forKey: name)
  }

  override func absent(_ model: String) -> Value {
    nilValue(of: Value.self) ?? super.absent(model)
  }
}

/// A value as one of a property's type: itself, or what its coded form decodes to.
private func converted<Value>(_ value: Any, _ type: Value.Type) throws -> Value {
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
