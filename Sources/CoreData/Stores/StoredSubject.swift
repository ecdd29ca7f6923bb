import CoreDataModelSchema
import CoreDataPredicateLanguage

/// The source of stored objects' values for evaluating predicates and expressions.
protocol StoredValues {
  /// Returns the row of an object; nil if it has none.
  func row(for key: ObjectKey) throws -> Row?

  /// Returns the members of a to-many.
  func members(of owner: ObjectKey, slot: Int) throws -> [ObjectKey]

  /// Returns the key with the object's actual entity; a row names the entity known to its creator.
  func concrete(_ key: ObjectKey) throws -> ObjectKey
}

extension StoredValues {
  func concrete(_ key: ObjectKey) -> ObjectKey { key }
}

/// Evaluates predicates and expressions on a stored object.
struct StoredSubject<Source: StoredValues>: ManagedPredicateSubject {
  let key: ObjectKey
  let source: Source

  var predicateValue: PredicateValue { .object(PredicateObject(NSManagedObjectID(key))) }

  func predicateValue(forKey name: String) throws -> PredicateValue { try _value(of: key, name) }

  func predicateValue(forKey name: String, of object: PredicateObject) throws -> PredicateValue {
    switch object.wrapped {
    case let id as NSManagedObjectID:
      guard let key = id.key else { return .null }
      return try _value(of: key, name)
    case let entity as NSEntityDescription where name == "name":
      return entity.name.map(PredicateValue.string) ?? .null
    default:
      throw PredicateEvaluationError.unknownKey(name, of: String(describing: type(of: object.wrapped)))
    }
  }

  func isToMany(_ path: [String]) -> Bool { key.space.layout.leadsThroughToMany(path, key.space.entity) }

  private func _value(of key: ObjectKey, _ name: String) throws -> PredicateValue {
    let layout = key.space.layout
    if name == "objectID" || name == "self" { return .object(PredicateObject(NSManagedObjectID(key))) }
    if name == "entity" { return .object(PredicateObject(key.space.entity)) }
    guard let slot = layout.slot(named: name) else {
      throw PredicateEvaluationError.unknownKey(name, of: layout.entityName)
    }
    switch layout.slots[slot].kind {
    case .attribute(let attribute):
      guard let row = try source.row(for: key) else { return .null }
      return PredicateValue(row[slot], of: attribute.type) { value in
        try? key.space.entity.shape.codings[slot]!.object(from: value)
      }
    case .relationship(let relationship):
      if relationship.isToMany {
        let members = try source.members(of: key, slot: slot)
        return .collection(members.map { .object(PredicateObject(NSManagedObjectID($0))) })
      }
      guard let target = try source.row(for: key)?[slot].key else { return .null }
      return .object(PredicateObject(NSManagedObjectID(try source.concrete(target))))
    }
  }
}

extension PropertyLayout {
  /// Whether a key path from an object of this layout crosses a to-many relationship.
  func leadsThroughToMany(_ path: [String], _ entity: NSEntityDescription) -> Bool {
    var entity: NSEntityDescription? = entity
    for key in path {
      guard let relationship = entity?.relationshipsByName[key] else { return false }
      if relationship.isToMany { return true }
      entity = relationship.destinationEntity
    }
    return false
  }
}
