import CoreDataModelSchema
import CoreDataPredicateLanguage
import Foundation

/// Evaluates predicates on a managed object: reads current values and follows relationships in its context.
struct ManagedObjectSubject: ManagedPredicateSubject {
  let object: NSManagedObject

  var predicateValue: PredicateValue { .object(PredicateObject(object)) }

  var isReadByKey: Bool { true }

  func predicateValue(forKey key: String) throws -> PredicateValue { try Self.value(of: object, key) }

  func predicateValue(forKey key: String, of other: PredicateObject) throws -> PredicateValue {
    switch other.wrapped {
    case let other as NSManagedObject: return try Self.value(of: other, key)
    case let id as NSManagedObjectID:
      if key == "objectID" { return .object(other) }
      if key == "entity" { return .object(PredicateObject(id.entity)) }
      guard let context = object._context else { break }
      return try Self.value(of: context.registry.objectOrFault(id), key)
    case let container as any KeyValueCoding:
      return PredicateValue(any: container.value(forKey: key))
    default:
      if let value = PredicateValue(ofDescription: other, key) { return value }
    }
    throw PredicateEvaluationError.unknownKey(key, of: String(describing: type(of: other.wrapped)))
  }

  func predicateMemberCount(forKey key: String, of other: PredicateObject?) -> Int? {
    let owner = other.map { $0.wrapped as? NSManagedObject } ?? object
    guard let owner, let slot = owner._layout.slot(named: key), owner._layout.slots[slot].isToMany else {
      return nil
    }
    return owner.members(slot).count
  }

  func predicateResult(
    of selector: String, on target: PredicateValue, arguments: [PredicateValue]
  ) throws -> PredicateValue? {
    try ObjectSubject(object).predicateResult(of: selector, on: target, arguments: arguments)
  }

  func isToMany(_ path: [String]) -> Bool { object._layout.leadsThroughToMany(path, object._entity) }

  func predicateResult(
    ofBlock block: PredicateObject, arguments: [PredicateValue]?, variables: [String: PredicateValue]
  ) throws -> PredicateValue {
    try ClosureCall.result(of: block, with: object, arguments: arguments, variables: variables)
  }

  /// Returns a property's value in the predicate language.
  static func value(of object: NSManagedObject, _ key: String) throws -> PredicateValue {
    guard let slot = object._layout.slot(named: key) else {
      switch key {
      case "objectID": return .object(PredicateObject(object.objectID))
      case "entity": return .object(PredicateObject(object._entity))
      case "self": return .object(PredicateObject(object))
      default: break
      }
      if let fetched = object._shape.propertiesByName[key] as? NSFetchedPropertyDescription {
        return PredicateValue(any: object.valueOfFetchedProperty(fetched))
      }
      throw PredicateEvaluationError.unknownKey(key, of: object._layout.entityName)
    }
    switch object._layout.slots[slot].kind {
    case .attribute(let attribute):
      return PredicateValue(object.read(slot), of: attribute.type) { object.shown($0, slot) }
    case .relationship(let relationship):
      guard relationship.isToMany else {
        return object.toOne(slot).map { .object(PredicateObject($0)) } ?? .null
      }
      return .collection(object.members(slot).list.map { .object(PredicateObject($0)) })
    }
  }
}

extension PredicateValue {
  /// Creates the value of a key that predicates can read from an entity or property description, such as
  /// `name` in `entity.name`; nil for any other key.
  init?(ofDescription object: PredicateObject, _ key: String) {
    switch (object.wrapped, key) {
    case (let entity as NSEntityDescription, "name"): self = entity.name.map(PredicateValue.string) ?? .null
    case (let entity as NSEntityDescription, "managedObjectClassName"):
      self = .string(entity.managedObjectClassName)
    case (let property as NSPropertyDescription, "name"): self = .string(property.name)
    case (let property as NSPropertyDescription, "userInfo"):
      var entries: [String: PredicateValue] = [:]
      for (name, value) in property.userInfo ?? [:] {
        if let name = name as? String { entries[name] = PredicateValue(any: value) }
      }
      self = .dictionary(entries)
    default: return nil
    }
  }

  /// Creates the value of an attribute cell. `shown` decodes values that predicates treat as objects.
  init(_ value: Value, of type: AttributeType, shown: (Value) -> Any?) {
    switch value {
    case .null: self = .null
    case .int(let int): self = type.form == .boolean ? .bool(int != 0) : .int(int)
    case .double(let double): self = type.form == .date ? .date(double) : .double(double)
    case .string(let string):
      if type.form == .uri, let url = URL(string: string) { self = .url(url) } else { self = .string(string) }
    case .data(let data): self = .data(data)
    case .uuid(let uuid): self = .uuid(uuid)
    case .decimal(let box): self = .decimal(box.decimal)
    case .transformable, .composite: self = PredicateValue(any: shown(value))
    case .reference(let key): self = .object(PredicateObject(NSManagedObjectID(key)))
    case .pending(let id): self = .object(PredicateObject(id.canonical))
    case .toMany: self = .null
    }
  }
}

extension NSManagedObject: KeyValueCoding, PredicateIdentifiable {
  final var predicateIdentity: AnyHashable { AnyHashable(_objectID.canonical) }
  final var hasFinalPredicateIdentity: Bool { _objectID.isPermanent }
}

extension NSManagedObjectID: PredicateIdentifiable {
  var predicateIdentity: AnyHashable { AnyHashable(canonical) }
  var hasFinalPredicateIdentity: Bool { isPermanent }
}
