import Foundation

/// Stores a structure as a composite: an element for each stored property, in declared order.
///
/// Reads and writes the properties in memory, regardless of their names in the type's Codable form.
final class StructureCoder<Value>: ValueCoder<Value>, @unchecked Sendable {
  private struct Element {
    let name: String
    let offset: Int
    let coder: AnyValueCoder
  }

  private let _elements: [Element]

  /// Nil for a structure with a property that a composite doesn't support.
  init?(_ path: String) {
    guard let fields = TypeReflection.fields(of: Value.self), !fields.isEmpty else { return nil }
    var elements: [Element] = []
    for field in fields {
      // The storage of property wrappers and `lazy` properties isn't part of the type's Codable form.
      guard let first = field.name.first, first != "_", first != "$",
        let coder = ValueCoders.coder(
          forAny: field.type, named: field.name, at: "\(path).\(field.name)", isElement: true)
      else { return nil }
      elements.append(Element(name: field.name, offset: field.offset, coder: coder))
    }
    _elements = elements
    super.init(
      StoredForm(
        type: .compositeAttributeType,
        elements: elements.map {
          StoredForm.Element(name: $0.name, form: $0.coder.form, isOptional: $0.coder.isOptional)
        }, isStructure: true))
  }

  override func stored(_ value: Value) -> Any? {
    var stored: [String: Any] = [:]
    withUnsafeBytes(of: value) { bytes in
      // A structure without a byte has no address.
      guard let base = bytes.baseAddress else { return }
      for element in _elements { stored[element.name] = element.coder.stored(at: base + element.offset) }
    }
    return stored
  }

  override func value(of stored: Any?) -> Value {
    let elements = stored as? [String: Any] ?? [:]
    return _make { $0.coder.initialize($1, from: elements[$0.name]) }
  }

  override func value(of stored: Any?, orElse fallback: Any) -> Value {
    // Nothing in any element is a value, if all of them may be missing.
    let isMissing = isAbsent(stored) && _elements.contains { !$0.coder.isOptional }
    let others = fallback as? [String: Any] ?? [:]
    let elements = isMissing ? others : stored as? [String: Any] ?? [:]
    return _make { element, address in
      let other = element.coder.isOptional ? nil : others[element.name]
      element.coder.initialize(address, from: elements[element.name], orElse: other)
    }
  }

  override func canStore(_ value: Value) -> Bool {
    withUnsafeBytes(of: value) { bytes in
      guard let base = bytes.baseAddress else { return true }
      return _elements.allSatisfy { $0.coder.canStore(at: base + $0.offset) }
    }
  }

  override func placeholder(_ number: inout Int) -> Value {
    _make { $0.coder.initializeStandIn($1, &number) }
  }

  private func _make(_ initialize: (Element, UnsafeMutableRawPointer) -> Void) -> Value {
    withUnsafeTemporaryAllocation(of: Value.self, capacity: 1) { memory in
      let base = UnsafeMutableRawPointer(memory.baseAddress!)
      for element in _elements { initialize(element, base + element.offset) }
      return memory.baseAddress!.move()
    }
  }

  override func elementPath(of keyPath: AnyKeyPath) -> [String]? {
    guard let keyPath = keyPath as? PartialKeyPath<Value> else { return nil }
    let type = Swift.type(of: keyPath).valueType
    if let offset = MemoryLayout<Value>.offset(of: keyPath) {
      for element in _elements where element.offset == offset {
        return _path(of: element, type)
      }
    }
    return nil
  }

  /// The element, and within an enumeration the element that contains it.
  private func _path(of element: Element, _ type: Any.Type) -> [String] {
    [element.name] + (element.coder.form.valuePath ?? [])
  }
}

extension StoredForm {
  /// In a composite with a single value, such as those of enumerations with raw values, the path to it.
  var valuePath: [String]? {
    guard type == .compositeAttributeType, holdsOneValue, let only = elements.first else { return nil }
    return [only.name]
  }
}
