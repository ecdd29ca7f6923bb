import CoreData

/// The stored form of an attribute: its type and, for a composite, those of its elements.
struct StoredForm: Sendable {
  struct Element: Sendable {
    let name: String
    let form: StoredForm
    let isOptional: Bool
  }

  var type: NSAttributeType
  var elements: [Element] = []
  var transformerName: String?
  /// Name of the values' class, if the type doesn't determine it.
  var valueClassName: String?
  /// Whether a composite's one element is the value itself, as of an enumeration with raw values.
  var holdsOneValue = false
  /// Whether a composite's elements are the stored properties of a structure.
  var isStructure = false
  /// Whether binary data are a value's JSON.
  var isJSON = false

  /// Bytes that are a value's JSON.
  static let json = StoredForm(type: .binaryDataAttributeType, isJSON: true)

  /// Whether values are stored as bytes.
  var isBinary: Bool { type == .binaryDataAttributeType || type == .transformableAttributeType }

  /// Creates the description of an attribute with this form.
  func attribute(named name: String, isOptional: Bool) -> NSAttributeDescription {
    let attribute: NSAttributeDescription
    if type == .compositeAttributeType {
      let composite = NSCompositeAttributeDescription()
      composite.elements = elements.map { $0.form.attribute(named: $0.name, isOptional: $0.isOptional) }
      attribute = composite
    } else {
      attribute = NSAttributeDescription()
      attribute.attributeType = type
      attribute.valueTransformerName = transformerName
      if let valueClassName { attribute.attributeValueClassName = valueClassName }
    }
    attribute.name = name
    attribute.isOptional = isOptional
    return attribute
  }

  /// The form as an element of an optional composite: everything in it may be missing.
  var optional: StoredForm {
    var copy = self
    copy.elements = elements.map { Element(name: $0.name, form: $0.form.optional, isOptional: true) }
    return copy
  }

  /// The Swift type with this stored form.
  func swiftType(isOptional: Bool) -> any Any.Type {
    func optional<Value>(_ type: Value.Type) -> any Any.Type { isOptional ? Value?.self : Value.self }
    return switch type {
    case .integer16AttributeType: optional(Int16.self)
    case .integer32AttributeType: optional(Int32.self)
    case .integer64AttributeType: optional(Int.self)
    case .booleanAttributeType: optional(Bool.self)
    case .doubleAttributeType: optional(Double.self)
    case .floatAttributeType: optional(Float.self)
    case .decimalAttributeType: optional(Decimal.self)
    case .stringAttributeType: optional(String.self)
    case .dateAttributeType: optional(Date.self)
    case .UUIDAttributeType: optional(UUID.self)
    case .URIAttributeType: optional(URL.self)
    default: optional(Data.self)
    }
  }
}
