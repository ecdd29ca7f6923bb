import CoreData

/// Translates key paths and values of model classes for the engine's stores.
struct ModelVocabulary: PredicateVocabulary {
  let context: ModelContext

  /// The reason why a part of a predicate can't be translated for a store.
  struct Failure: Error, CustomStringConvertible {
    let description: String
  }

  func path(of keyPath: AnyKeyPath, from root: Any.Type) throws -> [String]? {
    if let model = root as? any PersistentModel.Type {
      return try Self.path(of: keyPath, from: ModelClass.of(model))
    }
    if root is any BasicValue.Type { return nil }
    if root is any RawRepresentable.Type, TypeReflection.kind(of: root) == .enumeration {
      // The element with the raw value already represents the value.
      if keyPath is any RawValuePath { return [] }
      throw Failure(description: "\(keyPath) is computed")
    }
    guard root is any Codable.Type, TypeReflection.kind(of: root) == .structure,
      !TypeReflection.isOfTheSystem(root)
    else { return nil }
    guard
      let path = ValueCoders.coder(forAny: root, named: "", at: "\(root)", isElement: true)?
        .elementPath(of: keyPath)
    else { throw Failure(description: "\(keyPath) is no stored property of \(root)") }
    return path
  }

  /// Returns the names of properties and elements along a key path from a model.
  static func path(of keyPath: AnyKeyPath, from modelClass: ModelClass) throws -> [String] {
    if let index = modelClass.knownIndex(of: keyPath) {
      let accessor = modelClass.accessors[index]
      if let form = accessor.form { try _check(form, modelClass, accessor.name) }
      return [accessor.name] + accessor.valuePath
    }
    if type(of: keyPath).valueType == PersistentIdentifier.self { return [] }
    let path = try KeyPathRecording.path(of: keyPath, from: modelClass)
    return path
  }

  /// Rejects attributes whose stored form can't be compared.
  private static func _check(_ form: StoredForm, _ modelClass: ModelClass, _ name: String) throws {
    let isJSON =
      form.type == .transformableAttributeType || form.isJSON
    if isJSON {
      throw Failure(description: "'\(modelClass.name).\(name)' is kept in a form that stores can't search")
    }
    if form.type == .compositeAttributeType, !form.holdsOneValue, !form.isStructure {
      throw Failure(description: "'\(modelClass.name).\(name)' is an enumeration without raw values")
    }
  }

  func constant(for value: Any) throws -> PredicateConstant? {
    switch value {
    // Frequent types first: the casts below inspect every element of an array.
    case is String, is Int, is [String], is [Int], is [UUID]: return nil
    case let identifier as PersistentIdentifier: return .value(try _objectID(identifier))
    case let model as any PersistentModel where type(of: value) is AnyClass:
      return .value(try _objectID(of: model))
    case let models as [any PersistentModel] where !models.isEmpty:
      return .value(try models.map { try _objectID(of: $0) })
    case let identifiers as [PersistentIdentifier]:
      return .value(identifiers.compactMap { try? _objectID($0) } as [NSManagedObjectID])
    case let identifiers as Set<PersistentIdentifier>:
      return .value(identifiers.compactMap { try? _objectID($0) } as [NSManagedObjectID])
    case let optional as any OptionalType where type(of: value) is any OptionalType.Type:
      guard let wrapped = optional.wrappedValue else { return .value(nil) }
      return try constant(for: wrapped) ?? .value(wrapped)
    case is any BasicValue: return nil
    case let raw as any RawRepresentable: return _rawValue(raw).map { .value($0) }
    case let models as any ModelSet: return .value(try models.models.map { try _objectID(of: $0) })
    case let collection as any Collection where !(value is String):
      return _constants(collection).map { .value($0) }
    default:
      if TypeReflection.kind(of: type(of: value)) != .other, value is any Codable {
        throw Failure(description: "a \(type(of: value)) isn't compared by a store")
      }
      return nil
    }
  }

  private func _objectID<Model: PersistentModel>(of model: Model) throws -> NSManagedObjectID {
    guard let object = model._modelStorage?.object else {
      throw Failure(description: "the model was never inserted")
    }
    return object.objectID
  }

  private func _rawValue<Value: RawRepresentable>(_ value: Value) -> Any? {
    (value.rawValue as? any BasicValue)?.stored
  }

  /// Returns the raw values of a collection of enumerations; nil for other types.
  private func _constants<Values: Collection>(_ values: Values) -> [Any]? {
    guard Values.Element.self is any RawRepresentable.Type, !(Values.Element.self is any BasicValue.Type)
    else {
      return nil
    }
    return values.compactMap { ($0 as? any RawRepresentable).flatMap { _rawValue($0) } }
  }

  private func _objectID(_ identifier: PersistentIdentifier) throws -> NSManagedObjectID {
    if let object = identifier.isTemporary ? context.object(for: identifier) : nil { return object.objectID }
    guard let id = context.objectID(for: identifier) else {
      throw Failure(description: "\(identifier.id.uri) is of no store of this container")
    }
    return id
  }

  func entityNames(of type: Any.Type) -> [String]? {
    guard let model = type as? any PersistentModel.Type,
      let binding = context.core.bindings.binding(of: model)
    else { return nil }
    func names(_ entity: NSEntityDescription) -> [String] {
      [entity.name ?? ""] + entity.subentities.flatMap { names($0) }
    }
    return names(binding.entity)
  }
}

/// The key path of an enumeration's raw value.
private protocol RawValuePath {}
extension KeyPath: RawValuePath where Root: RawRepresentable, Value == Root.RawValue {}

/// A set of models.
private protocol ModelSet {
  var models: [any PersistentModel] { get }
}

extension Set: ModelSet where Element: PersistentModel {
  fileprivate var models: [any PersistentModel] { Array(self) }
}
