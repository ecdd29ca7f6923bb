import CoreDataModelSchema
import Foundation

/// Describes an attribute: a property with a plain value.
///
/// ```swift
/// let title = NSAttributeDescription()
/// title.name = "title"
/// title.type = .string
/// title.isOptional = false
/// title.defaultValue = ""
/// ```
open class NSAttributeDescription: NSPropertyDescription {
  private var _attributeType = NSAttributeType.undefinedAttributeType
  private var _valueClassName: String?
  private var _defaultValue: Any?
  private var _valueTransformerName: String?
  private var _allowsExternalBinaryDataStorage = false
  private var _preservesValueInHistoryOnDeletion = false
  private var _allowsCloudEncryption = false
  /// The value of objects that a store has none of, such as existing ones when the attribute is new. Unlike
  /// `defaultValue`, it is neither a value of new objects nor part of a model file; a migration writes it.
  ///
  /// Set it before the model is used.
  package final var fallbackValue: Any?
  /// Limits from the model file, stored as data; validation predicates are created from them on demand.
  final var limits = AttributeLimits()
  /// Validation predicates from the model file that are not simple limits, as text.
  final var fileValidations: [ValidationSchema] = []
  /// Whether generated code uses a Swift number instead of an NSNumber; ignored by the engine.
  final var usesScalarValueType = false

  /// The type of the attribute's values.
  open var attributeType: NSAttributeType {
    get { _attributeType }
    set {
      willMutate("attributeType")
      _attributeType = newValue
    }
  }

  /// The type of the attribute's values; shorter alias.
  public final var type: NSAttributeDescription.AttributeType {
    get { AttributeType(rawValue: attributeType) }
    set { attributeType = newValue.rawValue }
  }

  /// Name of the class of the attribute's values: determined by its type, or set explicitly for a
  /// transformable attribute.
  open var attributeValueClassName: String? {
    get { _attributeType.valueClassName ?? _valueClassName }
    set {
      willMutate("attributeValueClassName")
      _valueClassName = newValue
    }
  }

  /// The class name set for a transformable attribute.
  final var customClassName: String? { _valueClassName }

  /// The attribute's value in a new object. Retained, not copied.
  ///
  /// A value that does not fit the type is ignored, with a warning on standard error, when a coordinator
  /// first uses the model.
  ///
  /// ```swift
  /// let rating = NSAttributeDescription()
  /// rating.name = "rating"
  /// rating.type = .double
  /// rating.defaultValue = 2.5
  /// ```
  open var defaultValue: Any? {
    get { _defaultValue }
    set {
      willMutate("defaultValue")
      _defaultValue = newValue
    }
  }

  /// Name of the transformer that encodes a transformable attribute's objects; nil for keyed archives.
  ///
  /// ```swift
  /// let color = NSAttributeDescription()
  /// color.name = "color"
  /// color.type = .transformable
  /// color.valueTransformerName = NSValueTransformerName.secureUnarchiveFromDataTransformerName.rawValue
  /// ```
  open var valueTransformerName: String? {
    get { _valueTransformerName }
    set {
      willMutate("valueTransformerName")
      _valueTransformerName = newValue
    }
  }

  /// Whether the store may keep large data in external files.
  ///
  /// ```swift
  /// let cover = NSAttributeDescription()
  /// cover.name = "cover"
  /// cover.type = .binaryData
  /// cover.allowsExternalBinaryDataStorage = true
  /// ```
  open var allowsExternalBinaryDataStorage: Bool {
    get { _allowsExternalBinaryDataStorage }
    set {
      willMutate("allowsExternalBinaryDataStorage")
      _allowsExternalBinaryDataStorage = newValue
    }
  }

  /// Whether persistent history preserves the value of a deleted object.
  ///
  /// ```swift
  /// let isbn = NSAttributeDescription()
  /// isbn.name = "isbn"
  /// isbn.type = .string
  /// isbn.preservesValueInHistoryOnDeletion = true  // in the tombstones of deleted books
  /// ```
  open var preservesValueInHistoryOnDeletion: Bool {
    get { _preservesValueInHistoryOnDeletion }
    set {
      willMutate("preservesValueInHistoryOnDeletion")
      _preservesValueInHistoryOnDeletion = newValue
    }
  }

  /// Stored without effect; there is no CloudKit here.
  open var allowsCloudEncryption: Bool {
    get { _allowsCloudEncryption }
    set {
      willMutate("allowsCloudEncryption")
      _allowsCloudEncryption = newValue
    }
  }

  open override var validationPredicates: [NSPredicate] {
    if let explicitValidation { return explicitValidation.predicates }
    let predicates = modelValidation.map(\.predicate)
    if let gates = owner?.owner?.evaluationGates { for predicate in predicates { gates.hold(predicate) } }
    return predicates
  }

  open override var validationWarnings: [Any] {
    explicitValidation?.warnings ?? modelValidation.map(\.warning)
  }

  open override func copy(with zone: NSZone? = nil) -> Any {
    let copy = NSAttributeDescription()
    copyAttributeState(to: copy)
    return copy
  }

  final func copyAttributeState(to copy: NSAttributeDescription) {
    copyState(to: copy)
    copy._attributeType = _attributeType
    copy._valueClassName = _valueClassName
    copy._defaultValue = _defaultValue
    copy.fallbackValue = fallbackValue
    copy._valueTransformerName = _valueTransformerName
    copy._allowsExternalBinaryDataStorage = _allowsExternalBinaryDataStorage
    copy._preservesValueInHistoryOnDeletion = _preservesValueInHistoryOnDeletion
    copy._allowsCloudEncryption = _allowsCloudEncryption
    copy.limits = limits
    copy.fileValidations = fileValidations
    copy.usesScalarValueType = usesScalarValueType
  }
}
