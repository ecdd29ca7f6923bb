import Foundation

/// Describes a relationship: a property that refers to one or many other objects.
///
/// ```swift
/// let (author, books) = (NSRelationshipDescription(), NSRelationshipDescription())
/// (author.name, author.destinationEntity, author.maxCount) = ("author", model.entitiesByName["Author"], 1)
/// (books.name, books.destinationEntity) = ("books", model.entitiesByName["Book"])
/// author.inverseRelationship = books
/// books.inverseRelationship = author
/// model.entitiesByName["Book"]?.properties.append(author)
/// model.entitiesByName["Author"]?.properties.append(books)
/// ```
open class NSRelationshipDescription: NSPropertyDescription {
  @Loose private var _destinationEntity: NSEntityDescription?
  private weak var _inverseRelationship: NSRelationshipDescription?
  private var _minCount = 0
  private var _maxCount = 0
  private var _deleteRule = NSDeleteRule.nullifyDeleteRule
  private var _isOrdered = false

  /// The destination entity. Not retained, since the model retains it.
  open var destinationEntity: NSEntityDescription? {
    get { _destinationEntity }
    set {
      willMutate("destinationEntity")
      _destinationEntity = newValue
    }
  }

  /// The other end of the relationship; both ends must refer to each other.
  open var inverseRelationship: NSRelationshipDescription? {
    get { _inverseRelationship }
    set {
      willMutate("inverseRelationship")
      _inverseRelationship = newValue
    }
  }

  /// Maximum number of objects: 1 for a to-one relationship, 0 (the default) for a to-many without limit.
  open var maxCount: Int {
    get { _maxCount }
    set {
      willMutate("maxCount")
      _maxCount = newValue
    }
  }

  /// Minimum number of objects, if there are any.
  open var minCount: Int {
    get { _minCount }
    set {
      willMutate("minCount")
      _minCount = newValue
    }
  }

  /// The effect of deleting the object on the other end; nullify by default.
  ///
  /// ```swift
  /// model.entitiesByName["Book"]?.relationshipsByName["chapters"]?.deleteRule = .cascadeDeleteRule
  /// model.entitiesByName["Author"]?.relationshipsByName["books"]?.deleteRule = .denyDeleteRule
  /// ```
  open var deleteRule: NSDeleteRule {
    get { _deleteRule }
    set {
      willMutate("deleteRule")
      _deleteRule = newValue
    }
  }

  /// Whether there can be more than one object at the other end.
  open var isToMany: Bool { maxCount != 1 }

  /// Whether the objects of a to-many relationship are ordered.
  ///
  /// ```swift
  /// model.entitiesByName["Book"]?.relationshipsByName["chapters"]?.isOrdered = true
  /// ```
  open var isOrdered: Bool {
    get { _isOrdered }
    set {
      willMutate("isOrdered")
      _isOrdered = newValue
    }
  }

  /// Returns a copy with the same destination and inverse; copying the whole model redirects them to the
  /// copy.
  open override func copy(with zone: NSZone? = nil) -> Any {
    let copy = NSRelationshipDescription()
    copyState(to: copy)
    copy._destinationEntity = _destinationEntity
    copy._inverseRelationship = _inverseRelationship
    copy._minCount = _minCount
    copy._maxCount = _maxCount
    copy._deleteRule = _deleteRule
    copy._isOrdered = _isOrdered
    return copy
  }
}
