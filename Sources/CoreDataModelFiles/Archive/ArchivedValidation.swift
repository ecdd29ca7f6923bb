import CoreDataModelSchema
import Foundation

/// The validation predicates and messages of an attribute in archived form, limits first.
struct ArchivedValidation {
  private(set) var predicates: [KeyedObject] = []
  /// Messages, or Cocoa error codes for limits.
  private(set) var warnings: [KeyedValue] = []

  var isEmpty: Bool { predicates.isEmpty }

  private enum Code {
    static let numberTooLarge: Int64 = 1610
    static let numberTooSmall: Int64 = 1620
    static let dateTooLate: Int64 = 1630
    static let dateTooSoon: Int64 = 1640
    static let stringTooLong: Int64 = 1660
    static let stringTooShort: Int64 = 1670
    static let stringPatternMatching: Int64 = 1680
  }

  init(_ attribute: AttributeSchema, _ forms: PredicateArchive) {
    let measured: (path: String?, least: Int64, most: Int64)
    switch attribute.type.form {
    case .string: measured = ("length", Code.stringTooShort, Code.stringTooLong)
    case .date: measured = ("timeIntervalSinceReferenceDate", Code.dateTooSoon, Code.dateTooLate)
    default: measured = (nil, Code.numberTooSmall, Code.numberTooLarge)
    }
    let limits = attribute.limits
    if let least = limits.minimum {
      _add(measured.path, .greaterThanOrEqual, least._archivedLimit(), .boxed(.integer(measured.least)))
    }
    if let most = limits.maximum {
      _add(measured.path, .lessThanOrEqual, most._archivedLimit(), .boxed(.integer(measured.most)))
    }
    if attribute.type.form == .string, let pattern = limits.regularExpression {
      _add(nil, .matches, .text(pattern), .boxed(.integer(Code.stringPatternMatching)))
    }
    for validation in attribute.validations {
      guard let predicate = forms.predicate(validation.predicate) else { continue }
      predicates.append(predicate)
      warnings.append(.text(validation.warning))
    }
  }

  private mutating func _add(
    _ path: String?, _ comparison: ArchivedForms.Comparison, _ bound: KeyedValue, _ warning: KeyedValue
  ) {
    let left = path.map { ArchivedForms.keyPath([$0]) } ?? ArchivedForms.evaluatedObject()
    predicates.append(ArchivedForms.comparison(left, comparison, ArchivedForms.constant(bound)))
    warnings.append(warning)
  }
}

extension SchemaLiteral {
  /// Archives the literal as a default value.
  func archived() -> KeyedValue {
    switch self {
    case .integer(let number): .boxed(.integer(number))
    case .double(let number): .boxed(.real(number))
    case .boolean(let flag): .boxed(.boolean(flag))
    case .string(let text): .boxed(.string(text))
    case .data(let bytes): .boxed(.data(bytes))
    case .date(let seconds):
      .object(KeyedObject(["NSDate", "NSObject"], [("NS.time", .plain(.real(seconds)))]))
    case .decimal(let text): _archivedDecimal(text)
    case .uuid(let text): _archivedUUID(text)
    case .uri(let text):
      .object(KeyedObject(["NSURL", "NSObject"], [("NS.base", .null), ("NS.relative", .text(text))]))
    }
  }

  /// Archives the literal as a limit; a date's is in seconds.
  fileprivate func _archivedLimit() -> KeyedValue {
    if case .date(let seconds) = self { return .boxed(.real(seconds)) }
    return archived()
  }

  private func _archivedUUID(_ text: String) -> KeyedValue {
    guard let uuid = UUID(uuidString: text) else { return .null }
    let bytes = withUnsafeBytes(of: uuid.uuid) { [UInt8]($0) }
    return .object(KeyedObject(["NSUUID", "NSObject"], [("NS.uuidbytes", .plain(.data(bytes)))]))
  }

  /// Archives up to eight 16-bit digits, lowest first, and an exponent of ten.
  private func _archivedDecimal(_ text: String) -> KeyedValue {
    guard let decimal = Decimal(string: text, locale: nil), decimal.isFinite else { return .null }
    let negative = decimal < 0
    var rest = negative ? -decimal : decimal
    let exponent = rest == 0 ? 0 : rest.exponent
    if rest != 0 { rest = rest.significand }
    var bytes: [UInt8] = []
    var length: Int64 = 0
    let base = Decimal(65536)
    while rest > 0, length < 8 {
      var quotient = rest / base
      var whole = Decimal()
      NSDecimalRound(&whole, &quotient, 0, .down)
      let digit = NSDecimalNumber(decimal: rest - whole * base).uint16Value
      bytes += [UInt8(truncatingIfNeeded: digit), UInt8(truncatingIfNeeded: digit >> 8)]
      rest = whole
      length += 1
    }
    bytes += [UInt8](repeating: 0, count: 16 - bytes.count)
    return .object(
      KeyedObject(
        ["NSDecimalNumber", "NSNumber", "NSValue", "NSObject"],
        [
          ("NS.exponent", .plain(.integer(Int64(exponent)))), ("NS.length", .plain(.integer(length))),
          ("NS.negative", .plain(.boolean(negative))), ("NS.compact", .plain(.boolean(true))),
          ("NS.mantissa.bo", .plain(.integer(1))), ("NS.mantissa", .plain(.data(bytes))),
        ]))
  }
}
