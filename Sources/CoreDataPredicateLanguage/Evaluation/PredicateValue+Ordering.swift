import Foundation

extension PredicateValue {
  /// Whether it counts as true: a number that is not zero.
  package var isTrue: Bool {
    switch self {
    case .bool(let flag): flag
    case .int(let number): number != 0
    case .double(let number): number != 0
    case .decimal(let number): number != 0
    default: false
    }
  }

  /// Order of two values that are not null; nil if one of them is NaN.
  ///
  /// Numbers of all kinds are ordered by value, strings by the options.
  /// - Throws: `PredicateEvaluationError.incomparable` for two kinds without an order between them.
  package func ordered(
    against other: PredicateValue, options: PredicateTree.Comparison.Options
  ) throws -> ComparisonResult? {
    switch (self, other) {
    case (.string(let left), .string(let right)):
      return StringComparison.compare(left, right, options: options)
    case (.int(let left), .int(let right)): return Self._order(left, right)
    case (.date(let left), .date(let right)): return Self._order(left, right)
    case (.uuid(let left), .uuid(let right)): return Self._order(left.bytes, right.bytes)
    case (.data(let left), .data(let right)): return Self._order(Array(left), Array(right))
    case (.url(let left), .url(let right)):
      return StringComparison.compare(left.absoluteString, right.absoluteString, options: options)
    default:
      guard isNumber, other.isNumber else {
        throw PredicateEvaluationError.incomparable(kindName.capitalizedFirst, other.kindName)
      }
      return _numericOrder(other)
    }
  }

  private func _numericOrder(_ other: PredicateValue) -> ComparisonResult? {
    switch (self, other) {
    case (.double(let left), .double(let right)):
      return left.isNaN || right.isNaN ? nil : Self._order(left, right)
    case (.double(let left), _):
      if !left.isFinite { return left.isNaN ? nil : left > 0 ? .orderedDescending : .orderedAscending }
    case (_, .double(let right)):
      if !right.isFinite { return right.isNaN ? nil : right > 0 ? .orderedAscending : .orderedDescending }
    default: break
    }
    // Small integers are exact as floating-point numbers; large ones and decimals are compared as decimals.
    if let left = _smallDouble, let right = other._smallDouble { return Self._order(left, right) }
    if let left = _exactDecimal, let right = other._exactDecimal { return Self._order(left, right) }
    return Self._order(double ?? 0, other.double ?? 0)
  }

  private var _smallDouble: Double? {
    switch self {
    case .bool(let flag): flag ? 1 : 0
    case .int(let number): number.magnitude <= 1 << 53 ? Double(number) : nil
    case .double(let number): number
    default: nil
    }
  }

  private var _exactDecimal: Decimal? {
    // A decimal cannot represent larger floating-point numbers exactly.
    if case .double(let number) = self, number.magnitude > 1e30 { return nil }
    return decimal
  }

  private static func _order<Number: Comparable>(_ left: Number, _ right: Number) -> ComparisonResult {
    left < right ? .orderedAscending : left == right ? .orderedSame : .orderedDescending
  }

  private static func _order(_ left: [UInt8], _ right: [UInt8]) -> ComparisonResult {
    if left == right { return .orderedSame }
    return left.lexicographicallyPrecedes(right) ? .orderedAscending : .orderedDescending
  }

  /// Order for a sort: null first, strings by `ordering`.
  /// - Throws: `PredicateEvaluationError.incomparable` for two kinds without an order between them.
  package func sorted(
    against other: PredicateValue, _ ordering: StringComparison.Ordering = .binary
  ) throws -> ComparisonResult {
    switch (self, other) {
    case (.null, .null): .orderedSame
    case (.null, _): .orderedAscending
    case (_, .null): .orderedDescending
    case (.string(let left), .string(let right)): StringComparison.compare(left, right, ordering)
    default: try ordered(against: other, options: []) ?? .orderedSame
    }
  }
}

extension UUID {
  /// The sixteen bytes.
  var bytes: [UInt8] { withUnsafeBytes(of: uuid) { Array($0) } }
}

extension String {
  var capitalizedFirst: String { prefix(1).uppercased() + dropFirst() }
}
