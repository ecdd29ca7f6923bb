import CoreDataModelSchema
import Foundation

/// Reads archived default values and constants.
struct ArchivedLiteral {
  private let _archive: KeyedArchive

  init(_ archive: KeyedArchive) { _archive = archive }

  /// Returns the value as a literal for an attribute of this type; nil without a value, or for an unsupported
  /// object.
  func literal(_ value: PlistValue?, type: AttributeType) -> SchemaLiteral? {
    guard let found = literal(value) else { return nil }
    switch (found, type.form) {
    case (.integer(let number), .boolean): return .boolean(number != 0)
    case (.boolean(let flag), .integer16), (.boolean(let flag), .integer32), (.boolean(let flag), .integer64):
      return .integer(flag ? 1 : 0)
    case (.integer(let number), .double), (.integer(let number), .float): return .double(Double(number))
    case (.boolean(let flag), .double), (.boolean(let flag), .float): return .double(flag ? 1 : 0)
    case (.double(let number), .integer16), (.double(let number), .integer32),
      (.double(let number), .integer64):
      return Int64(exactly: number.rounded(.towardZero)).map { .integer($0) }
    case (.integer(let number), .decimal): return .decimal("\(number)")
    case (.double(let number), .decimal): return .decimal("\(number)")
    case (.string, .string), (.boolean, .boolean), (.date, .date), (.decimal, .decimal), (.uuid, .uuid),
      (.uri, .uri),
      (.data, .binaryData), (.double, .double), (.double, .float), (.integer, .integer16),
      (.integer, .integer32),
      (.integer, .integer64):
      return found
    default: return nil
    }
  }

  /// Returns the value as a literal of its own type.
  func literal(_ value: PlistValue?) -> SchemaLiteral? {
    switch _archive.resolve(value) {
    case .boolean(let flag): return .boolean(flag)
    case .integer(let number): return .integer(number)
    case .real(let number): return .double(number)
    case .date(let seconds): return .date(seconds)
    case .data(let bytes): return .data(bytes)
    case .string(let text): return .string(text)
    default: break
    }
    guard let object = _archive.object(value) else { return nil }
    switch object.className {
    case "NSString", "NSMutableString": return _archive.string(value).map { .string($0) }
    case "NSDate":
      if case .real(let seconds)? = object.fields["NS.time"] { return .date(seconds) }
      return nil
    case "NSUUID":
      guard case .data(let bytes)? = _archive.resolve(object.fields["NS.uuidbytes"]), bytes.count == 16 else {
        return nil
      }
      return .uuid(Self._uuid(bytes))
    case "NSURL": return _archive.string(object.fields["NS.relative"]).map { .uri($0) }
    case "NSData", "NSMutableData":
      if case .data(let bytes)? = _archive.resolve(object.fields["NS.data"]) { return .data(bytes) }
      return nil
    case "NSDecimalNumber", "NSDecimalNumberPlaceholder": return _decimal(object)
    default: return nil
    }
  }

  private static func _uuid(_ bytes: [UInt8]) -> String {
    let digits = bytes.map { String(format: "%02X", $0) }.joined()
    var text = ""
    for (position, digit) in digits.enumerated() {
      if [8, 12, 16, 20].contains(position) { text += "-" }
      text.append(digit)
    }
    return text
  }

  /// Decodes a decimal number as Foundation archives it: up to eight 16-bit digits and an exponent of ten.
  private func _decimal(_ object: KeyedArchive.Object) -> SchemaLiteral? {
    guard case .data(let mantissa)? = _archive.resolve(object.fields["NS.mantissa"]),
      let exponent = _archive.integer(object.fields["NS.exponent"]), (-128...127).contains(exponent),
      let length = _archive.integer(object.fields["NS.length"]), (0...8).contains(length),
      mantissa.count >= length * 2
    else { return nil }
    // The byte order field is 1 for little-endian.
    let isBig = _archive.integer(object.fields["NS.mantissa.bo"]) == 2
    var value = Decimal(0)
    for digit in (0..<length).reversed() {
      let (first, second) = (Int(mantissa[digit * 2]), Int(mantissa[digit * 2 + 1]))
      value = value * 65536 + Decimal(isBig ? first << 8 | second : second << 8 | first)
    }
    if exponent != 0, value != 0 {
      value = Decimal(sign: .plus, exponent: exponent, significand: value)
    }
    if _archive.flag(object.fields["NS.negative"]) { value = -value }
    return .decimal(value.description)
  }
}
