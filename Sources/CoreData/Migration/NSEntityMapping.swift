import Foundation

/// The way in which a mapping migrates an entity.
public enum NSEntityMappingType: UInt, Sendable {
  /// Unspecified: objects of the source entity are mapped, if there is one.
  case undefinedEntityMappingType = 0
  /// Uses a custom policy class.
  case customEntityMappingType = 1
  /// New in the destination; nothing to map.
  case addEntityMappingType = 2
  /// No longer in the destination.
  case removeEntityMappingType = 3
  /// Unchanged in both versions.
  case copyEntityMappingType = 4
  /// In both versions, but different.
  case transformEntityMappingType = 5
}

/// Maps the objects of one entity to objects of another.
///
/// Not safe to change from several threads or while a migration uses it.
///
/// ```swift
/// let mapping = NSEntityMapping()
/// mapping.sourceEntityName = "Novel"
/// mapping.destinationEntityName = "Book"
/// let title = NSPropertyMapping()
/// title.name = "title"
/// title.valueExpression = NSExpression(format: "$source.heading")
/// mapping.attributeMappings = [title]
/// ```
open class NSEntityMapping: NSObject {
  private var _name: String?

  /// The name of the mapping; by default the names of the two entities with an arrow between them.
  open var name: String! {
    get { _name ?? "\(sourceEntityName ?? "")->\(destinationEntityName ?? "")" }
    set {
      _name = newValue
      isAsInferred = false
    }
  }

  /// The way in which the entity is migrated.
  open var mappingType = NSEntityMappingType.undefinedEntityMappingType { didSet { isAsInferred = false } }
  /// The entity to map; nil for one that is added.
  open var sourceEntityName: String? { didSet { isAsInferred = false } }
  /// Version hash that the source entity must have; nil for any.
  open var sourceEntityVersionHash: Data? { didSet { isAsInferred = false } }
  /// The resulting entity; nil for one that is removed.
  open var destinationEntityName: String? { didSet { isAsInferred = false } }
  /// Version hash that the destination entity must have; nil for any.
  open var destinationEntityVersionHash: Data? { didSet { isAsInferred = false } }
  /// Mappings of the attributes.
  open var attributeMappings: [NSPropertyMapping]? { didSet { isAsInferred = false } }
  /// Mappings of the relationships.
  open var relationshipMappings: [NSPropertyMapping]? { didSet { isAsInferred = false } }
  /// Expression for the objects to map, usually a FETCH; nil for all objects of the source entity itself,
  /// excluding subentities.
  ///
  /// ```swift
  /// let mapping = NSEntityMapping()
  /// mapping.sourceEntityName = "Book"
  /// mapping.sourceExpression = NSExpression(
  ///   format: """
  ///     FETCH(FUNCTION($manager, "fetchRequestForSourceEntityNamed:predicateString:", \
  ///     "Book", "pages > 0"), \
  ///     FUNCTION($manager, "sourceContext"), NO)
  ///     """)
  /// ```
  open var sourceExpression: NSExpression? { didSet { isAsInferred = false } }
  /// Arbitrary information for the policy.
  open var userInfo: [AnyHashable: Any]? = [:]
  /// The policy class that creates the objects, a subclass of ``NSEntityMigrationPolicy``; nil for that class
  /// itself.
  ///
  /// "Module.Class"; a name without module is searched in the main module first, then in the others.
  ///
  /// ```swift
  /// let mapping = NSEntityMapping()
  /// mapping.mappingType = .customEntityMappingType
  /// mapping.entityMigrationPolicyClassName = "Library.SplitNamePolicy"
  /// ```
  open var entityMigrationPolicyClassName: String? { didSet { isAsInferred = false } }

  /// Whether the mapping is unchanged since it was inferred.
  final var isAsInferred = false

  public override init() { super.init() }

  /// Whether `object` is an equal mapping.
  open override func isEqual(_ object: Any?) -> Bool {
    guard let other = object as? NSEntityMapping else { return false }
    if self === other { return true }
    return name == other.name && mappingType == other.mappingType
      && sourceEntityName == other.sourceEntityName
      && sourceEntityVersionHash == other.sourceEntityVersionHash
      && destinationEntityName == other.destinationEntityName
      && destinationEntityVersionHash == other.destinationEntityVersionHash
      && entityMigrationPolicyClassName == other.entityMigrationPolicyClassName
      && sourceExpression == other.sourceExpression && attributeMappings == other.attributeMappings
      && relationshipMappings == other.relationshipMappings && Content.same(userInfo, other.userInfo)
  }

  open override var hash: Int { (name ?? "").hashValue }

  open override var description: String { "<\(type(of: self)) \(name ?? "")>" }
}
