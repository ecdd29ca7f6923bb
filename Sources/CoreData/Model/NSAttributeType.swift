import CoreDataModelSchema

/// Kind of value an attribute holds.
///
/// A switch over it takes `@unknown default`, as over Core Data's, whose cases become more.
#if hasAttribute(nonexhaustive)
@nonexhaustive(warn)
#endif
public enum NSAttributeType: UInt, Sendable {
  /// No type; only transient attributes may have none.
  case undefinedAttributeType = 0
  /// A whole number of 16 bits.
  case integer16AttributeType = 100
  /// A whole number of 32 bits.
  case integer32AttributeType = 200
  /// A whole number of 64 bits.
  case integer64AttributeType = 300
  /// A decimal number: `NSDecimalNumber`.
  case decimalAttributeType = 400
  /// A floating-point number of 64 bits.
  case doubleAttributeType = 500
  /// A floating-point number of 32 bits.
  case floatAttributeType = 600
  /// Text: `String`.
  case stringAttributeType = 700
  /// True or false.
  case booleanAttributeType = 800
  /// A moment: `Date`.
  case dateAttributeType = 900
  /// Bytes: `Data`.
  case binaryDataAttributeType = 1000
  /// A `UUID`.
  case UUIDAttributeType = 1100
  /// A `URL`.
  case URIAttributeType = 1200
  /// Any object that a value transformer turns into data and back.
  case transformableAttributeType = 1800
  /// An object ID; only as the result type of an expression.
  case objectIDAttributeType = 2000
  /// A fixed set of named elements, each an attribute.
  case compositeAttributeType = 2100
}

/// What happens at the other end of a relationship when its object is deleted.
public enum NSDeleteRule: UInt, Sendable {
  /// Nothing: the destination keeps a reference to an object that is gone.
  case noActionDeleteRule = 0
  /// The destination's inverse is cleared.
  case nullifyDeleteRule = 1
  /// The destinations are deleted as well.
  case cascadeDeleteRule = 2
  /// While there are destinations the object can't be deleted.
  case denyDeleteRule = 3
}

/// How an element of a fetch index is stored.
public enum NSFetchIndexElementType: UInt, Sendable {
  /// An ordinary sorted index.
  case binary = 0
  /// A spatial index for numbers.
  case rTree = 1
}

extension NSAttributeDescription {
  /// `NSAttributeType` under shorter names.
  public struct AttributeType: Hashable, RawRepresentable, Sendable {
    public let rawValue: NSAttributeType

    public init(rawValue: NSAttributeType) { self.rawValue = rawValue }

    private init(_ rawValue: NSAttributeType) { self.rawValue = rawValue }

    /// No type yet; a transient attribute may have none.
    public static let undefined = AttributeType(.undefinedAttributeType)
    /// A whole number of 16 bits.
    public static let integer16 = AttributeType(.integer16AttributeType)
    /// A whole number of 32 bits.
    public static let integer32 = AttributeType(.integer32AttributeType)
    /// A whole number of 64 bits.
    public static let integer64 = AttributeType(.integer64AttributeType)
    /// A decimal number: `NSDecimalNumber`.
    public static let decimal = AttributeType(.decimalAttributeType)
    /// A floating-point number of 64 bits.
    public static let double = AttributeType(.doubleAttributeType)
    /// A floating-point number of 32 bits.
    public static let float = AttributeType(.floatAttributeType)
    /// Text: `String`.
    public static let string = AttributeType(.stringAttributeType)
    /// True or false.
    public static let boolean = AttributeType(.booleanAttributeType)
    /// A moment: `Date`.
    public static let date = AttributeType(.dateAttributeType)
    /// Bytes: `Data`.
    public static let binaryData = AttributeType(.binaryDataAttributeType)
    /// A `UUID`.
    public static let uuid = AttributeType(.UUIDAttributeType)
    /// A `URL`.
    public static let uri = AttributeType(.URIAttributeType)
    /// An object that a value transformer turns into bytes.
    public static let transformable = AttributeType(.transformableAttributeType)
    /// The ID of an object; in fetch results only.
    public static let objectID = AttributeType(.objectIDAttributeType)
    /// Several values under one name, as a dictionary.
    public static let composite = AttributeType(.compositeAttributeType)
  }
}

/// The schema's attribute type, under a name that the nested type above does not hide.
typealias SchemaAttributeType = AttributeType

extension NSAttributeType {
  init(_ type: SchemaAttributeType) { self = NSAttributeType(rawValue: type.rawValue)! }

  var schemaType: SchemaAttributeType { SchemaAttributeType(rawValue: rawValue)! }

  /// Name of the class that values of this type have at the API; nil where there is no fixed one.
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
