import CoreData
import CoreDataSampleValues
import Foundation

/// Inserts objects and fills what their entities require.
struct ObjectMaker {
  private let _context: NSManagedObjectContext
  private let _count: (String) -> Int

  /// - Parameter count: Returns the next number of an entity.
  init(_ context: NSManagedObjectContext, count: @escaping (String) -> Int) {
    (_context, _count) = (context, count)
  }

  /// The longest chain of mandatory relationships that is followed.
  private static let _deepest = 32

  func make(_ entity: NSEntityDescription, _ body: (NSManagedObject) throws -> Void = { _ in }) throws
    -> NSManagedObject
  {
    try _make(entity, depth: 0, body)
  }

  private func _make(
    _ entity: NSEntityDescription, depth: Int, _ body: (NSManagedObject) throws -> Void
  ) throws -> NSManagedObject {
    let name = entity.name ?? "?"
    guard depth < Self._deepest else {
      throw TestStoreError(
        "'\(name)' requires objects that require others, and so on without end; set a relationship in the closure."
      )
    }
    let concrete = try _concrete(entity)
    let object = NSEntityDescription.insertNewObject(forEntityName: concrete.name ?? name, into: _context)
    do {
      try _fill(object, concrete)
      try body(object)
      try _relate(object, concrete, depth)
      try _check(object, concrete)
    } catch {
      _context.delete(object)
      throw error
    }
    return object
  }

  /// The entity itself, or for an abstract one its first concrete subentity by name.
  private func _concrete(_ entity: NSEntityDescription) throws -> NSEntityDescription {
    if !entity.isAbstract { return entity }
    for subentity in entity.subentities.sorted(by: { ($0.name ?? "") < ($1.name ?? "") }) {
      if let found = try? _concrete(subentity) { return found }
    }
    throw TestStoreError("'\(entity.name ?? "?")' is abstract, and so are its subentities.")
  }

  private func _fill(_ object: NSManagedObject, _ entity: NSEntityDescription) throws {
    let number = _count(entity.name ?? "?")
    for (name, attribute) in entity.attributesByName
    where !attribute.isOptional && !attribute.isTransient && !(attribute is NSDerivedAttributeDescription) {
      // What `awakeFromInsert` has set, or a default value, unless it must be unique.
      let isUnique = entity.uniquenessConstraints.contains {
        $0.contains { "\($0)" == name || ($0 as? NSPropertyDescription)?.name == name }
      }
      if object.value(forKey: name) != nil, !(isUnique && attribute.defaultValue != nil) { continue }
      guard let value = PlausibleValue.value(for: attribute, number: number) else { continue }
      object.setValue(value, forKey: name)
    }
  }

  private func _relate(_ object: NSManagedObject, _ entity: NSEntityDescription, _ depth: Int) throws {
    for (name, relationship) in entity.relationshipsByName.sorted(by: { $0.key < $1.key })
    where !relationship.isOptional && !relationship.isTransient {
      guard let destination = relationship.destinationEntity else { continue }
      if !relationship.isToMany {
        guard object.value(forKey: name) == nil else { continue }
        _ = try _make(destination, depth: depth + 1) { other in
          object.setValue(other, forKey: name)
        }
      } else {
        let missing = max(1, relationship.minCount) - _members(of: object, relationship)
        for _ in 0..<max(0, missing) {
          _ = try _make(destination, depth: depth + 1) { other in
            if relationship.isOrdered {
              object.mutableOrderedSetValue(forKey: name).add(other)
            } else {
              object.mutableSetValue(forKey: name).add(other)
            }
          }
        }
      }
    }
  }

  private func _members(of object: NSManagedObject, _ relationship: NSRelationshipDescription) -> Int {
    relationship.isOrdered
      ? object.mutableOrderedSetValue(forKey: relationship.name).count
      : object.mutableSetValue(forKey: relationship.name).count
  }

  private func _check(_ object: NSManagedObject, _ entity: NSEntityDescription) throws {
    for (name, attribute) in entity.attributesByName
    where !attribute.isOptional && !attribute.isTransient && !(attribute is NSDerivedAttributeDescription) {
      guard object.value(forKey: name) == nil else { continue }
      throw TestStoreError(
        "There is no plausible value for '\(name)' of '\(entity.name ?? "?")', which is mandatory"
          + (attribute.validationPredicates.isEmpty ? "" : " and has conditions")
          + "; set it in the closure.")
    }
  }
}
