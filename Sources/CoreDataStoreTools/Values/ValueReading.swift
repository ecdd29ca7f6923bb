import CoreData
import CoreDataModelSchema
import CoreDataToolKit
import Foundation

/// Text and JSON read as stored values: the inverse of `ValueText`.
package enum ValueReading {
  /// Why a value does not fit its property.
  package struct Misfit: Error, Sendable, CustomStringConvertible {
    package let expected: String
    package let found: String
    package var description: String { "\(expected) was expected, not \(found)" }
  }

  /// A JSON value as the value of an attribute.
  package static func value(_ json: JSONValue, of attribute: AttributeSchema) throws(Misfit) -> StoredValue {
    if case .null = json { return .null }
    switch attribute.type.form {
    case .boolean:
      switch json {
      case .boolean(let flag): return .boolean(flag)
      case .number("0"): return .boolean(false)
      case .number("1"): return .boolean(true)
      default: break
      }
    case .composite:
      guard case .object(let members) = json else { break }
      return try _composite(members, attribute)
    case .integer16, .integer32, .integer64, .double, .float, .decimal, .date:
      if case .number(let digits) = json { return try value(digits, of: attribute) }
    default: break
    }
    guard case .string(let text) = json else { throw Misfit(expected: wanted(attribute), found: json.kind) }
    return try value(text, of: attribute)
  }

  /// Text as the value of an attribute.
  package static func value(_ text: String, of attribute: AttributeSchema) throws(Misfit) -> StoredValue {
    guard let value = _value(text, attribute) else {
      throw Misfit(
        expected: wanted(attribute), found: "'\(TextWidth.truncated(ValueText.onOneLine(text), to: 40))'")
    }
    return value
  }

  private static func _value(_ text: String, _ attribute: AttributeSchema) -> StoredValue? {
    switch attribute.type.form {
    case .integer16: return Int16(text).map { .integer(Int64($0)) }
    case .integer32: return Int32(text).map { .integer(Int64($0)) }
    case .integer64: return Int64(text).map { .integer($0) }
    case .boolean:
      switch text.lowercased() {
      case "true", "yes", "1": return .boolean(true)
      case "false", "no", "0": return .boolean(false)
      default: return nil
      }
    case .double, .float: return _double(text).map { .double($0) }
    case .date: return ISODate.seconds(text).map { .date($0) }
    case .decimal:
      if text == "NaN" { return .decimal(.nan) }
      return _isDecimal(text) ? Decimal(string: text, locale: nil).map { .decimal($0) } : nil
    case .string: return .string(text)
    case .uri: return .uri(text)
    case .uuid: return UUID(uuidString: text).map { .uuid($0) }
    case .binaryData: return Data(base64Encoded: text).map { .data($0) }
    case .transformable: return Data(base64Encoded: text).map { .transformable($0) }
    case .composite:
      guard let json = try? JSONValue(parsing: Array(text.utf8)) else { return nil }
      return try? value(json, of: attribute)
    case .undefined, .objectID: return nil
    }
  }

  private static func _double(_ text: String) -> Double? {
    switch text {
    case "NaN": .nan
    case "Infinity": .infinity
    case "-Infinity": -.infinity
    // `Double` also accepts hexadecimal numbers and words.
    default: text.utf8.allSatisfy { "+-.eE0123456789".utf8.contains($0) } ? Double(text) : nil
    }
  }

  /// Foundation parses as many digits as it understands and ignores the rest.
  private static func _isDecimal(_ text: String) -> Bool {
    Double(text) != nil && text.utf8.allSatisfy { "+-.eE0123456789".utf8.contains($0) }
  }

  private static func _composite(
    _ members: [JSONValue.Member], _ attribute: AttributeSchema
  ) throws(Misfit) -> StoredValue {
    var values = [StoredValue](repeating: .null, count: attribute.elements.count)
    for member in members {
      guard let index = attribute.elements.firstIndex(where: { $0.name == member.name }) else {
        throw Misfit(
          expected: "one of the elements \(attribute.elements.map(\.name).joined(separator: ", "))",
          found: "'\(member.name)'")
      }
      values[index] = try value(member.value, of: attribute.elements[index])
    }
    return values.allSatisfy { $0 == .null } ? .null : .composite(values)
  }

  /// What is read as a value of an attribute, as part of a sentence.
  static func wanted(_ attribute: AttributeSchema) -> String {
    switch attribute.type.form {
    case .integer16, .integer32, .integer64: "a whole number of \(attribute.type.fileName.suffix(2)) bits"
    case .boolean: "true or false"
    case .double, .float: "a number"
    case .decimal: "a decimal number"
    case .date: "a date such as 2024-02-29T12:00:00Z"
    case .uuid: "a UUID"
    case .binaryData, .transformable: "bytes in base64"
    case .composite: "an object with the composite's elements"
    case .string, .uri: "a string"
    case .undefined, .objectID: "nothing (the attribute cannot be stored)"
    }
  }
}
