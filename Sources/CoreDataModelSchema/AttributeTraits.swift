/// The representation of an attribute type's values in rows, columns, literals, texts and HTML forms.
///
/// Databases, file formats and tools switch over forms, not over types, so a new type that has the form of an
/// existing one requires no change in them.
package enum AttributeForm: Sendable, Hashable {
  case undefined
  case integer16, integer32, integer64
  case boolean
  /// A floating-point number.
  case float, double
  case decimal
  case string
  /// Seconds since 2001-01-01 00:00 UTC.
  case date
  case binaryData
  case uuid
  /// A text that reads as a URL.
  case uri
  /// An object that a value transformer encodes as bytes.
  case transformable
  case objectID
  case composite
}

/// The properties of an attribute type that the engine, model files and code generators depend on.
package struct AttributeTraits: Sendable {
  /// The type's name in model files.
  package let fileName: String
  /// The representation of values.
  package let form: AttributeForm
  /// The class of values in archives; nil if there is none, or if each attribute specifies it.
  package let archivedClass: String?
  /// A description of the values that callers may pass, for error messages.
  package let expectation: String
  /// Type of a generated property.
  package let objectType: String
  /// Type of a generated property with scalar values; nil for none.
  package let scalarType: String?
  /// Type of a generated property of a SwiftData model; nil if SwiftData does not support such values.
  package let modelType: String?
}

extension AttributeType {
  /// The traits of the type.
  package var traits: AttributeTraits { Self._traits[Int(rawValue / 100)].unsafelyUnwrapped }

  /// The representation of the type's values.
  package var form: AttributeForm { Self._forms[Int(rawValue / 100)] }

  /// Traits by the raw value divided by 100.
  private static let _traits: [AttributeTraits?] = {
    var traits = [AttributeTraits?](repeating: nil, count: Int(allCases.map(\.rawValue).max()! / 100) + 1)
    for type in allCases { traits[Int(type.rawValue / 100)] = type._made }
    return traits
  }()

  private static let _forms = _traits.map { $0?.form ?? .undefined }

  /// The traits of the type. A new type is a case of `AttributeType`, one here, and a public constant.
  private var _made: AttributeTraits {
    switch self {
    case .undefined: .init("Undefined", .undefined, nil, "an object", "NSObject")
    case .integer16: ._number("Integer 16", .integer16, "an integer or NSNumber", "Int16", "Int16")
    case .integer32: ._number("Integer 32", .integer32, "an integer or NSNumber", "Int32", "Int32")
    case .integer64: ._number("Integer 64", .integer64, "an integer or NSNumber", "Int64", "Int")
    case .decimal:
      .init(
        "Decimal", .decimal, "NSDecimalNumber", "a Decimal or NSDecimalNumber", "NSDecimalNumber",
        model: "Decimal")
    case .double: ._number("Double", .double, "a floating-point number or NSNumber", "Double", "Double")
    case .float: ._number("Float", .float, "a floating-point number or NSNumber", "Float", "Float")
    case .string: .init("String", .string, "NSString", "a String", "String", model: "String")
    case .boolean: ._number("Boolean", .boolean, "a Bool or NSNumber", "Bool", "Bool")
    case .date: .init("Date", .date, "NSDate", "a Date", "Date", scalar: "TimeInterval", model: "Date")
    case .binaryData: .init("Binary", .binaryData, "NSData", "Data", "Data", model: "Data")
    case .uuid: .init("UUID", .uuid, "NSUUID", "a UUID", "UUID", model: "UUID")
    case .uri: .init("URI", .uri, "NSURL", "a URL", "URL", model: "URL")
    case .transformable: .init("Transformable", .transformable, nil, "an object", "NSObject")
    case .objectID: .init("Object ID", .objectID, nil, "an NSManagedObjectID", "NSManagedObjectID")
    case .composite:
      .init("Composite", .composite, nil, "a dictionary of the elements by name", "NSObject")
    }
  }

  /// The type's name in model files.
  package var fileName: String { traits.fileName }

  /// Creates the type that has this name in model files.
  package init?(fileName: String) {
    guard let type = Self._byFileName[fileName] else { return nil }
    self = type
  }

  private static let _byFileName = Dictionary(uniqueKeysWithValues: allCases.map { ($0.fileName, $0) })
}

extension AttributeTraits {
  fileprivate init(
    _ fileName: String, _ form: AttributeForm, _ archivedClass: String?, _ expectation: String,
    _ objectType: String, scalar scalarType: String? = nil, model modelType: String? = nil
  ) {
    self.fileName = fileName
    self.form = form
    self.archivedClass = archivedClass
    self.expectation = expectation
    self.objectType = objectType
    self.scalarType = scalarType
    self.modelType = modelType
  }

  /// Returns the traits of a type whose values are boxed as `NSNumber`.
  fileprivate static func _number(
    _ fileName: String, _ form: AttributeForm, _ expectation: String, _ scalarType: String,
    _ modelType: String
  ) -> AttributeTraits {
    .init(fileName, form, "NSNumber", expectation, "NSNumber", scalar: scalarType, model: modelType)
  }
}
