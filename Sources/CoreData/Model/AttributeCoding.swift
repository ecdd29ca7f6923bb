import Foundation
import ModelSchema

/// A value that does not fit its attribute: which one, what was expected, what was found.
struct AttributeValueError: Error, Sendable, CustomStringConvertible {
  let entity: String
  let attribute: String
  let expected: String
  let found: String

  var description: String {
    "unacceptable value for '\(entity).\(attribute)': expected \(expected), found \(found)"
  }
}

/// How the values of one attribute are read and shown: between what callers pass and get, and the engine's `Value`.
///
/// One for each slot of an entity in use. Reading a value comes with every `setValue(_:forKey:)`, so the exact Swift type
/// is tried first, and everything else costs a few casts more.
final class AttributeCoding: Sendable {
  let entityName: String
  let name: String
  let type: SchemaAttributeType
  let transformerName: String?
  /// Elements of a composite attribute in declared order.
  let elements: [AttributeCoding]

  init(_ attribute: AttributeSchema, entityName: String) {
    self.entityName = entityName
    name = attribute.name
    type = attribute.type
    transformerName = attribute.valueTransformerName
    elements = attribute.elements.map { AttributeCoding($0, entityName: "\(entityName).\(attribute.name)") }
  }

  /// Reads what a caller passed. Nil, an empty optional and `NSNull` are null.
  ///
  /// Numbers are taken in any Swift type and as NSNumber, as long as they are whole and in range for an integer attribute;
  /// Core Data would cut them silently.
  func value(from any: Any?) throws(AttributeValueError) -> Value {
    guard let any else { return .null }
    switch type {
    case .string:
      if let text = any as? String { return .string(text) }
    case .integer64:
      if let number = any as? Int { return .int(Int64(number)) }
    case .integer32:
      if let number = any as? Int32 { return .int(Int64(number)) }
    case .integer16:
      if let number = any as? Int16 { return .int(Int64(number)) }
    case .boolean:
      if let flag = any as? Bool { return .int(flag ? 1 : 0) }
    case .double:
      if let number = any as? Double { return .double(number) }
    case .float:
      if let number = any as? Float { return .double(Double(number)) }
    case .date:
      if let date = any as? Date { return .double(date.timeIntervalSinceReferenceDate) }
    case .binaryData:
      if let data = any as? Data { return .data(data) }
    case .uuid:
      if let uuid = any as? UUID { return .uuid(uuid) }
    case .uri:
      if let url = any as? URL { return .string(url.absoluteString) }
    case .decimal:
      if let decimal = any as? Decimal { return .decimal(DecimalBox(decimal)) }
    case .undefined, .transformable, .objectID, .composite:
      break
    }
    return try _convert(any)
  }

  /// The less common ways to spell a value.
  private func _convert(_ any: Any) throws(AttributeValueError) -> Value {
    if let optional = any as? any AnyOptional {
      guard let wrapped = optional.wrapped else { return .null }
      return try value(from: wrapped)
    }
    if any is NSNull { return .null }
    switch type {
    case .string:
      if let text = any as? NSString { return .string(text.description) }
      if let text = any as? Substring { return .string(String(text)) }
      if let text = any as? any StringProtocol { return .string(String(text)) }
    case .integer16: return .int(try _integer(any, in: Int64(Int16.min)...Int64(Int16.max)))
    case .integer32: return .int(try _integer(any, in: Int64(Int32.min)...Int64(Int32.max)))
    case .integer64: return .int(try _integer(any, in: Int64.min...Int64.max))
    case .boolean:
      if let number = any as? NSNumber { return .int(number.boolValue ? 1 : 0) }
      if let number = any as? any BinaryInteger { return .int(Self._isZero(number) ? 0 : 1) }
    case .double:
      if let number = Self._double(any) { return .double(number) }
    case .float:
      if let number = Self._double(any) { return .double(Double(Float(number))) }
    case .decimal:
      if let decimal = Self._decimal(any) { return .decimal(DecimalBox(decimal)) }
    case .date:
      if let date = any as? NSDate { return .double(date.timeIntervalSinceReferenceDate) }
    case .binaryData:
      if let data = any as? NSData { return .data(Data(referencing: data)) }
      if let bytes = any as? [UInt8] { return .data(Data(bytes)) }
    case .uuid:
      if let uuid = any as? NSUUID, let value = UUID(uuidString: uuid.uuidString) { return .uuid(value) }
    case .uri:
      if let url = any as? NSURL { return .string(url.absoluteString) }
    case .undefined, .transformable:
      return .transformable(TransformableBox(object: any, data: nil))
    case .objectID:
      if let id = any as? NSManagedObjectID { return .pending(id) }
    case .composite:
      return .composite(try _composite(any))
    }
    throw mismatch(any)
  }

  private func _composite(_ any: Any) throws(AttributeValueError) -> CompositeBox {
    let given: [String: Any]
    if let dictionary = any as? [String: Any] {
      given = dictionary
    } else if let dictionary = any as? NSDictionary {
      var copied: [String: Any] = [:]
      for (key, value) in dictionary {
        guard let key = key as? String else { throw mismatch(any) }
        copied[key] = value
      }
      given = copied
    } else {
      throw mismatch(any)
    }
    if let unknown = given.keys.first(where: { key in !elements.contains { $0.name == key } }) {
      throw AttributeValueError(
        entity: entityName, attribute: name,
        expected: "a dictionary with the keys \(elements.map(\.name).joined(separator: ", "))",
        found: "the key '\(unknown)'")
    }
    var values: [Value] = []
    for element in elements { values.append(try element.value(from: given[element.name])) }
    return CompositeBox(values)
  }

  private func _integer(_ any: Any, in range: ClosedRange<Int64>) throws(AttributeValueError) -> Int64 {
    let whole: Int64?
    switch any {
    case let number as Int: whole = Int64(number)
    case let number as Int64: whole = number
    case let number as Int32: whole = Int64(number)
    case let number as Bool where !(any is NSNumber): whole = number ? 1 : 0
    case let number as NSNumber: whole = Self._whole(number)
    case let number as any BinaryInteger: whole = Int64(exactly: number)
    case let number as Double: whole = Int64(exactly: number)
    case let number as Float: whole = Int64(exactly: number)
    case let number as Decimal: whole = Self._whole(NSDecimalNumber(decimal: number))
    default: throw mismatch(any)
    }
    guard let whole, range.contains(whole) else {
      throw AttributeValueError(
        entity: entityName, attribute: name,
        expected: "a whole number from \(range.lowerBound) to \(range.upperBound)", found: "\(any)")
    }
    return whole
  }

  private static func _isZero(_ number: some BinaryInteger) -> Bool { number == 0 }

  /// The number without loss, or nil.
  private static func _whole(_ number: NSNumber) -> Int64? {
    if number is NSDecimalNumber {
      let whole = number.int64Value
      return Decimal(whole) == number.decimalValue ? whole : nil
    }
    switch UInt8(bitPattern: number.objCType.pointee) {
    case UInt8(ascii: "d"), UInt8(ascii: "f"): return Int64(exactly: number.doubleValue)
    case UInt8(ascii: "Q"): return Int64(exactly: number.uint64Value)
    default: return number.int64Value
    }
  }

  private static func _double(_ any: Any) -> Double? {
    switch any {
    case let number as Double: number
    case let number as Int: Double(number)
    case let number as NSNumber: number.doubleValue
    case let number as Float: Double(number)
    case let number as any BinaryInteger: Double(number)
    case let number as Decimal: NSDecimalNumber(decimal: number).doubleValue
    default: nil
    }
  }

  private static func _decimal(_ any: Any) -> Decimal? {
    switch any {
    case let number as NSDecimalNumber: return number.decimalValue
    case let number as Int: return Decimal(number)
    case let number as Double: return number.isFinite ? Decimal(string: number.description) : nil
    case let number as NSNumber:
      // Through its text: the nearest decimal to 0.1 is 0.1, not the binary fraction behind it.
      return Decimal(string: number.stringValue)
    case let number as any BinaryInteger: return Decimal(string: number.description)
    case let number as Float: return number.isFinite ? Decimal(string: number.description) : nil
    default: return nil
    }
  }

  func mismatch(_ any: Any) -> AttributeValueError {
    AttributeValueError(
      entity: entityName, attribute: name, expected: type.expectation,
      found: "\(Swift.type(of: any)) (\(String(describing: any).prefix(80)))")
  }
}

/// An optional inside an `Any`.
private protocol AnyOptional {
  var wrapped: Any? { get }
}

extension Optional: AnyOptional {
  fileprivate var wrapped: Any? { map { $0 as Any } }
}

extension SchemaAttributeType {
  /// What a caller must pass, in words.
  fileprivate var expectation: String {
    switch self {
    case .integer16, .integer32, .integer64: "an integer or NSNumber"
    case .decimal: "a Decimal or NSDecimalNumber"
    case .double, .float: "a floating-point number or NSNumber"
    case .string: "a String"
    case .boolean: "a Bool or NSNumber"
    case .date: "a Date"
    case .binaryData: "Data"
    case .uuid: "a UUID"
    case .uri: "a URL"
    case .undefined, .transformable: "an object"
    case .objectID: "an NSManagedObjectID"
    case .composite: "a dictionary of the elements by name"
    }
  }
}
