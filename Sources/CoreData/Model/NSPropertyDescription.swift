import Foundation

/// Describes one property of an entity: the common part of attributes, relationships and fetched properties.
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
  /// The composite attribute of which the property is an element.
  final weak var composite: NSCompositeAttributeDescription?
  /// Set when the model is frozen; checked by every setter.
  final var isFrozen = false

  public override init() { super.init() }

  /// The entity that declares the property. Traps for a property without an entity.
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

  /// Name of the property, unique among the entity and its ancestors.
  open var name: String {
    get { _name }
    set {
      willMutate("name")
      _name = newValue
    }
  }

  /// Whether the property may be nil when saved; true by default.
  open var isOptional: Bool {
    get { _isOptional }
    set {
      willMutate("isOptional")
      _isOptional = newValue
    }
  }

  /// Whether the property exists in memory only, not in stores.
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

  /// Arbitrary information about the property. Unlike other settings it may be changed at any time, if the
  /// caller ensures that no other thread reads it concurrently.
  open var userInfo: [AnyHashable: Any]? = [:] {
    didSet { if !isFrozen { recordEdit() } }
  }

  /// Whether the property has an index of its own, as requested in older models.
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

  /// Stored without effect; there is no Spotlight here.
  open var isIndexedBySpotlight: Bool {
    get { _isIndexedBySpotlight }
    set {
      willMutate("isIndexedBySpotlight")
      _isIndexedBySpotlight = newValue
    }
  }

  /// Stored without effect; external records do not exist here.
  @available(*, deprecated, message: "Spotlight external records are not supported")
  open var isStoredInExternalRecord: Bool {
    get { _isStoredInExternalRecord }
    set {
      willMutate("isStoredInExternalRecord")
      _isStoredInExternalRecord = newValue
    }
  }

  /// Text that changes the property's version hash.
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

  /// The property's stable name across model versions, for migration; by default its name.
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

  /// The renaming identifier, if it was set.
  final var explicitRenamingIdentifier: String? { _renamingIdentifier }

  /// Predicates that a value must satisfy to be saved; each is evaluated with the value as its object.
  open var validationPredicates: [NSPredicate] { _validation?.predicates ?? [] }

  /// For each validation predicate, the message or Cocoa error code of a value that fails it.
  open var validationWarnings: [Any] { _validation?.warnings ?? [] }

  /// Replaces the validation predicates; `validationWarnings` has a message for each, in order. Without a
  /// message, a predicate's text is used.
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

  /// Predicates set in code, which replace those of the model file's limits; nil if none were set.
  final var explicitValidation: (predicates: [NSPredicate], warnings: [Any])? { _validation }

  /// SHA-256 over the traits of the property that matter to a store, equal to Core Data's.
  open var versionHash: Data { schemaHash() }

  /// Traps if the model is in use, since stores and contexts would not notice the change.
  final func willMutate(_ what: StaticString) {
    if isFrozen {
      programmerError(
        "can't change \(what) of property '\(_entity?.name ?? "?").\(_name)': its model is in use by a coordinator and "
          + "so immutable; change a copy() of the model")
    }
    recordEdit()
  }

  /// Notifies the model of an imminent change.
  final func recordEdit() {
    if let _entity { _entity.owner?.recordEdit() } else { composite?.recordEdit() }
  }

  /// Returns an editable copy without an entity.
  open func copy(with zone: NSZone? = nil) -> Any {
    let copy = NSPropertyDescription()
    copyState(to: copy)
    return copy
  }

  /// Copies all stored values to a new copy.
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

  /// Whether `object` is an equal property.
  open override func isEqual(_ object: Any?) -> Bool {
    (object as? NSPropertyDescription).map(hasContent) ?? false
  }

  open override var hash: Int { _name.hashValue }

  open override var description: String { "<\(type(of: self)) \(_entity?.name ?? "?").\(_name)>" }
}
