import Foundation

/// Reading a value as a number or as text.
extension PredicateValue {
  package var isNull: Bool {
    if case .null = self { true } else { false }
  }

  /// Whether it is a boolean, an integer, a floating-point or a decimal number.
  package var isNumber: Bool {
    switch self {
    case .bool, .int, .double, .decimal: true
    default: false
    }
  }

  /// The name of this kind of value in messages.
  package var kindName: String {
    switch self {
    case .null: "nil"
    case .bool: "a boolean"
    case .int, .double: "a number"
    case .decimal: "a decimal number"
    case .string: "a string"
    case .date: "a date"
    case .data: "data"
    case .uuid: "a UUID"
    case .url: "a URL"
    case .object: "an object"
    case .collection: "a collection"
    case .dictionary: "a dictionary"
    }
  }

  /// The number as floating point; nil if it is not a number.
  package var double: Double? {
    switch self {
    case .bool(let flag): flag ? 1 : 0
    case .int(let number): Double(number)
    case .double(let number): number
    case .decimal(let number): number.nearestDouble
    default: nil
    }
  }

  /// The number without its fraction; nil if it is not a number or does not fit.
  package var integer: Int64? {
    switch self {
    case .bool(let flag): return flag ? 1 : 0
    case .int(let number): return number
    case .double(let number): return Int64(exactly: number.rounded(.towardZero))
    case .decimal(let number):
      // Exact for whole numbers of any size, unlike a conversion through floating point.
      if let whole = number.exactInteger { return whole }
      return Int64(exactly: number.nearestDouble.rounded(.towardZero))
    default: return nil
    }
  }

  /// The number as a decimal; nil if it is not a number or not finite.
  package var decimal: Decimal? {
    switch self {
    case .bool(let flag): flag ? 1 : 0
    case .int(let number): Decimal(number)
    case .double(let number): number.isFinite ? Decimal(number) : nil
    case .decimal(let number): number
    default: nil
    }
  }

  /// An integer if the decimal is one and fits, else the decimal.
  init(integerOr decimal: Decimal) {
    self = decimal.exactInteger.map { .int($0) } ?? .decimal(decimal)
  }

  /// Text of the value without quotes, as converted to a string.
  package var plainText: String {
    switch self {
    case .string(let text): text
    case .bool(let flag): flag ? "1" : "0"
    case .int(let number): String(number)
    case .double(let number):
      number == number.rounded() && abs(number) < 1e15 ? String(Int64(number)) : String(number)
    case .decimal(let number): number.description
    case .uuid(let uuid): uuid.uuidString
    case .url(let url): url.absoluteString
    case .date(let seconds): Date(timeIntervalSinceReferenceDate: seconds).description
    default: PredicatePrinter.text(of: self)
    }
  }

  /// The text of a number; any other value unchanged.
  var textIfNumber: PredicateValue { isNumber ? .string(plainText) : self }

  /// Elements of a collection, or values of a dictionary in the order of its keys; nil for anything else.
  package var elements: [PredicateValue]? {
    switch self {
    case .collection(let elements): elements
    case .dictionary(let entries): entries.sorted { $0.key < $1.key }.map(\.value)
    default: nil
    }
  }
}

extension Decimal {
  var nearestDouble: Double { NSDecimalNumber(decimal: self).doubleValue }

  /// The same number as an integer; nil if it has a fraction or does not fit.
  var exactInteger: Int64? {
    guard self >= Decimal(Int64.min), self <= Decimal(Int64.max) else { return nil }
    var source = self
    var whole = Decimal()
    NSDecimalRound(&whole, &source, 0, .down)
    guard whole == self else { return nil }
    return Int64(whole.description)
  }
}
