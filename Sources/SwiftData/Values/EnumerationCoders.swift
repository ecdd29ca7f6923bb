import Foundation

/// An enumeration with raw values: a composite of one element, which has the property's name and the raw value's
/// type.
final class RawValueCoder<Value: RawRepresentable>: ValueCoder<Value>, @unchecked Sendable
where Value.RawValue: BasicValue {
  private let _name: String
  private let _path: String

  init(_ name: String, at path: String) {
    _name = name
    _path = path
    let element = StoredForm.Element(
      name: name, form: StoredForm(type: Value.RawValue.attributeType), isOptional: true)
    super.init(StoredForm(type: .compositeAttributeType, elements: [element], holdsOneValue: true))
  }

  override func stored(_ value: Value) -> Any? { [_name: value.rawValue.stored] as [String: Any] }

  override func value(of stored: Any?) -> Value {
    if let raw = (stored as? [String: Any])?[_name].flatMap({ Value.RawValue.restored($0) }),
      let value = Value(rawValue: raw)
    {
      return value
    }
    if let first = EnumerationLayout<Value>.first { return first }
    programmerError("'\(_path)' holds no raw value of \(Value.self) in the store.")
  }

  override func comparable(_ value: Any) -> Any? { (value as? Value)?.rawValue.stored }
}

/// An enumeration without raw values and payloads: a composite with an element for each case. The element of
/// the value's case contains its name.
final class CaseNameCoder<Value>: ValueCoder<Value>, @unchecked Sendable {
  private let _names: [String]

  /// Nil for an enumeration whose cases have payloads.
  init?(_ cases: [TypeReflection.Case]) {
    guard !cases.isEmpty, !cases.contains(where: \.hasPayload) else { return nil }
    _names = cases.map(\.name)
    let elements = cases.map {
      StoredForm.Element(name: $0.name, form: StoredForm(type: .stringAttributeType), isOptional: true)
    }
    super.init(StoredForm(type: .compositeAttributeType, elements: elements))
  }

  override func stored(_ value: Value) -> Any? {
    let name = _names[EnumerationLayout<Value>.index(of: value)]
    return [name: name] as [String: Any]
  }

  override func value(of stored: Any?) -> Value {
    let names = stored as? [String: Any] ?? [:]
    return EnumerationLayout<Value>.value(_names.firstIndex { names[$0] != nil } ?? 0)
  }
}

/// An enumeration with payloads: a composite with an element for each case. The element of the value's case
/// contains its name, or with a payload the whole value as JSON.
final class PayloadCoder<Value>: ValueCoder<Value>, @unchecked Sendable {
  private let _cases: [TypeReflection.Case]
  private let _json: JSONCoder<Value>

  init(_ cases: [TypeReflection.Case], at path: String) {
    _cases = cases
    _json = JSONCoder(path, archived: false)
    let elements = cases.map {
      StoredForm.Element(
        name: $0.name, form: $0.hasPayload ? .json : StoredForm(type: .stringAttributeType), isOptional: true)
    }
    super.init(StoredForm(type: .compositeAttributeType, elements: elements))
  }

  override func stored(_ value: Value) -> Any? {
    let mirror = Mirror(reflecting: value)
    let name = mirror.children.first?.label ?? "\(value)"
    guard let found = _cases.first(where: { $0.name == name }) ?? _cases.first(where: \.hasPayload) else {
      return nil
    }
    return [found.name: found.hasPayload ? _json.stored(value) as Any : found.name] as [String: Any]
  }

  override func canStore(_ value: Value) -> Bool { _json.canStore(value) }

  override func value(of stored: Any?) -> Value {
    let elements = stored as? [String: Any] ?? [:]
    for item in _cases {
      guard let element = elements[item.name] else { continue }
      if item.hasPayload { return _json.value(of: element) }
      return _json.value(of: Data("{\"\(item.name)\":{}}".utf8))
    }
    if let empty = _cases.first(where: { !$0.hasPayload }) {
      return _json.value(of: Data("{\"\(empty.name)\":{}}".utf8))
    }
    return _json.value(of: nil)
  }
}

/// The memory layout of an enumeration without payloads: the case number, in as many bytes as necessary.
enum EnumerationLayout<Value> {
  /// The first case; nil for a type that is not such an enumeration.
  static var first: Value? {
    guard let cases = TypeReflection.cases(of: Value.self), !cases.isEmpty,
      !cases.contains(where: \.hasPayload)
    else { return nil }
    return value(0)
  }

  static func index(of value: Value) -> Int {
    withUnsafeBytes(of: value) { bytes in
      switch bytes.count {
      case 1: Int(bytes.loadUnaligned(as: UInt8.self))
      case 2: Int(bytes.loadUnaligned(as: UInt16.self))
      case 4: Int(bytes.loadUnaligned(as: UInt32.self))
      default: 0
      }
    }
  }

  static func value(_ index: Int) -> Value {
    withUnsafeTemporaryAllocation(of: Value.self, capacity: 1) { memory in
      let base = UnsafeMutableRawPointer(memory.baseAddress!)
      switch MemoryLayout<Value>.size {
      case 1: base.storeBytes(of: UInt8(index), as: UInt8.self)
      case 2: base.storeBytes(of: UInt16(index), as: UInt16.self)
      case 4: base.storeBytes(of: UInt32(index), as: UInt32.self)
      default: break
      }
      return memory.baseAddress!.move()
    }
  }
}
