import Foundation

/// CAST(value, 'Type'): the types that a value can be converted to, and the conversions.
package enum ValueCast {
  /// Class names accepted, each as Core Data's documentation spells it.
  package static let names = [
    "NSNumber", "NSDecimalNumber", "NSString", "NSDate", "NSData", "NSUUID", "NSURL",
  ]

  package static func isKnown(_ type: String) -> Bool { names.contains(type) }

  /// Converts `value` to `type`; nil remains nil.
  /// - Throws: `PredicateEvaluationError` for an unknown type or a value that cannot become one.
  package static func value(_ value: PredicateValue, as type: String) throws -> PredicateValue {
    if case .null = value { return .null }
    if let result = _converted(value, type) { return result }
    guard isKnown(type) else { throw PredicateEvaluationError.unknownType(type) }
    throw PredicateEvaluationError.wrongOperand("CAST to \(type)", value.kindName)
  }

  private static func _converted(_ value: PredicateValue, _ type: String) -> PredicateValue? {
    switch (type, value) {
    case ("NSNumber", .bool), ("NSNumber", .int), ("NSNumber", .double), ("NSNumber", .decimal): value
    case ("NSNumber", .date(let seconds)): .double(seconds)
    case ("NSNumber", .string(let text)): Int64(text).map { .int($0) } ?? Double(text).map { .double($0) }
    case ("NSDecimalNumber", .decimal): value
    case ("NSDecimalNumber", .int(let number)): .decimal(Decimal(number))
    case ("NSDecimalNumber", .bool(let flag)): .decimal(flag ? 1 : 0)
    case ("NSDecimalNumber", .double(let number)): number.isFinite ? .decimal(Decimal(number)) : nil
    case ("NSDecimalNumber", .string(let text)):
      Decimal(string: text, locale: Locale(identifier: "en_US_POSIX")).map { .decimal($0) }
    case ("NSString", .string): value
    case ("NSString", .bool), ("NSString", .int), ("NSString", .double), ("NSString", .decimal):
      .string(value.plainText)
    case ("NSString", .uuid), ("NSString", .url), ("NSString", .date): .string(value.plainText)
    case ("NSDate", .date): value
    case ("NSDate", .int), ("NSDate", .double), ("NSDate", .decimal): value.double.map { .date($0) }
    case ("NSDate", .string(let text)): Double(text).map { .date($0) }
    case ("NSData", .data): value
    case ("NSData", .string(let text)): Data(base64Encoded: text).map { .data($0) }
    case ("NSUUID", .uuid): value
    case ("NSUUID", .string(let text)): UUID(uuidString: text).map { .uuid($0) }
    case ("NSURL", .url): value
    case ("NSURL", .string(let text)): URL(string: text).map { .url($0) }
    default: nil
    }
  }

  /// The constant that a CAST of a literal denotes, for values without a literal in the language; nil for any
  /// other CAST. This is how the printer writes dates, decimals, data, UUIDs, URLs and numbers that are not
  /// finite.
  static func literal(_ value: ExpressionTree, _ type: ExpressionTree) -> PredicateValue? {
    guard case .constant(let constant) = value, case .constant(.string(let name)) = type else { return nil }
    switch (name, constant) {
    case ("NSDate", .int), ("NSDate", .double), ("NSDate", .decimal), ("NSDate", .string),
      ("NSDecimalNumber", .string),
      ("NSData", .string), ("NSUUID", .string), ("NSURL", .string):
      return _converted(constant, name)
    case ("NSNumber", .string(let text)):
      guard let number = Double(text), !number.isFinite else { return nil }
      return .double(number)
    default: return nil
    }
  }
}
