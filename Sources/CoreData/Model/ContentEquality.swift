import Foundation
import CoreDataModelSchema

// Descriptions, mappings and requests are equal if their contents are. Programs search for models in lists of
// versions, and for entities and properties in sets.

/// Compares values that callers pass as `Any`.
enum Content {
  /// Whether two values are equal, or the same object.
  static func same(_ left: Any?, _ right: Any?) -> Bool {
    guard let left, let right else { return left == nil && right == nil }
    if let left = left as? AnyHashable, let right = right as? AnyHashable { return left == right }
    if let left = left as? NSObject, let right = right as? NSObject { return left.isEqual(right) }
    return type(of: left) is AnyClass && (left as AnyObject) === (right as AnyObject)
  }

  static func same(_ left: [Any]?, _ right: [Any]?) -> Bool {
    guard let left, let right else { return left == nil && right == nil }
    return left.count == right.count && zip(left, right).allSatisfy { same($0, $1) }
  }

  static func same(_ left: [AnyHashable: Any]?, _ right: [AnyHashable: Any]?) -> Bool {
    guard let left, let right else { return left == nil && right == nil }
    return left.count == right.count && left.allSatisfy { key, value in same(value, right[key]) }
  }
}

extension NSManagedObjectModel {
  /// Whether another model has equal entities, configurations, requests and identifiers.
  final func hasContent(of other: NSManagedObjectModel) -> Bool {
    if self === other { return true }
    // Cheapest comparison first: most models in a list differ here.
    guard entities.count == other.entities.count,
      entityVersionHashesByName == other.entityVersionHashesByName,
      ModelSchema(self).canonical() == ModelSchema(other).canonical()
    else { return false }
    let others = other.entitiesByName
    return entitiesByName.allSatisfy { name, entity in
      others[name].map { entity._hasOpaqueContent(of: $0) } ?? false
    }
  }
}

extension NSEntityDescription {
  /// Whether another entity and its ancestors equal this one and its ancestors.
  final func hasContent(of other: NSEntityDescription) -> Bool {
    var (left, right): (NSEntityDescription?, NSEntityDescription?) = (self, other)
    while let one = left, let two = right {
      if one === two { return true }
      guard one.name == two.name, EntitySchema(one).canonical() == EntitySchema(two).canonical(),
        one._hasOpaqueContent(of: two)
      else { return false }
      (left, right) = (one.superentity, two.superentity)
    }
    return left == nil && right == nil
  }

  /// Whether the parts that no model file can contain are equal in the properties of another entity.
  fileprivate final func _hasOpaqueContent(of other: NSEntityDescription) -> Bool {
    let others = Dictionary(
      other.ownProperties.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
    return ownProperties.allSatisfy { property in
      others[property.name].map { property._hasOpaqueContent(of: $0) } ?? false
    }
  }
}

extension NSPropertyDescription {
  /// Whether another property is equal, regardless of its entity.
  final func hasContent(of other: NSPropertyDescription) -> Bool {
    if self === other { return true }
    guard name == other.name else { return false }
    let isSame: Bool
    switch (self, other) {
    case (let one as NSAttributeDescription, let two as NSAttributeDescription):
      isSame = AttributeSchema(one) == AttributeSchema(two)
    case (let one as NSRelationshipDescription, let two as NSRelationshipDescription):
      isSame = RelationshipSchema(one) == RelationshipSchema(two)
    case (let one as NSFetchedPropertyDescription, let two as NSFetchedPropertyDescription):
      isSame = PropertyTraits(one) == PropertyTraits(two) && one.requestSchema == two.requestSchema
    case (let one as NSExpressionDescription, let two as NSExpressionDescription):
      isSame =
        PropertyTraits(one) == PropertyTraits(two) && one.expression == two.expression
        && one.expressionResultType == two.expressionResultType
    default:
      isSame = type(of: self) == type(of: other) && PropertyTraits(self) == PropertyTraits(other)
    }
    return isSame && _hasOpaqueContent(of: other)
  }

  /// Whether validation predicates and default values, which may be of any class, are equal.
  fileprivate final func _hasOpaqueContent(of other: NSPropertyDescription) -> Bool {
    let (mine, theirs) = (explicitValidation, other.explicitValidation)
    return Content.same(mine?.predicates, theirs?.predicates)
      && Content.same(mine?.warnings, theirs?.warnings)
      && Content.same(
        (self as? NSAttributeDescription)?.defaultValue, (other as? NSAttributeDescription)?.defaultValue)
  }
}
