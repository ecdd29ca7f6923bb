import CoreDataModelSchema
import CoreDataPredicateLanguage

/// Where the values of stored objects come from while predicates and expressions are evaluated on them.
protocol StoredValues {
  /// The row of an object; nil if there is none.
  func row(for key: ObjectKey) throws -> Row?

  /// Members of a to-many.
  func members(of owner: ObjectKey, slot: Int) throws -> [ObjectKey]

  /// The key under the object's own entity: a row names the entity as its maker knew it.
  func concrete(_ key: ObjectKey) throws -> ObjectKey
}

extension StoredValues {
  func concrete(_ key: ObjectKey) -> ObjectKey { key }
}

/// A stored object as what predicates and expressions are evaluated on.
struct StoredSubject<Source: StoredValues>: PredicateSubject {
  let key: ObjectKey
  let source: Source

  var predicateValue: PredicateValue { .object(PredicateObject(NSManagedObjectID(key))) }

  func predicateValue(forKey name: String) throws -> PredicateValue { try _value(of: key, name) }

  func predicateValue(forKey name: String, of object: PredicateObject) throws -> PredicateValue {
    switch object.base.base {
    case let id as NSManagedObjectID:
      guard let key = id.key else { return .null }
      return try _value(of: key, name)
    case let entity as NSEntityDescription where name == "name":
      return entity.name.map(PredicateValue.string) ?? .null
    default:
      throw PredicateEvaluationError.unknownKey(name, of: String(describing: type(of: object.base.base)))
    }
  }

  func predicateIdentity(of object: PredicateObject) -> AnyHashable {
    (object.base.base as? any PredicateIdentifiable)?.predicateIdentity ?? object.base
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
  /// Whether a key path from an object of this layout leads through a to-many relationship.
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
