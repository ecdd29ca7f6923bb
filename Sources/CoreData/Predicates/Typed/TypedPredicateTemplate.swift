import CoreDataPredicateLanguage
import Foundation

/// A translated predicate with placeholders for its captured values: for later predicates of the same shape
/// only the values are read.
///
/// Immutable; any thread.
package final class TypedPredicateTemplate: Sendable {
  /// A captured value of a type that stores support directly.
  package enum Capture: Sendable {
    case text, whole, number, date, uuid

    /// Returns the capture for a type; nil for a type whose values need translation.
    package init?(_ type: Any.Type) {
      switch ObjectIdentifier(type) {
      case ObjectIdentifier(String.self): self = .text
      case ObjectIdentifier(Int.self): self = .whole
      case ObjectIdentifier(Double.self): self = .number
      case ObjectIdentifier(Date.self): self = .date
      case ObjectIdentifier(UUID.self): self = .uuid
      default: return nil
      }
    }

    /// Writes the marker value of a numbered capture.
    fileprivate func _mark(_ place: UnsafeMutableRawPointer, _ number: Int) {
      switch self {
      case .text: place.assumingMemoryBound(to: String.self).pointee = Self._text(number)
      case .whole: place.assumingMemoryBound(to: Int.self).pointee = Self._whole(number)
      case .number: place.assumingMemoryBound(to: Double.self).pointee = Self._number(number)
      case .date: place.assumingMemoryBound(to: Date.self).pointee = Self._date(number)
      case .uuid: place.assumingMemoryBound(to: UUID.self).pointee = Self._uuid(number)
      }
    }

    /// Returns the translation of the marker.
    fileprivate func _mark(_ number: Int) -> PredicateValue {
      switch self {
      case .text: PredicateValue(any: Self._text(number))
      case .whole: PredicateValue(any: Self._whole(number))
      case .number: PredicateValue(any: Self._number(number))
      case .date: PredicateValue(any: Self._date(number))
      case .uuid: PredicateValue(any: Self._uuid(number))
      }
    }

    /// Reads the value from a predicate of the same shape.
    fileprivate func _read(_ place: UnsafeRawPointer) -> PredicateValue {
      switch self {
      case .text: .string(place.assumingMemoryBound(to: String.self).pointee)
      case .whole: .int(Int64(place.assumingMemoryBound(to: Int.self).pointee))
      case .number: .double(place.assumingMemoryBound(to: Double.self).pointee)
      case .date: .date(place.assumingMemoryBound(to: Date.self).pointee.timeIntervalSinceReferenceDate)
      case .uuid: .uuid(place.assumingMemoryBound(to: UUID.self).pointee)
      }
    }

    // Differs from any text that a program captures, and from the other markers.
    private static func _text(_ number: Int) -> String { "\u{1}capture \(number)\u{1}" }
    private static func _whole(_ number: Int) -> Int { -0x6b1d_33c0_9a41_0000 + number }
    private static func _number(_ number: Int) -> Double { -6.104e250 * Double(number + 1) }
    private static func _date(_ number: Int) -> Date {
      Date(timeIntervalSinceReferenceDate: Self._number(number))
    }
    private static func _uuid(_ number: Int) -> UUID {
      UUID(
        uuid: (
          0x6b, 0x1d, 0x33, 0xc0, 0x9a, 0x41, 0, 0, 0, 0, 0, 0, 0, 0, 0, UInt8(truncatingIfNeeded: number)
        ))
    }
  }

  private let _captures: [(offset: Int, kind: Capture)]
  private let _tree: PredicateTree
  /// The equivalent format, if the predicate compares a key with the only capture: plans recognize such
  /// comparisons by their format.
  private let _format: PredicateTemplate?

  /// Translates an expression whose captures contain markers; nil if a captured value has no location of its own
  /// in the result.
  ///
  /// - Parameters:
  ///   - expression: The expression of a predicate.
  ///   - variable: The predicate's variable.
  ///   - captures: Locations of captured values in the expression, at most 200.
  ///   - vocabulary: The vocabulary of the objects.
  /// - Throws: ``PredicateTranslationError``.
  package init?<Expression: PredicateExpression>(
    of expression: Expression, _ variable: PredicateExpressions.VariableID,
    _ captures: [(offset: Int, kind: Capture)],
    in vocabulary: any PredicateVocabulary
  ) throws {
    _captures = captures
    var translator = PredicateTranslator()
    translator.vocabulary = vocabulary
    translator.variables[variable] = .evaluatedObject
    let tree = try withUnsafeTemporaryAllocation(of: Expression.self, capacity: 1) { memory in
      memory.baseAddress!.initialize(to: expression)
      defer { memory.baseAddress!.deinitialize(count: 1) }
      let place = UnsafeMutableRawPointer(memory.baseAddress!)
      for (number, capture) in captures.enumerated() { capture.kind._mark(place + capture.offset, number) }
      return try translator.part(memory[0]).predicate
    }
    let marks = Dictionary(uniqueKeysWithValues: captures.enumerated().map { ($1.kind._mark($0), $0) })
    var seen: Set<Int> = []
    func opened(_ value: PredicateValue) -> ExpressionTree? {
      if let number = marks[value] {
        seen.insert(number)
        return .variable(Self._name(number))
      }
      guard case .collection(let elements) = value, elements.contains(where: { marks[$0] != nil }) else {
        return nil
      }
      return .aggregate(elements.map { opened($0) ?? .constant($0) })
    }
    let open = tree.rewritten { (expression: ExpressionTree) throws(Never) -> ExpressionTree? in
      guard case .constant(let value) = expression else { return nil }
      return opened(value)
    }
    guard seen.count == captures.count else { return nil }
    _tree = open ?? tree
    if captures.count == 1, case .comparison(let comparison) = _tree,
      comparison.right == .variable(Self._name(0)),
      case .keyPath(let path) = comparison.left
    {
      _format = Self._format(path, comparison)
    } else {
      _format = nil
    }
  }

  private static func _format(_ path: [String], _ comparison: PredicateTree.Comparison) -> PredicateTemplate?
  {
    let symbols: [PredicateTree.Comparison.Operator: String] = [
      .equal: "==", .notEqual: "!=", .lessThan: "<", .lessThanOrEqual: "<=", .greaterThan: ">",
      .greaterThanOrEqual: ">=",
    ]
    guard comparison.modifier == .direct, comparison.options.isEmpty, let symbol = symbols[comparison.op],
      let format = try? PredicateTemplate.cached("\(path.joined(separator: ".")) \(symbol) %@"),
      let key = format.keyComparison, key.path == path, key.op == comparison.op, key.isPlain
    else { return nil }
    return format
  }

  private static func _name(_ number: Int) -> String { "capture \(number)" }

  /// Returns the predicate with the values of an expression of the same shape at an address.
  package func predicate(reading address: UnsafeRawPointer) -> NSPredicate {
    if let _format,
      let comparison = try? _format.comparison(
        count: 1,
        argument: { _ in FormatArgument.value(_captures[0].kind._read(address + _captures[0].offset)) })
    {
      return NSComparisonPredicate(comparison)
    }
    if _captures.isEmpty { return _tree.predicate }
    var values: [String: ExpressionTree] = [:]
    for (number, capture) in _captures.enumerated() {
      values[Self._name(number)] = .constant(capture.kind._read(address + capture.offset))
    }
    return _tree.substituting(values).predicate
  }
}
