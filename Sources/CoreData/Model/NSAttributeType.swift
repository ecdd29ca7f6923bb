import CoreDataModelSchema

/// The type of an attribute's values.
///
/// A switch over it needs `@unknown default`, as with Core Data, which may add cases.
#if hasAttribute(nonexhaustive)
@nonexhaustive(warn)
#endif
public enum NSAttributeType: UInt, Sendable {
  /// No type; allowed only for transient attributes.
  case undefinedAttributeType = 0
  /// A 16-bit integer.
  case integer16AttributeType = 100
  /// A 32-bit integer.
  case integer32AttributeType = 200
  /// A 64-bit integer.
  case integer64AttributeType = 300
  /// A decimal number: `NSDecimalNumber`.
  case decimalAttributeType = 400
  /// A 64-bit floating-point number.
  case doubleAttributeType = 500
  /// A 32-bit floating-point number.
  case floatAttributeType = 600
  /// Text: `String`.
  case stringAttributeType = 700
  /// True or false.
  case booleanAttributeType = 800
  /// A point in time: `Date`.
  case dateAttributeType = 900
  /// Bytes: `Data`.
  case binaryDataAttributeType = 1000
  /// A `UUID`.
  case UUIDAttributeType = 1100
  /// A `URL`.
  case URIAttributeType = 1200
  /// Any object that a value transformer encodes as data.
  case transformableAttributeType = 1800
  /// An object ID; only as the result type of an expression.
  case objectIDAttributeType = 2000
  /// A fixed set of named elements, which are attributes.
  case compositeAttributeType = 2100
}

/// The effect of deleting an object on the other end of a relationship.
public enum NSDeleteRule: UInt, Sendable {
  /// No effect: the destination keeps a dangling reference.
  case noActionDeleteRule = 0
  /// The destination's inverse is cleared.
  case nullifyDeleteRule = 1
  /// The destinations are deleted as well.
  case cascadeDeleteRule = 2
  /// The object cannot be deleted while there are destinations.
  case denyDeleteRule = 3
}

/// The storage of a fetch index element.
public enum NSFetchIndexElementType: UInt, Sendable {
  /// An ordinary sorted index.
  case binary = 0
  /// A spatial index for numbers.
  case rTree = 1
}

extension NSAttributeDescription {
  /// `NSAttributeType` under a shorter name.
  public struct AttributeType: Hashable, RawRepresentable, Sendable {
    public let rawValue: NSAttributeType

    public init(rawValue: NSAttributeType) { self.rawValue = rawValue }

    private init(_ rawValue: NSAttributeType) { self.rawValue = rawValue }

    /// No type; allowed for transient attributes.
    public static let undefined = AttributeType(.undefinedAttributeType)
    /// A 16-bit integer.
    public static let integer16 = AttributeType(.integer16AttributeType)
    /// A 32-bit integer.
    public static let integer32 = AttributeType(.integer32AttributeType)
    /// A 64-bit integer.
    public static let integer64 = AttributeType(.integer64AttributeType)
    /// A decimal number: `NSDecimalNumber`.
    public static let decimal = AttributeType(.decimalAttributeType)
    /// A 64-bit floating-point number.
    public static let double = AttributeType(.doubleAttributeType)
    /// A 32-bit floating-point number.
    public static let float = AttributeType(.floatAttributeType)
    /// Text: `String`.
    public static let string = AttributeType(.stringAttributeType)
    /// True or false.
    public static let boolean = AttributeType(.booleanAttributeType)
    /// A point in time: `Date`.
    public static let date = AttributeType(.dateAttributeType)
    /// Bytes: `Data`.
    public static let binaryData = AttributeType(.binaryDataAttributeType)
    /// A `UUID`.
    public static let uuid = AttributeType(.UUIDAttributeType)
    /// A `URL`.
    public static let uri = AttributeType(.URIAttributeType)
    /// An object that a value transformer encodes as data.
    public static let transformable = AttributeType(.transformableAttributeType)
    /// The ID of an object; in fetch results only.
    public static let objectID = AttributeType(.objectIDAttributeType)
    /// Several values under one name, as a dictionary.
    public static let composite = AttributeType(.compositeAttributeType)
  }
}

/// The schema's attribute type, under a name that the nested type above does not shadow.
typealias SchemaAttributeType = AttributeType

extension NSAttributeType {
  init(_ type: SchemaAttributeType) { self = NSAttributeType(rawValue: type.rawValue)! }

  var schemaType: SchemaAttributeType { SchemaAttributeType(rawValue: rawValue)! }

  /// Name of the class of this type's values in the API; nil if it varies.
  var valueClassName: String? {
    switch self {
    case .integer16AttributeType, .integer32AttributeType, .integer64AttributeType, .doubleAttributeType,
      .floatAttributeType, .booleanAttributeType:
      "NSNumber"
    case .decimalAttributeType: "NSDecimalNumber"
    case .stringAttributeType: "NSString"
    case .dateAttributeType: "NSDate"
    case .binaryDataAttributeType: "NSData"
    case .UUIDAttributeType: "NSUUID"
    case .URIAttributeType: "NSURL"
    case .compositeAttributeType: "NSDictionary"
    case .objectIDAttributeType: "NSManagedObjectID"
    case .undefinedAttributeType, .transformableAttributeType: nil
    }
  }
}
