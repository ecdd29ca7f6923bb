import CoreDataModelSchema
import Foundation

/// A value that does not fit its attribute: the attribute, the expectation, and the actual value.
struct AttributeValueError: Error, Sendable, CustomStringConvertible {
  let entity: String
  let attribute: String
  let expected: String
  let found: String

  var description: String {
    "unacceptable value for '\(entity).\(attribute)': expected \(expected), found \(found)"
  }
}

/// Converts the values of one attribute between the caller's types and the engine's `Value`.
///
/// One per slot of an entity in use. Every `setValue(_:forKey:)` converts a value, so common types are tried
/// first; all others cost a few more casts.
final class AttributeCoding: Sendable {
  let entityName: String
  let name: String
  let type: SchemaAttributeType
  let form: AttributeForm
  let transformerName: String?
  /// Elements of a composite attribute in declared order.
  let elements: [AttributeCoding]

  init(_ attribute: AttributeSchema, entityName: String) {
    self.entityName = entityName
    name = attribute.name
    type = attribute.type
    form = type.form
    transformerName = attribute.valueTransformerName
    elements = attribute.elements.map { AttributeCoding($0, entityName: "\(entityName).\(attribute.name)") }
  }

  /// Converts a caller's value. Nil, an empty optional and `NSNull` are null.
  ///
  /// Accepts numbers of any Swift type and NSNumber. An integer attribute truncates fractions and keeps the
  /// low bits of a number that is too large; a 64-bit one clamps floating-point numbers and decimals to its
  /// range.
  func value(from any: Any?) throws(AttributeValueError) -> Value {
    guard let any else { return .null }
    if let value = exact(any) { return value }
    return try _convert(any)
  }

  /// Converts the value if its type is exactly one of the attribute's common types; otherwise nil.
  @inline(__always) func exact(_ any: Any) -> Value? {
    func open<T>(_ value: T) -> Value? { _exact(value) }
    // Opening the existential identifies the value's type by address; casting an `Any` goes through the
    // runtime and takes ten times as long.
    return _openExistential(any, do: open)
  }

  private func _exact<T>(_ value: T) -> Value? {
    // The type of the elements that Foundation's collections return.
    if T.self == NSObject.self { return _exact(object: Self._object(value, NSObject.self)) }
    switch form {
    case .string:
      if T.self == String.self { return .string(Self._same(value, as: String.self)) }
      if T.self == NSString.self { return .string(Self._object(value, NSString.self).description) }
    case .integer16, .integer32, .integer64:
      guard let number = Self._exactInteger(value) else { return nil }
      return .int(form == .integer64 ? number : _cut(number))
    case .boolean:
      if T.self == Bool.self { return .int(Self._same(value, as: Bool.self) ? 1 : 0) }
    case .double:
      if T.self == Double.self { return .double(Self._same(value, as: Double.self)) }
      if T.self == NSNumber.self { return .double(Self._object(value, NSNumber.self).doubleValue) }
    case .float:
      if T.self == Float.self { return .double(Double(Self._same(value, as: Float.self))) }
    case .date:
      if T.self == Date.self {
        return .double(Self._same(value, as: Date.self).timeIntervalSinceReferenceDate)
      }
    case .binaryData:
      if T.self == Data.self { return .data(Self._same(value, as: Data.self)) }
    case .uuid:
      if T.self == UUID.self { return .uuid(Self._same(value, as: UUID.self)) }
    case .uri:
      if T.self == URL.self { return .string(Self._same(value, as: URL.self).absoluteString) }
    case .decimal:
      if T.self == Decimal.self { return .decimal(DecimalBox(Self._same(value, as: Decimal.self))) }
    case .undefined, .transformable, .objectID, .composite: break
    }
    return nil
  }

  /// Converts an object of a common class; a cast from class to class is cheap.
  private func _exact(object: NSObject) -> Value? {
    switch form {
    case .string: (object as? NSString).map { .string($0.description) }
    case .integer16, .integer32, .integer64:
      (object as? NSNumber).flatMap { Self._exactInteger($0) }
        .map { .int(form == .integer64 ? $0 : _cut($0)) }
    case .boolean: (object as? NSNumber).map { .int($0.boolValue ? 1 : 0) }
    case .double: (object as? NSNumber).map { .double($0.doubleValue) }
    case .date: (object as? NSDate).map { .double($0.timeIntervalSinceReferenceDate) }
    default: nil
    }
  }

  /// Returns the value as an object of its known class.
  private static func _object<T, Object: AnyObject>(_ value: T, _ type: Object.Type) -> Object {
    _same(value, as: Unmanaged<Object>.self).takeUnretainedValue()
  }

  /// Returns a value whose type is known to be the given one, by reading it in place: a bit cast of a generic
  /// value first copies it through the witness table of its type.
  @inline(__always) private static func _same<T, Known>(_ value: T, as type: Known.Type) -> Known {
    withUnsafePointer(to: value) { UnsafeRawPointer($0).load(as: type) }
  }

  private static func _exactInteger<T>(_ value: T) -> Int64? {
    if T.self == Int.self { return Int64(Self._same(value, as: Int.self)) }
    if T.self == Int64.self { return Self._same(value, as: Int64.self) }
    if T.self == Int32.self { return Int64(Self._same(value, as: Int32.self)) }
    if T.self == Int16.self { return Int64(Self._same(value, as: Int16.self)) }
    if T.self == NSNumber.self {
      let number = Self._object(value, NSNumber.self)
      let whole = number.int64Value
      // Up to 2^53 a double represents every integer, so equality means that nothing was truncated.
      let limit: Int64 = 1 << 53
      return whole > -limit && whole < limit && Double(whole) == number.doubleValue ? whole : nil
    }
    return nil
  }

  /// Truncates a number to the low bits of the attribute's type.
  private func _cut(_ number: Int64) -> Int64 {
    switch form {
    case .integer16: Int64(Int16(truncatingIfNeeded: number))
    case .integer32: Int64(Int32(truncatingIfNeeded: number))
    default: number
    }
  }

  /// Converts values of less common types.
  private func _convert(_ any: Any) throws(AttributeValueError) -> Value {
    switch form {
    case .string:
      if let text = any as? NSString { return .string(text.description) }
      if let text = any as? String { return .string(text) }
      if let text = any as? any StringProtocol { return .string(String(text)) }
    case .integer16, .integer32, .integer64:
      if let number = WholeNumber.of(any) { return .int(_cut(number)) }
    case .boolean:
      if let number = any as? NSNumber { return .int(number.boolValue ? 1 : 0) }
      if let flag = any as? Bool { return .int(flag ? 1 : 0) }
      if let number = any as? any BinaryInteger { return .int(Self._isZero(number) ? 0 : 1) }
      if let number = Self._double(any) { return .int(number == 0 ? 0 : 1) }
    case .double:
      if let number = Self._double(any) { return .double(number) }
    case .float:
      if let number = Self._double(any) { return .double(Double(Float(number))) }
    case .decimal:
      if let decimal = Self.decimal(of: any) { return .decimal(DecimalBox(decimal)) }
    case .date:
      if let date = any as? NSDate { return .double(date.timeIntervalSinceReferenceDate) }
      if let date = any as? Date { return .double(date.timeIntervalSinceReferenceDate) }
    case .binaryData:
      if let data = any as? NSData { return .data(Data(referencing: data)) }
      if let data = any as? Data { return .data(data) }
      if let bytes = any as? [UInt8] { return .data(Data(bytes)) }
    case .uuid:
      if let uuid = any as? UUID { return .uuid(uuid) }
      if let uuid = any as? NSUUID, let value = UUID(uuidString: uuid.uuidString) { return .uuid(value) }
    case .uri:
      if let url = any as? NSURL { return .string(url.absoluteString) }
      if let url = any as? URL { return .string(url.absoluteString) }
    case .objectID:
      if let id = any as? NSManagedObjectID { return .pending(id) }
    case .undefined, .transformable, .composite: break
    }
    if let optional = any as? any AnyOptional {
      guard let wrapped = optional.attributeValue else { return .null }
      return try value(from: wrapped)
    }
    if any is NSNull { return .null }
    switch form {
    case .undefined, .transformable: return .transformable(TransformableBox(object: any, data: nil))
    case .composite: return .composite(try _composite(any))
    default: throw mismatch(any)
    }
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

  private static func _isZero(_ number: some BinaryInteger) -> Bool { number == 0 }

  private static func _double(_ any: Any) -> Double? {
    func wide(_ number: some BinaryFloatingPoint) -> Double { Double(number) }
    return switch any {
    case let number as NSNumber: number.doubleValue
    case let number as Double: number
    case let number as Int: Double(number)
    case let flag as Bool: flag ? 1 : 0
    case let number as any BinaryFloatingPoint: wide(number)
    case let number as any BinaryInteger: Double(number)
    case let number as Decimal: NSDecimalNumber(decimal: number).doubleValue
    default: nil
    }
  }

  /// Returns a number as a decimal through its shortest text: 0.1 becomes 0.1, not its binary approximation.
  /// Nil unless it is a finite number.
  static func decimal(of any: Any) -> Decimal? {
    func text(_ number: some BinaryFloatingPoint) -> Decimal? {
      number.isFinite ? Decimal(string: "\(number)") : nil
    }
    // Check the object's own type: a cast would convert a float to a double first.
    if Swift.type(of: any) is AnyClass, let number = any as? NSNumber {
      if let decimal = number as? NSDecimalNumber { return decimal.decimalValue }
      switch UInt8(bitPattern: number.objCType.pointee) {
      case UInt8(ascii: "f"): return text(number.floatValue)
      case UInt8(ascii: "d"): return text(number.doubleValue)
      default: return Decimal(string: number.stringValue) ?? Decimal(number.intValue)
      }
    }
    return switch any {
    case let number as Decimal: number
    case let number as Int: Decimal(number)
    case let flag as Bool: flag ? 1 : 0
    case let number as any BinaryInteger: Decimal(string: number.description)
    case let number as any BinaryFloatingPoint: text(number)
    default: nil
    }
  }

  func mismatch(_ any: Any) -> AttributeValueError {
    AttributeValueError(
      entity: entityName, attribute: name, expected: type.traits.expectation,
      found: "\(Swift.type(of: any)) (\(String(describing: any).prefix(80)))")
  }
}

/// An optional inside an `Any`.
private protocol AnyOptional {
  var attributeValue: Any? { get }
}

extension Optional: AnyOptional {
  fileprivate var attributeValue: Any? { map { $0 as Any } }
}
