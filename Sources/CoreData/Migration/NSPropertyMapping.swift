import Foundation

/// Says what the value of one property of a destination entity is made of.
///
/// ```swift
/// let pages = NSPropertyMapping()
/// pages.name = "pages"
/// pages.valueExpression = NSExpression(format: "$source.sheets * 2")
/// ```
open class NSPropertyMapping: NSObject {
  /// Name of the property in the destination entity.
  open var name: String? { didSet { isAsInferred = false } }

  /// Expression with the value; nil to leave the property as it is in a new object.
  ///
  /// Its variables are `$manager`, `$source`, `$destination` (of relationships), `$entityMapping`,
  /// `$propertyMapping` and `$entityPolicy`. A policy answers `FUNCTION($entityPolicy, "name:", …)` by
  /// adopting ``SelectorPerforming``: there are no selectors here.
  open var valueExpression: NSExpression? { didSet { isAsInferred = false } }

  /// Free information for the policy.
  open var userInfo: [AnyHashable: Any]? = [:]

  /// Whether it still is what was inferred.
  final var isAsInferred = false

  public override init() { super.init() }

  /// Whether `object` is a mapping that says the same.
  open override func isEqual(_ object: Any?) -> Bool {
    guard let other = object as? NSPropertyMapping else { return false }
    return self === other
      || name == other.name && valueExpression == other.valueExpression
        && Content.same(userInfo, other.userInfo)
  }

  open override var hash: Int { name.hashValue }

  open override var description: String {
    "<\(type(of: self)) \(name ?? "?") = \(valueExpression.map(\.description) ?? "nothing")>"
  }
}

/// Variable with the migration manager in a mapping's expressions.
public let NSMigrationManagerKey = "manager"
/// Variable with the object that is mapped.
public let NSMigrationSourceObjectKey = "source"
/// Variable with the object that it becomes.
public let NSMigrationDestinationObjectKey = "destination"
/// Variable with the entity mapping.
public let NSMigrationEntityMappingKey = "entityMapping"
/// Variable with the property mapping.
public let NSMigrationPropertyMappingKey = "propertyMapping"
/// Variable with the policy.
public let NSMigrationEntityPolicyKey = "entityPolicy"
