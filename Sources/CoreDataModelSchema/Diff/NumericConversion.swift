/// A conversion between numeric types that a lightweight migration performs.
package struct NumericConversion: Sendable, Hashable {
  /// The current type of the numbers.
  package let source: AttributeType
  /// The new type of the numbers.
  package let target: AttributeType

  /// The conversion between two types; nil if they are the same or if one of them is not numeric.
  package init?(from source: AttributeType, to target: AttributeType) {
    guard source != target, source.isNumeric, target.isNumeric else { return nil }
    self.source = source
    self.target = target
  }

  /// The possible loss, in words; nil if the conversion preserves every number of the source type.
  package var loss: String? {
    switch target.form {
    case .boolean: return "0 becomes false, every other number true"
    case .integer16, .integer32, .integer64: return _integerLoss
    case .double:
      return _digits(integers: "9007199254740992", isExact: source.integerBits ?? 0 <= 32, kept: 17)
    case .float: return _digits(integers: "16777216", isExact: source.integerBits ?? 0 <= 16, kept: 7)
    default: return nil
    }
  }

  private var _integerLoss: String? {
    guard let bits = target.integerBits, let range = target.integerRange else { return nil }
    let outside = "numbers outside of \(range.lowerBound) to \(range.upperBound)"
    if let width = source.integerBits {
      return width <= bits ? nil : "\(outside) keep their low \(bits) bits only"
    }
    return "fractions are cut off, and \(outside) "
      + (bits == 64 ? "become the nearer end of that range" : "keep their low \(bits) bits only")
  }

  private func _digits(integers limit: String, isExact: Bool, kept: Int) -> String? {
    if source.integerBits != nil {
      return isExact ? nil : "whole numbers beyond \(limit) are rounded"
    }
    return source.form == .float ? nil : "\(kept) digits are kept"
  }
}

extension AttributeType {
  /// Whether values of the type are numbers, booleans among them.
  package var isNumeric: Bool { integerBits != nil || form == .decimal || form == .double || form == .float }

  /// Bits of a whole number of the type, 1 for booleans; nil for all other types.
  package var integerBits: Int? {
    switch form {
    case .boolean: 1
    case .integer16: 16
    case .integer32: 32
    case .integer64: 64
    default: nil
    }
  }

  /// Range of an integer type; nil for all other types.
  package var integerRange: ClosedRange<Int64>? {
    switch form {
    case .integer16: Int64(Int16.min)...Int64(Int16.max)
    case .integer32: Int64(Int32.min)...Int64(Int32.max)
    case .integer64: Int64.min...Int64.max
    default: nil
    }
  }
}
