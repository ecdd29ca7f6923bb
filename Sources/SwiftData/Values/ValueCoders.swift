import Foundation

/// Finds the coder of a type.
enum ValueCoders {
  /// Returns the coder of a type known only at run time; nil for a type that can't be stored.
  ///
  /// - Parameters:
  ///   - name: Name of the property, which an enumeration's element uses.
  ///   - path: Entity and property, for messages.
  ///   - isElement: Whether the value is part of a composite, where collections are plain JSON.
  static func coder(
    forAny type: Any.Type, named name: String, at path: String, isElement: Bool
  ) -> AnyValueCoder? {
    func open<Value>(_ type: Value.Type) -> AnyValueCoder? {
      coder(for: type, named: name, at: path, isElement: isElement)
    }
    return _openExistential(type, do: open)
  }

  /// The coder of a type; nil for a type that can't be stored.
  static func coder<Value>(
    for type: Value.Type, named name: String, at path: String, isElement: Bool
  ) -> ValueCoder<Value>? {
    if let basic = type as? any BasicValue.Type {
      return _basic(basic) as? ValueCoder<Value>
    }
    if let optional = type as? any OptionalType.Type {
      func open<Wrapped>(_ wrapped: Wrapped.Type) -> AnyValueCoder? {
        coder(for: wrapped, named: name, at: path, isElement: isElement).map { OptionalCoder($0) }
      }
      return _openExistential(optional.wrappedType, do: open) as? ValueCoder<Value>
    }
    guard type is any Codable.Type else { return nil }
    switch TypeReflection.kind(of: type) {
    case .enumeration:
      if let raw = type as? any RawRepresentable.Type, let coder = _raw(raw, name, path) {
        return coder as? ValueCoder<Value>
      }
      if let cases = TypeReflection.cases(of: type), !cases.isEmpty {
        return CaseNameCoder<Value>(cases) ?? PayloadCoder<Value>(cases, at: path)
      }
    case .structure where !TypeReflection.isOfTheSystem(type):
      if let coder = StructureCoder<Value>(path) { return coder }
    default: break
    }
    return JSONCoder<Value>(path, archived: !isElement && type is any ArrayType.Type)
  }

  private static func _basic<Value: BasicValue>(_ type: Value.Type) -> AnyValueCoder { BasicCoder<Value>() }

  private static func _raw<Value: RawRepresentable>(
    _ type: Value.Type, _ name: String, _ path: String
  ) -> AnyValueCoder? {
    guard let raw = Value.RawValue.self as? any BasicValue.Type else { return nil }
    func open<Raw: BasicValue>(_ raw: Raw.Type) -> AnyValueCoder? {
      (RawCoderMaker<Value, Raw>.self as? any RawCoderMaking.Type)?.make(name, at: path)
    }
    return open(raw)
  }
}

/// Creates the coder if the compiler can't know that an enumeration's raw values are basic ones.
private protocol RawCoderMaking {
  static func make(_ name: String, at path: String) -> AnyValueCoder
}

private enum RawCoderMaker<Value: RawRepresentable, Raw: BasicValue> {}

extension RawCoderMaker: RawCoderMaking where Value.RawValue == Raw {
  static func make(_ name: String, at path: String) -> AnyValueCoder { RawValueCoder<Value>(name, at: path) }
}

/// Any array.
private protocol ArrayType {}
extension Array: ArrayType {}
