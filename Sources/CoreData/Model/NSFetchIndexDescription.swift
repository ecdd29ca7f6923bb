import Foundation
import CoreDataModelSchema

/// Describes one index of an entity.
///
/// ```swift
/// guard let entity = model.entitiesByName["Book"] else { return }
/// let elements = ["author", "published"].compactMap { entity.propertiesByName[$0] }
///   .map { NSFetchIndexElementDescription(property: $0, collationType: .binary) }
/// entity.indexes = [NSFetchIndexDescription(name: "byAuthorAndDate", elements: elements)]
/// ```
open class NSFetchIndexDescription: NSObject, NSCopying {
  private var _name: String
  private var _elements: [NSFetchIndexElementDescription] = []
  @Loose private var _entity: NSEntityDescription?
  private var _predicate: NSPredicate?
  /// The predicate's text in the model file, until it is first read as an object.
  private var _predicateText: String?
  final var isFrozen = false

  /// Creates an index of these elements; traps for a mix of R-tree and binary elements.
  public init(name: String, elements: [NSFetchIndexElementDescription]?) {
    _name = name
    super.init()
    _adopt(elements ?? [])
  }

  /// Name of the index, unique in its entity.
  open var name: String {
    get { _name }
    set {
      _willMutate()
      _name = newValue
    }
  }

  /// The elements of the index, most significant first.
  open var elements: [NSFetchIndexElementDescription] {
    get { _elements }
    set {
      _willMutate()
      _adopt(newValue)
    }
  }

  /// The entity of the index; nil if it has none.
  open var entity: NSEntityDescription? { _entity }

  final var owner: NSEntityDescription? {
    get { _entity }
    set { _entity = newValue }
  }

  /// The condition for objects in the index; nil for all objects.
  ///
  /// Also nil if the text in the model file cannot be parsed.
  ///
  /// ```swift
  /// model.entitiesByName["Book"]?.indexes.first?.partialIndexPredicate = NSPredicate(format: "isRead == NO")
  /// ```
  open var partialIndexPredicate: NSPredicate? {
    get {
      if let _predicate { return _predicate }
      guard let _predicateText else { return nil }
      let parsed = try? ModelText.predicate(_predicateText)
      if !isFrozen { _predicate = parsed }
      return parsed
    }
    set {
      _willMutate()
      _predicate = newValue.map { $0.copy() as! NSPredicate }
      _predicateText = nil
    }
  }

  /// The predicate as text.
  final var partialIndexPredicateText: String? {
    get { _predicateText ?? _predicate?.predicateText }
    set {
      _predicateText = newValue
      _predicate = nil
    }
  }

  private func _adopt(_ elements: [NSFetchIndexElementDescription]) {
    precondition(
      Set(elements.map(\.collationType)).count <= 1,
      "index '\(_name)' mixes R-tree and binary elements; give each kind an index of its own")
    for element in _elements where element.owner === self { element.owner = nil }
    _elements = elements
    for element in elements { element.owner = self }
  }

  private func _willMutate() {
    if isFrozen {
      programmerError(
        "can't change index '\(_name)': its model is in use by a coordinator and so immutable; change a copy() of the "
          + "model")
    }
  }

  /// Whether `object` is an equal index.
  open override func isEqual(_ object: Any?) -> Bool {
    guard let other = object as? NSFetchIndexDescription else { return false }
    return self === other || FetchIndexSchema(self) == FetchIndexSchema(other)
  }

  open override var hash: Int { _name.hashValue }

  /// Returns an editable copy with copies of its elements, without an entity.
  open func copy(with zone: NSZone? = nil) -> Any {
    let copy = NSFetchIndexDescription(
      name: _name, elements: _elements.map { $0.copy() as! NSFetchIndexElementDescription })
    copy._predicate = _predicate
    copy._predicateText = _predicateText
    return copy
  }
}

/// Describes one element of an index: a property, or an expression over the entity's properties.
open class NSFetchIndexElementDescription: NSObject, NSCopying {
  private var _property: NSPropertyDescription?
  private var _collationType: NSFetchIndexElementType
  private var _isAscending = true
  private weak var _index: NSFetchIndexDescription?

  /// Creates an element for `property`: an attribute, a to-one relationship or an `NSExpressionDescription`.
  public init(property: NSPropertyDescription, collationType: NSFetchIndexElementType) {
    _property = property
    _collationType = collationType
    super.init()
  }

  /// The indexed property.
  open var property: NSPropertyDescription? { _property }

  /// The name of the indexed property.
  open var propertyName: String? { _property?.name }

  /// The storage of the element.
  open var collationType: NSFetchIndexElementType {
    get { _collationType }
    set {
      _willMutate()
      _collationType = newValue
    }
  }

  /// Whether the order is ascending; true by default.
  ///
  /// ```swift
  /// guard let published = model.entitiesByName["Book"]?.attributesByName["published"] else { return }
  /// let newestFirst = NSFetchIndexElementDescription(property: published, collationType: .binary)
  /// newestFirst.isAscending = false
  /// ```
  open var isAscending: Bool {
    get { _isAscending }
    set {
      _willMutate()
      _isAscending = newValue
    }
  }

  /// The index of the element.
  open var indexDescription: NSFetchIndexDescription? { _index }

  final var owner: NSFetchIndexDescription? {
    get { _index }
    set { _index = newValue }
  }

  /// Retargets the element to the property of the same name in a copied entity.
  final func retarget(to property: NSPropertyDescription) { _property = property }

  private func _willMutate() {
    if let _index, _index.isFrozen {
      programmerError(
        "can't change an element of index '\(_index.name)': its model is in use by a coordinator and so immutable; "
          + "change a copy() of the model")
    }
  }

  /// Whether `object` is an element of the same kind for an equal property.
  open override func isEqual(_ object: Any?) -> Bool {
    guard let other = object as? NSFetchIndexElementDescription else { return false }
    return self === other
      || _property == other._property && _collationType == other._collationType
        && _isAscending == other._isAscending
  }

  open override var hash: Int { _property.hashValue }

  open func copy(with zone: NSZone? = nil) -> Any {
    let copy = NSFetchIndexElementDescription(property: _property!, collationType: _collationType)
    copy._isAscending = _isAscending
    return copy
  }
}
