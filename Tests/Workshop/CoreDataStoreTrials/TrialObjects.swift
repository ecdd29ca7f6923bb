import CoreData
import Foundation

/// Creates objects that pass validation, for any model.
enum TrialObjects {
  /// Inserts an object with all that the model requires; nil, with nothing inserted, if that is impossible.
  static func make(_ entity: NSEntityDescription, in context: NSManagedObjectContext, depth: Int = 0)
    -> NSManagedObject?
  {
    guard depth < 5, let concrete = _concrete(entity) else { return nil }
    let object = NSManagedObject(entity: concrete, insertInto: context)
    for attribute in concrete.attributesByName.values {
      if attribute.isTransient || attribute is NSDerivedAttributeDescription { continue }
      let isUnique = uniqueNames(of: concrete).contains(attribute.name)
      guard isUnique || (!attribute.isOptional && object.value(forKey: attribute.name) == nil) else {
        continue
      }
      if let value = isUnique ? uniqueValue(for: attribute) : value(for: attribute, unlike: nil) {
        object.setValue(value, forKey: attribute.name)
      }
    }
    for relationship in concrete.relationshipsByName.values where !relationship.isTransient {
      let count = max(relationship.minCount, relationship.isOptional ? 0 : 1)
      guard !relationship.isOptional, count > 0, let destination = relationship.destinationEntity else {
        continue
      }
      if relationship.isToMany {
        if !_fill(relationship, of: object, destination, count, context, depth) { break }
      } else if object.value(forKey: relationship.name) == nil {
        guard
          let target = _existing(destination, for: relationship, in: context)
            ?? make(destination, in: context, depth: depth + 1)
        else { break }
        object.setValue(target, forKey: relationship.name)
      }
    }
    if (try? object.validateForInsert()) != nil { return object }
    context.delete(object)
    context.processPendingChanges()
    return nil
  }

  /// Inserts rows into a store without any.
  static func ensureRows(in context: NSManagedObjectContext, _ model: NSManagedObjectModel) throws {
    var count = 0
    for entity in model.entities where !entity.isAbstract {
      count += try context.count(for: NSFetchRequest<NSManagedObject>(entityName: entity.name ?? ""))
    }
    guard count < 4 else { return }
    for entity in model.entities.sorted(by: { ($0.name ?? "") < ($1.name ?? "") }) where !entity.isAbstract {
      for _ in 0..<3 { _ = make(entity, in: context) }
    }
    // One object may have taken another's mandatory destination.
    for _ in 0..<20 {
      do {
        return try context.save()
      } catch {
        let details = (error as NSError).userInfo[NSDetailedErrorsKey] as? [any Error] ?? [error]
        let objects = details.compactMap {
          ($0 as NSError).userInfo[NSValidationObjectErrorKey] as? NSManagedObject
        }
        guard !objects.isEmpty else { throw error }
        for object in objects { context.delete(object) }
      }
    }
    try context.save()
  }

  /// Names of attributes in uniqueness constraints.
  static func uniqueNames(of entity: NSEntityDescription) -> [String] {
    var names: [String] = []
    var next: NSEntityDescription? = entity
    while let entity = next {
      for constraint in entity.uniquenessConstraints { names += constraint.compactMap { $0 as? String } }
      next = entity.superentity
    }
    return names
  }

  /// A value that no other object is likely to have.
  static func uniqueValue(for attribute: NSAttributeDescription) -> Any? {
    switch attribute.attributeType {
    case .integer16AttributeType, .integer32AttributeType, .integer64AttributeType:
      let number = NSNumber(value: Int.random(in: 1000...32_000))
      if attribute.validationPredicates.allSatisfy({ $0.evaluate(with: number) }) { return number }
    default: break
    }
    return value(for: attribute, unlike: nil)
  }

  /// A value that the attribute accepts and that differs from `other`; nil if there is none.
  static func value(for attribute: NSAttributeDescription, unlike other: Any?) -> Any? {
    for number in [1, 2, 3, 7] {
      let value: Any
      switch attribute.attributeType {
      case .integer16AttributeType, .integer32AttributeType, .integer64AttributeType, .doubleAttributeType,
        .floatAttributeType:
        value = NSNumber(value: number)
      case .decimalAttributeType: value = NSDecimalNumber(value: number)
      case .booleanAttributeType: value = NSNumber(value: number == 1)
      case .stringAttributeType: value = "title \(number) \(UUID().uuidString.prefix(8))"
      case .dateAttributeType: value = Date(timeIntervalSinceReferenceDate: Double(number) * 86_400)
      case .binaryDataAttributeType: value = Data([UInt8(number)])
      case .UUIDAttributeType: value = UUID()
      case .URIAttributeType: value = URL(string: "https://example.org/\(number)")!
      default: return nil
      }
      if let other, (value as? NSObject)?.isEqual(other) ?? false { continue }
      if attribute.validationPredicates.allSatisfy({ $0.evaluate(with: value) }) { return value }
    }
    return nil
  }

  private static func _concrete(_ entity: NSEntityDescription) -> NSEntityDescription? {
    if !entity.isAbstract { return entity }
    for child in entity.subentities.sorted(by: { ($0.name ?? "") < ($1.name ?? "") }) {
      if let found = _concrete(child) { return found }
    }
    return nil
  }

  /// A stored object that can accept one more.
  private static func _existing(
    _ entity: NSEntityDescription, for relationship: NSRelationshipDescription,
    in context: NSManagedObjectContext
  ) -> NSManagedObject? {
    // Taking another object's only destination would change that object's row, too.
    guard relationship.inverseRelationship?.isToMany ?? true else { return nil }
    let request = NSFetchRequest<NSManagedObject>(entityName: entity.name ?? "")
    request.fetchLimit = 1
    return (try? context.fetch(request))?.first
  }

  private static func _fill(
    _ relationship: NSRelationshipDescription, of object: NSManagedObject, _ destination: NSEntityDescription,
    _ count: Int,
    _ context: NSManagedObjectContext, _ depth: Int
  ) -> Bool {
    var members =
      (object.value(forKey: relationship.name) as? NSOrderedSet)?.array as? [NSManagedObject]
      ?? Array(object.value(forKey: relationship.name) as? Set<NSManagedObject> ?? [])
    while members.count < count {
      guard let member = make(destination, in: context, depth: depth + 1) else { return false }
      members.append(member)
    }
    object.setValue(
      relationship.isOrdered ? NSOrderedSet(array: members) : Set(members) as Any, forKey: relationship.name)
    return true
  }
}
