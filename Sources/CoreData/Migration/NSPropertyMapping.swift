import Foundation

/// Defines the value of one property of a destination entity.
///
/// ```swift
/// let pages = NSPropertyMapping()
/// pages.name = "pages"
/// pages.valueExpression = NSExpression(format: "$source.sheets * 2")
/// ```
open class NSPropertyMapping: NSObject {
  /// Name of the property in the destination entity.
  open var name: String? { didSet { isAsInferred = false } }

  /// Expression for the value; nil leaves the property of a new object unchanged.
  ///
  /// Its variables are `$manager`, `$source`, `$destination` (of relationships), `$entityMapping`,
  /// `$propertyMapping` and `$entityPolicy`. A policy handles `FUNCTION($entityPolicy, "name:", …)` by
  /// adopting ``SelectorPerforming``, since there are no selectors on this platform.
  open var valueExpression: NSExpression? { didSet { isAsInferred = false } }

  /// Arbitrary information for the policy.
  open var userInfo: [AnyHashable: Any]? = [:]

  /// Whether the mapping is unchanged since it was inferred.
  final var isAsInferred = false

  public override init() { super.init() }

  /// Whether `object` is an equal mapping.
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

/// Variable of the migration manager in a mapping's expressions.
public let NSMigrationManagerKey = "manager"
/// Variable of the source object.
public let NSMigrationSourceObjectKey = "source"
/// Variable of the destination object.
public let NSMigrationDestinationObjectKey = "destination"
/// Variable of the entity mapping.
public let NSMigrationEntityMappingKey = "entityMapping"
/// Variable of the property mapping.
public let NSMigrationPropertyMappingKey = "propertyMapping"
/// Variable of the policy.
public let NSMigrationEntityPolicyKey = "entityPolicy"
