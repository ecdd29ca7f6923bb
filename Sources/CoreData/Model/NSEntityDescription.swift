import CoreDataModelSchema
import Foundation

/// Describes an entity: the counterpart of a table in a database and a class in a program.
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
  final let weakAnchor = WeakAnchor()
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
  /// Class of the entity's objects from a module above this one, which models need not name; nil for the
  /// named class.
  package final var objectClass: NSManagedObject.Type?
  /// The frozen entity; nil before the model is in use.
  @inline(__always)
  final var frozen: FrozenEntity? {
    get { frozenReference?.takeUnretainedValue() }
    set {
      let old = frozenReference
      frozenReference = newValue.map(Unmanaged.passRetained)
      old?.release()
    }
  }

  /// The frozen entity, which the entity retains, for reading without reference counting.
  @exclusivity(unchecked) final var frozenReference: Unmanaged<FrozenEntity>?

  public override init() {
    super.init()
    weakAnchor.tie(to: self)
  }

  deinit {
    weakAnchor.cut()
    frozenReference?.release()
  }

  /// The entity's model. Traps for an entity without a model.
  open var managedObjectModel: NSManagedObjectModel {
    guard let _model else {
      programmerError(
        "entity '\(_name ?? "?")' belongs to no model (or its model is gone); keep the model alive")
    }
    return _model
  }

  /// The entity's model, or nil.
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

  /// Name of the class of the entity's objects; nil means `NSManagedObject`.
  ///
  /// "Module.Class". A class of the current product module, ".Class" in the editor, reads so, too, if the model
  /// was compiled for a module or is in the resource bundle of one that has the class. A name without module,
  /// or whose module has no such class, is searched in the main module first, then in the others.
  open var managedObjectClassName: String! {
    get {
      guard let _className else { return "NSManagedObject" }
      return _className.hasPrefix(".") ? (module ?? "") + _className : _className
    }
    set {
      willMutate("managedObjectClassName")
      _className = newValue
    }
  }

  /// The class name, if it was set; after a "." that of a class of `module`.
  final var explicitClassName: String? { _className }

  /// The module whose model it is, if known.
  final var module: String?

  /// Whether the entity has no objects of its own, only its subentities.
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

  /// Direct subentities. Setting them drops the indexes of the entities concerned.
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

  /// Inherited properties, then the entity's own. Setting them ignores inherited ones.
  ///
  /// Setting them drops the indexes of the entity and its subentities.
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

  /// The properties declared by the entity itself.
  final var ownProperties: [NSPropertyDescription] { _properties }

  /// Arbitrary information about the entity. May be changed at any time; see
  /// `NSPropertyDescription.userInfo`.
  open var userInfo: [AnyHashable: Any]? = [:] {
    didSet { if frozen == nil { _model?.recordEdit() } }
  }

  /// Own and inherited attributes by name.
  open var attributesByName: [String: NSAttributeDescription] {
    propertiesByName.compactMapValues { $0 as? NSAttributeDescription }
  }

  /// Own and inherited relationships by name.
  open var relationshipsByName: [String: NSRelationshipDescription] {
    propertiesByName.compactMapValues { $0 as? NSRelationshipDescription }
  }

  /// Returns own and inherited relationships with destination `entity`.
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

  /// SHA-256 over the traits of the entity that matter to a store, equal to Core Data's.
  open var versionHash: Data { schemaHash() }

  /// Text that changes the entity's version hash.
  open var versionHashModifier: String? {
    get { _versionHashModifier }
    set {
      willMutate("versionHashModifier")
      _versionHashModifier = newValue
    }
  }

  /// The entity's stable name across model versions, for migration; by default its name.
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

  /// The renaming identifier, if it was set.
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

  /// Combinations of properties whose values must be unique. Set arrays of names or property descriptions;
  /// the getter returns arrays of names, including inherited ones first.
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

  /// Stored without effect; there is no Spotlight here.
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

  /// Traps if the model is in use, since stores and contexts would not notice the change.
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

  /// Returns an editable copy of the entity and its own properties, without model and relatives.
  ///
  /// To keep entities connected, copy the model.
  open func copy(with zone: NSZone? = nil) -> Any {
    let copy = NSEntityDescription()
    copy._name = _name
    copy._className = _className
    copy.module = module
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

  /// Retargets the elements of copied indexes to this entity's properties of the same names.
  final func retargetIndexes() {
    let properties = propertiesByName
    for element in _indexes.flatMap(\.elements) {
      if let name = element.propertyName, let property = properties[name] { element.retarget(to: property) }
    }
  }

  /// Whether `object` is an equal entity.
  open override func isEqual(_ object: Any?) -> Bool {
    (object as? NSEntityDescription).map(hasContent) ?? false
  }

  open override var hash: Int { _name.hashValue }

  open override var description: String { "<\(type(of: self)) \(_name ?? "?")>" }
}
