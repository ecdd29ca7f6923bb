import Foundation

/// Describes one property of an entity: what attributes, relationships and fetched properties have in common.
///
/// Editable until a coordinator first uses the model; from then on immutable, and any change traps. Not safe
/// to edit from several threads.
open class NSPropertyDescription: NSObject, NSCopying {
  @Loose private var _entity: NSEntityDescription?
  private var _name = ""
  private var _isOptional = true
  private var _isTransient = false
  private var _versionHashModifier: String?
  private var _renamingIdentifier: String?
  private var _isIndexed = false
  private var _isIndexedBySpotlight = false
  private var _isStoredInExternalRecord = false
  private var _validation: (predicates: [NSPredicate], warnings: [Any])?
  /// The composite attribute that the property is an element of.
  final weak var composite: NSCompositeAttributeDescription?
  /// Set when the model is frozen; every setter asks it.
  final var isFrozen = false

  public override init() { super.init() }

  /// The entity that declares the property. Traps for a property which belongs to none.
  open var entity: NSEntityDescription {
    guard let _entity else {
      programmerError("property '\(_name)' belongs to no entity (or its entity is gone); add it to one first")
    }
    return _entity
  }

  /// The entity that declares the property, or nil.
  final var owner: NSEntityDescription? {
    get { _entity }
    set { _entity = newValue }
  }

  /// Name of the property, unique along the entity's line of parents.
  open var name: String {
    get { _name }
    set {
      willMutate("name")
      _name = newValue
    }
  }

  /// Whether the property may be nil when saved; true unless set.
  open var isOptional: Bool {
    get { _isOptional }
    set {
      willMutate("isOptional")
      _isOptional = newValue
    }
  }

  /// Whether the property is kept in memory only, never in a store.
  ///
  /// ```swift
  /// let initial = NSAttributeDescription()
  /// initial.name = "titleInitial"
  /// initial.type = .string
  /// initial.isTransient = true
  /// ```
  open var isTransient: Bool {
    get { _isTransient }
    set {
      willMutate("isTransient")
      _isTransient = newValue
    }
  }

  /// Free information about the property. Unlike the rest it may be changed at any time; then the caller
  /// makes sure that no other thread reads it at the same time.
  open var userInfo: [AnyHashable: Any]? = [:]

  /// Whether an index on this one property is asked for, the way older models do.
  @available(*, deprecated, message: "use NSEntityDescription.indexes")
  open var isIndexed: Bool {
    get { _isIndexed }
    set {
      willMutate("isIndexed")
      _isIndexed = newValue
    }
  }

  /// `isIndexed` without the deprecation.
  final var indexedFlag: Bool {
    get { _isIndexed }
    set { _isIndexed = newValue }
  }

  /// Kept as the model says; there is no Spotlight here.
  open var isIndexedBySpotlight: Bool {
    get { _isIndexedBySpotlight }
    set {
      willMutate("isIndexedBySpotlight")
      _isIndexedBySpotlight = newValue
    }
  }

  /// Kept as set; external records do not exist here.
  @available(*, deprecated, message: "Spotlight external records are not supported")
  open var isStoredInExternalRecord: Bool {
    get { _isStoredInExternalRecord }
    set {
      willMutate("isStoredInExternalRecord")
      _isStoredInExternalRecord = newValue
    }
  }

  /// Text that makes the property's version hash differ though nothing else does.
  ///
  /// ```swift
  /// newModel.entitiesByName["Book"]?.attributesByName["cover"]?.versionHashModifier = "PNG instead of JPEG"
  /// ```
  open var versionHashModifier: String? {
    get { _versionHashModifier }
    set {
      willMutate("versionHashModifier")
      _versionHashModifier = newValue
    }
  }

  /// What the property is called across model versions, for migration; its name unless set.
  ///
  /// ```swift
  /// newModel.entitiesByName["Book"]?.attributesByName["title"]?.renamingIdentifier = "name"
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

  /// Predicates that a value must fulfil to be saved; each is evaluated with the value as its object.
  open var validationPredicates: [NSPredicate] { _validation?.predicates ?? [] }

  /// For each validation predicate the message, or the number of the Cocoa error, of a value that fails it.
  open var validationWarnings: [Any] { _validation?.warnings ?? [] }

  /// Replaces the validation predicates; `validationWarnings` has a message for each, in their order. A predicate
  /// without one is explained by its text.
  ///
  /// ```swift
  /// model.entitiesByName["Book"]?.attributesByName["isbn"]?.setValidationPredicates(
  ///   [NSPredicate(format: "SELF MATCHES %@", "[0-9X-]{10,17}")], withValidationWarnings: ["no ISBN"])
  /// ```
  open func setValidationPredicates(
    _ validationPredicates: [NSPredicate]?, withValidationWarnings validationWarnings: [String]?
  ) {
    willMutate("validationPredicates")
    setValidation(validationPredicates ?? [], warnings: validationWarnings ?? [])
  }

  final func setValidation(_ predicates: [NSPredicate], warnings: [Any]) {
    _validation = (predicates, warnings)
  }

  /// Predicates set by code, which then stand instead of those made from the model file's limits; nil if none
  /// were set.
  final var explicitValidation: (predicates: [NSPredicate], warnings: [Any])? { _validation }

  /// SHA-256 over what of the property matters to a store, equal to Core Data's.
  open var versionHash: Data { schemaHash() }

  /// Traps once the model is in use: the stores and contexts that read it would not notice.
  final func willMutate(_ what: StaticString) {
    if isFrozen {
      programmerError(
        "can't change \(what) of property '\(_entity?.name ?? "?").\(_name)': its model is in use by a coordinator and "
          + "so immutable; change a copy() of the model")
    }
    recordEdit()
  }

  /// Tells the model that the property is about to change.
  final func recordEdit() {
    if let _entity { _entity.owner?.recordEdit() } else { composite?.recordEdit() }
  }

  /// An editable copy which belongs to no entity yet.
  open func copy(with zone: NSZone? = nil) -> Any {
    let copy = NSPropertyDescription()
    copyState(to: copy)
    return copy
  }

  /// Hands every stored value to a fresh copy.
  final func copyState(to copy: NSPropertyDescription) {
    copy._name = _name
    copy._isOptional = _isOptional
    copy._isTransient = _isTransient
    copy.userInfo = userInfo
    copy._versionHashModifier = _versionHashModifier
    copy._renamingIdentifier = _renamingIdentifier
    copy._isIndexed = _isIndexed
    copy._isIndexedBySpotlight = _isIndexedBySpotlight
    copy._isStoredInExternalRecord = _isStoredInExternalRecord
    copy._validation = _validation
  }

  /// Whether `object` is a property that says the same.
  open override func isEqual(_ object: Any?) -> Bool {
    (object as? NSPropertyDescription).map(hasContent) ?? false
  }

  open override var hash: Int { _name.hashValue }

  open override var description: String { "<\(type(of: self)) \(_entity?.name ?? "?").\(_name)>" }
}
