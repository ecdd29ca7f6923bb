import Foundation

/// What a mapping does with an entity.
public enum NSEntityMappingType: UInt, Sendable {
  /// Unspecified: objects of the source entity are mapped, if there is one.
  case undefinedEntityMappingType = 0
  /// By a policy class of the developer's own.
  case customEntityMappingType = 1
  /// New in the destination; there is nothing to map.
  case addEntityMappingType = 2
  /// Not in the destination any more.
  case removeEntityMappingType = 3
  /// The same in both versions.
  case copyEntityMappingType = 4
  /// In both versions, and different.
  case transformEntityMappingType = 5
}

/// Says how the objects of one entity become objects of another.
///
/// Not safe to change from several threads, nor while a migration uses it.
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

  /// Name of the mapping; unless set, those of the two entities with an arrow between them.
  open var name: String! {
    get { _name ?? "\(sourceEntityName ?? "")->\(destinationEntityName ?? "")" }
    set {
      _name = newValue
      isAsInferred = false
    }
  }

  /// What becomes of the entity.
  open var mappingType = NSEntityMappingType.undefinedEntityMappingType { didSet { isAsInferred = false } }
  /// Entity whose objects are mapped; nil for one that is added.
  open var sourceEntityName: String? { didSet { isAsInferred = false } }
  /// Version hash that the source entity must have; nil if any will do.
  open var sourceEntityVersionHash: Data? { didSet { isAsInferred = false } }
  /// Entity that they become; nil for one that is removed.
  open var destinationEntityName: String? { didSet { isAsInferred = false } }
  /// Version hash that the destination entity must have; nil if any will do.
  open var destinationEntityVersionHash: Data? { didSet { isAsInferred = false } }
  /// Mappings of the attributes.
  open var attributeMappings: [NSPropertyMapping]? { didSet { isAsInferred = false } }
  /// Mappings of the relationships.
  open var relationshipMappings: [NSPropertyMapping]? { didSet { isAsInferred = false } }
  /// Expression with the objects to be mapped, usually a FETCH; nil for all of the source entity itself,
  /// without those of its subentities.
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
  /// Free information for the policy.
  open var userInfo: [AnyHashable: Any]? = [:]
  /// Class that creates the objects, a subclass of ``NSEntityMigrationPolicy``; nil for that class itself.
  ///
  /// "Module.Class"; a name without module is looked for in the main module first, then in the others.
  ///
  /// ```swift
  /// let mapping = NSEntityMapping()
  /// mapping.mappingType = .customEntityMappingType
  /// mapping.entityMigrationPolicyClassName = "Library.SplitNamePolicy"
  /// ```
  open var entityMigrationPolicyClassName: String? { didSet { isAsInferred = false } }

  /// Whether it still is what was inferred.
  final var isAsInferred = false

  public override init() { super.init() }

  /// Whether `object` is a mapping that says the same.
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
