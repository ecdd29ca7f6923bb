import CoreData
import Foundation

/// A value of JSON as the value of an attribute.
enum FixtureValue {
  /// Converts a value; nil for null.
  ///
  /// - Throws: `TestStoreError` for a value that does not fit the attribute.
  static func value(_ json: Any, of attribute: NSAttributeDescription, _ place: String) throws -> Any? {
    if json is NSNull { return nil }
    guard let value = try _value(json, attribute, place) else {
      throw TestStoreError(
        "\(place): '\(attribute.name)': \(_wanted(attribute)) was expected, not \(_text(json)).")
    }
    return value
  }

  private static func _value(_ json: Any, _ attribute: NSAttributeDescription, _ place: String) throws -> Any?
  {
    let text = json as? String
    // Numbers and booleans are both NSNumber; only the type of their content differs.
    let isFlag = _isBoolean(json)
    let number = isFlag ? nil : json as? NSNumber
    switch attribute.attributeType {
    case .integer16AttributeType: return _integer(number, text, Int16.self)
    case .integer32AttributeType: return _integer(number, text, Int32.self)
    case .integer64AttributeType: return _integer(number, text, Int64.self)
    case .booleanAttributeType:
      if isFlag { return json }
      switch number?.intValue ?? (text.flatMap { ["true": 1, "false": 0, "1": 1, "0": 0][$0] } ?? -1) {
      case 0: return false as NSNumber
      case 1: return true as NSNumber
      default: return nil
      }
    case .doubleAttributeType, .floatAttributeType:
      let value = number?.doubleValue ?? text.flatMap(Double.init)
      return value.map {
        attribute.attributeType == .doubleAttributeType ? $0 as NSNumber : Float($0) as NSNumber
      }
    case .decimalAttributeType:
      let digits = text ?? number?.stringValue
      return digits.flatMap { Decimal(string: $0, locale: Locale(identifier: "en_US_POSIX")) }
        .map { NSDecimalNumber(decimal: $0) }
    case .stringAttributeType: return text
    case .dateAttributeType:
      return number.map { Date(timeIntervalSinceReferenceDate: $0.doubleValue) }
        ?? text.flatMap(TextDate.date)
    case .UUIDAttributeType: return text.flatMap(UUID.init(uuidString:))
    case .URIAttributeType: return text.flatMap(URL.init(string:))
    case .binaryDataAttributeType: return text.flatMap { Data(base64Encoded: $0) }
    case .transformableAttributeType: return try text.flatMap { try _transformed($0, attribute, place) }
    case .compositeAttributeType: return json as? [String: Any]
    default: return nil
    }
  }

  private static func _isBoolean(_ json: Any) -> Bool {
    (json as? NSNumber).map { ["c", "B"].contains(String(cString: $0.objCType)) } ?? false
  }

  private static func _integer<Integer: FixedWidthInteger & SignedInteger>(
    _ number: NSNumber?, _ text: String?, _ type: Integer.Type
  ) -> NSNumber? {
    let digits = text ?? number?.stringValue
    return digits.flatMap { Integer($0) }.map { NSNumber(value: Int64($0)) }
  }

  /// The object whose stored form is given in base64.
  private static func _transformed(_ text: String, _ attribute: NSAttributeDescription, _ place: String)
    throws
    -> Any?
  {
    guard let data = Data(base64Encoded: text) else { return nil }
    let name = attribute.valueTransformerName ?? "NSSecureUnarchiveFromData"
    guard let transformer = ValueTransformer(forName: NSValueTransformerName(name)) else {
      throw TestStoreError(
        "\(place): '\(attribute.name)': no value transformer '\(name)' is registered; register it before the fixture is loaded."
      )
    }
    // The system's transformers unarchive; the program's archive.
    let unarchives = ["NSSecureUnarchiveFromData", "NSKeyedUnarchiveFromData", "NSUnarchiveFromData"]
      .contains(name)
    return unarchives ? transformer.transformedValue(data) : transformer.reverseTransformedValue(data)
  }

  private static func _text(_ json: Any) -> String {
    let text = json as? String
    return text.map { "'\($0.prefix(40))'" }
      ?? (json is [Any] ? "an array" : json is [String: Any] ? "an object" : "\(json)")
  }

  private static func _wanted(_ attribute: NSAttributeDescription) -> String {
    switch attribute.attributeType {
    case .integer16AttributeType: "a whole number of 16 bits"
    case .integer32AttributeType: "a whole number of 32 bits"
    case .integer64AttributeType: "a whole number of 64 bits"
    case .booleanAttributeType: "true or false"
    case .doubleAttributeType, .floatAttributeType: "a number"
    case .decimalAttributeType: "a decimal number"
    case .stringAttributeType: "a string"
    case .dateAttributeType: "a date such as 2024-02-29T12:00:00Z"
    case .UUIDAttributeType: "a UUID"
    case .URIAttributeType: "a URL"
    case .binaryDataAttributeType, .transformableAttributeType: "bytes in base64"
    case .compositeAttributeType: "an object with the composite's elements"
    default: "nothing (the attribute cannot be stored)"
    }
  }
}
