import CoreDataModelSchema
import Foundation

/// Describes an attribute: a property that holds a plain value.
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
  /// Limits from the model file, kept as data; the validation predicates are made of them when asked for.
  final var limits = AttributeLimits()
  /// Validation predicates from the model file that are no plain limits, as text.
  final var fileValidations: [ValidationSchema] = []
  /// Whether generated code uses a Swift number instead of an NSNumber. Nothing here depends on it.
  final var usesScalarValueType = false

  /// Kind of value the attribute holds.
  open var attributeType: NSAttributeType {
    get { _attributeType }
    set {
      willMutate("attributeType")
      _attributeType = newValue
    }
  }

  /// Kind of value the attribute holds, under its shorter name.
  public final var type: NSAttributeDescription.AttributeType {
    get { AttributeType(rawValue: attributeType) }
    set { attributeType = newValue.rawValue }
  }

  /// Name of the class of the attribute's values: that of its type, or for a transformable attribute the one
  /// set.
  open var attributeValueClassName: String? {
    get { _attributeType.valueClassName ?? _valueClassName }
    set {
      willMutate("attributeValueClassName")
      _valueClassName = newValue
    }
  }

  /// The class name that was set, for a transformable attribute.
  final var customClassName: String? { _valueClassName }

  /// Value of the attribute in a fresh object. It is kept, not copied.
  ///
  /// A value that does not fit the type is left out, with a line on the standard error, when a coordinator first
  /// uses the model.
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

  /// Name of the transformer between a transformable attribute's objects and their stored data; nil for keyed
  /// archives.
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

  /// Whether the store may keep large data in files beside the database.
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

  /// Whether persistent history keeps the value of a deleted object.
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

  /// Kept as set; there is no CloudKit here.
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
    copy._valueTransformerName = _valueTransformerName
    copy._allowsExternalBinaryDataStorage = _allowsExternalBinaryDataStorage
    copy._preservesValueInHistoryOnDeletion = _preservesValueInHistoryOnDeletion
    copy._allowsCloudEncryption = _allowsCloudEncryption
    copy.limits = limits
    copy.fileValidations = fileValidations
    copy.usesScalarValueType = usesScalarValueType
  }
}
