import CoreDataModelSchema
import Foundation

/// Describes an entity: what a table is to a database, and a class to a program.
///
/// Editable until a coordinator first uses the model; from then on immutable, and any change traps. Not safe
/// to edit from several threads; once the model is in use, safe to read from all.
///
/// ```swift
/// let title = NSAttributeDescription()
/// title.name = "title"
/// title.type = .string
/// let entity = NSEntityDescription()
/// entity.name = "Book"
/// entity.managedObjectClassName = NSStringFromClass(Book.self)
/// entity.properties = [title]
/// let model = NSManagedObjectModel()
/// model.entities = [entity]
/// ```
open class NSEntityDescription: NSObject, NSCopying, Reachable {
  final let lifeline = Lifeline()
  private weak var _model: NSManagedObjectModel?
  @Loose private var _superentity: NSEntityDescription?
  private var _subentities: [NSEntityDescription] = []
  private var _properties: [NSPropertyDescription] = []
  private var _indexes: [NSFetchIndexDescription] = []
  private var _uniquenessConstraints: [[String]] = []
  private var _name: String?
  private var _className: String?
  private var _isAbstract = false
  private var _versionHashModifier: String?
  private var _renamingIdentifier: String?
  private var _coreSpotlightDisplayNameExpression: NSExpression?
  /// Attribute names of old-style compound indexes, from the model file.
  final var compoundIndexNames: [[String]] = []
  /// Text of the Spotlight expression from the model file.
  final var spotlightExpressionText: String?
  /// Class of the entity's objects, of a module above this one that models need not name; nil for the named one.
  package final var objectClass: NSManagedObject.Type?
  /// What the engine reads once the model is in use; nil before.
  final var frozen: FrozenEntity?

  public override init() {
    super.init()
    lifeline.tie(to: self)
  }

  deinit { lifeline.cut() }

  /// The model that the entity belongs to. Traps for an entity which belongs to none.
  open var managedObjectModel: NSManagedObjectModel {
    guard let _model else {
      programmerError(
        "entity '\(_name ?? "?")' belongs to no model (or its model is gone); keep the model alive")
    }
    return _model
  }

  /// The model that the entity belongs to, or nil.
  final var owner: NSManagedObjectModel? {
    get { _model }
    set { _model = newValue }
  }

  /// Name of the entity, unique in its model.
  open var name: String? {
    get { _name }
    set {
      willMutate("name")
      _name = newValue
    }
  }

  /// Name of the class of the entity's objects; setting nil means `NSManagedObject`.
  ///
  /// "Module.Class"; a name without module is looked for in the main module first, then in the others.
  open var managedObjectClassName: String! {
    get { _className ?? "NSManagedObject" }
    set {
      willMutate("managedObjectClassName")
      _className = newValue
    }
  }

  /// The class name if one was set.
  final var explicitClassName: String? { _className }

  /// Whether only subentities have objects.
  open var isAbstract: Bool {
    get { _isAbstract }
    set {
      willMutate("isAbstract")
      _isAbstract = newValue
    }
  }

  /// Direct subentities by name.
  open var subentitiesByName: [String: NSEntityDescription] {
    Dictionary(_subentities.map { ($0.name ?? "", $0) }, uniquingKeysWith: { first, _ in first })
  }

  /// Direct subentities. Changing them drops the indexes of the entities concerned.
  ///
  /// ```swift
  /// let (publication, magazine) = (NSEntityDescription(), NSEntityDescription())
  /// publication.name = "Publication"
  /// publication.isAbstract = true
  /// magazine.name = "Magazine"
  /// publication.subentities = [magazine]
  /// ```
  open var subentities: [NSEntityDescription] {
    get { _subentities }
    set {
      willMutate("subentities")
      for child in _subentities
      where child._superentity === self && !newValue.contains(where: { $0 === child }) {
        child._superentity = nil
        child._dropIndexes()
      }
      for child in newValue where child._superentity !== self {
        precondition(
          !isKindOf(entity: child),
          "entity '\(child.name ?? "?")' can't be a subentity of '\(_name ?? "?")': it is that entity or above it"
        )
        if let former = child._superentity { former._subentities.removeAll { $0 === child } }
        child._superentity = self
        child._dropIndexes()
      }
      _subentities = newValue
    }
  }

  /// The entity that this one inherits from.
  open var superentity: NSEntityDescription? { _superentity }

  /// Own and inherited properties by name.
  open var propertiesByName: [String: NSPropertyDescription] {
    if let frozen { return frozen.propertiesByName }
    return Dictionary(properties.map { ($0.name, $0) }, uniquingKeysWith: { _, last in last })
  }

  /// Inherited properties, then the entity's own. Inherited ones in a new value are left where they are.
  ///
  /// Changing them drops the indexes of the entity and of those below it.
  open var properties: [NSPropertyDescription] {
    get { (_superentity?.properties ?? []) + _properties }
    set {
      willMutate("properties")
      let inherited = Set((_superentity?.properties ?? []).map(ObjectIdentifier.init))
      let own = newValue.filter { !inherited.contains(ObjectIdentifier($0)) }
      if let wrong = own.first(where: { $0 is NSExpressionDescription }) {
        programmerError(
          "'\(wrong.name)' is an expression; it can't be a property of entity '\(_name ?? "?")'")
      }
      let changed = own.count != _properties.count || !zip(own, _properties).allSatisfy { $0 === $1 }
      for property in _properties where property.owner === self { property.owner = nil }
      _properties = own
      for property in own { property.owner = self }
      if changed { _dropIndexes() }
    }
  }

  /// The properties that the entity itself declares.
  final var ownProperties: [NSPropertyDescription] { _properties }

  /// Free information about the entity. It may be changed at any time; see `NSPropertyDescription.userInfo`.
  open var userInfo: [AnyHashable: Any]? = [:]

  /// Own and inherited attributes by name.
  open var attributesByName: [String: NSAttributeDescription] {
    propertiesByName.compactMapValues { $0 as? NSAttributeDescription }
  }

  /// Own and inherited relationships by name.
  open var relationshipsByName: [String: NSRelationshipDescription] {
    propertiesByName.compactMapValues { $0 as? NSRelationshipDescription }
  }

  /// Own and inherited relationships whose destination is `entity`.
  open func relationships(forDestination entity: NSEntityDescription) -> [NSRelationshipDescription] {
    properties.compactMap { $0 as? NSRelationshipDescription }.filter { $0.destinationEntity === entity }
  }

  /// Whether this is `entity` or inherits from it.
  ///
  /// ```swift
  /// if let publication = model.entitiesByName["Publication"], book.entity.isKindOf(entity: publication) {
  ///   print("\(book.objectID) is a publication.")
  /// }
  /// ```
  open func isKindOf(entity: NSEntityDescription) -> Bool {
    var next: NSEntityDescription? = self
    while let current = next {
      if current === entity { return true }
      next = current._superentity
    }
    return false
  }

  /// SHA-256 over what of the entity matters to a store, equal to Core Data's.
  open var versionHash: Data { schemaHash() }

  /// Text that makes the entity's version hash differ though nothing else does.
  open var versionHashModifier: String? {
    get { _versionHashModifier }
    set {
      willMutate("versionHashModifier")
      _versionHashModifier = newValue
    }
  }

  /// What the entity is called across model versions, for migration; its name unless set.
  ///
  /// ```swift
  /// newModel.entitiesByName["Book"]?.renamingIdentifier = "Novel"  // its name in the version before
  /// ```
  open var renamingIdentifier: String? {
    get { _renamingIdentifier ?? _name }
    set {
      willMutate("renamingIdentifier")
      _renamingIdentifier = newValue
    }
  }

  /// The renaming identifier if one was set.
  final var explicitRenamingIdentifier: String? { _renamingIdentifier }

  /// The entity's own indexes. Set them last: changing the properties or the hierarchy drops them.
  ///
  /// ```swift
  /// let entity = model.entitiesByName["Book"]!
  /// let title = entity.attributesByName["title"]!
  /// let element = NSFetchIndexElementDescription(property: title, collationType: .binary)
  /// entity.indexes = [NSFetchIndexDescription(name: "byTitle", elements: [element])]
  /// ```
  open var indexes: [NSFetchIndexDescription] {
    get { _indexes }
    set {
      willMutate("indexes")
      for index in _indexes where index.owner === self { index.owner = nil }
      _indexes = newValue
      for index in newValue { index.owner = self }
    }
  }

  /// Combinations of properties that no two objects may share. Set arrays of names or of property
  /// descriptions; read arrays of names, the parent's first: subentities inherit them.
  ///
  /// ```swift
  /// model.entitiesByName["Book"]?.uniquenessConstraints = [["isbn"], ["title", "author"]]
  /// ```
  open var uniquenessConstraints: [[Any]] {
    get { (superentity?.uniquenessConstraints ?? []) + _uniquenessConstraints }
    set {
      willMutate("uniquenessConstraints")
      _uniquenessConstraints = newValue.map { constraint in
        constraint.map { element in
          switch element {
          case let name as String: return name
          case let property as NSPropertyDescription: return property.name
          case let name as NSString: return name.description
          default:
            programmerError(
              "a uniqueness constraint of '\(_name ?? "?")' takes names or property descriptions, not \(element)"
            )
          }
        }
      }
    }
  }

  /// The constraints as names.
  final var constraintNames: [[String]] { _uniquenessConstraints }

  /// Does nothing, as in Core Data; use `indexes`.
  @available(*, deprecated, message: "use indexes")
  open var compoundIndexes: [[Any]] {
    get { [] }
    set {}
  }

  /// Kept as set; there is no Spotlight here.
  open var coreSpotlightDisplayNameExpression: NSExpression {
    get {
      if let _coreSpotlightDisplayNameExpression { return _coreSpotlightDisplayNameExpression }
      guard let text = spotlightExpressionText, let parsed = try? ModelText.expression(text) else {
        programmerError("entity '\(_name ?? "?")' has no Spotlight display name expression; set one first")
      }
      return parsed
    }
    set {
      willMutate("coreSpotlightDisplayNameExpression")
      _coreSpotlightDisplayNameExpression = newValue
      spotlightExpressionText = newValue.description
    }
  }

  /// Traps once the model is in use: the stores and contexts that read it would not notice.
  final func willMutate(_ what: StaticString) {
    if frozen != nil {
      programmerError(
        "can't change \(what) of entity '\(_name ?? "?")': its model is in use by a coordinator and so immutable; change "
          + "a copy() of the model")
    }
    _model?.recordEdit()
  }

  private func _dropIndexes() {
    for index in _indexes where index.owner === self { index.owner = nil }
    _indexes = []
    for child in _subentities { child._dropIndexes() }
  }

  /// An editable copy of the entity and its own properties, which belongs to no model and has no relatives.
  ///
  /// Copy the model instead to keep the entities connected.
  open func copy(with zone: NSZone? = nil) -> Any {
    let copy = NSEntityDescription()
    copy._name = _name
    copy._className = _className
    copy.objectClass = objectClass
    copy._isAbstract = _isAbstract
    copy._versionHashModifier = _versionHashModifier
    copy._renamingIdentifier = _renamingIdentifier
    copy._uniquenessConstraints = _uniquenessConstraints
    copy._coreSpotlightDisplayNameExpression = _coreSpotlightDisplayNameExpression
    copy.compoundIndexNames = compoundIndexNames
    copy.spotlightExpressionText = spotlightExpressionText
    copy.userInfo = userInfo
    copy.properties = _properties.map { $0.copy() as! NSPropertyDescription }
    copy.indexes = _indexes.map { $0.copy() as! NSFetchIndexDescription }
    copy.retargetIndexes()
    return copy
  }

  /// Points the elements of copied indexes at this entity's properties of the same names.
  final func retargetIndexes() {
    let properties = propertiesByName
    for element in _indexes.flatMap(\.elements) {
      if let name = element.propertyName, let property = properties[name] { element.retarget(to: property) }
    }
  }

  /// Whether `object` is an entity that says the same.
  open override func isEqual(_ object: Any?) -> Bool {
    (object as? NSEntityDescription).map(hasContent) ?? false
  }

  open override var hash: Int { _name.hashValue }

  open override var description: String { "<\(type(of: self)) \(_name ?? "?")>" }
}
