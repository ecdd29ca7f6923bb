import Foundation

/// Describes a relationship: a property that holds one other object, or many.
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

  /// Entity of the objects at the other end. Not kept alive: the model does that.
  open var destinationEntity: NSEntityDescription? {
    get { _destinationEntity }
    set {
      willMutate("destinationEntity")
      _destinationEntity = newValue
    }
  }

  /// The same connection seen from the other end; both ends must name each other.
  open var inverseRelationship: NSRelationshipDescription? {
    get { _inverseRelationship }
    set {
      willMutate("inverseRelationship")
      _inverseRelationship = newValue
    }
  }

  /// Largest number of objects: 1 makes a to-one relationship, 0 (as it is unless set) a to-many one without
  /// limit.
  open var maxCount: Int {
    get { _maxCount }
    set {
      willMutate("maxCount")
      _maxCount = newValue
    }
  }

  /// Smallest number of objects, where there are any.
  open var minCount: Int {
    get { _minCount }
    set {
      willMutate("minCount")
      _minCount = newValue
    }
  }

  /// What happens to the other end when the object is deleted; nullify unless set.
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

  /// Whether there may be more than one object at the other end.
  open var isToMany: Bool { maxCount != 1 }

  /// Whether the objects of a to-many relationship have an order.
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

  /// A copy with the same destination and inverse; copying the whole model points them into the copy.
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
