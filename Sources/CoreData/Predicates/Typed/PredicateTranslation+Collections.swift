import CoreDataPredicateLanguage
import Foundation

// Expressions on collections, texts and ranges.

extension PredicateExpressions.SequenceContains: TranslatablePart {
  func translated(_ translator: inout PredicateTranslator) throws -> TranslatedPart {
    try translator.comparison(sequence, .contains, element)
  }
}

extension PredicateExpressions.SequenceContainsWhere: TranslatablePart {
  func translated(_ translator: inout PredicateTranslator) throws -> TranslatedPart {
    let found = try translator.members(sequence, variable.key, test)
    return .predicate(.comparison(.init(.keyPathOf(found, ["@count"]), .greaterThan, .constant(.int(0)))))
  }
}

extension PredicateExpressions.SequenceAllSatisfy: TranslatablePart {
  func translated(_ translator: inout PredicateTranslator) throws -> TranslatedPart {
    let found = try translator.members(sequence, variable.key, test, negated: true)
    return .predicate(.comparison(.init(.keyPathOf(found, ["@count"]), .equal, .constant(.int(0)))))
  }
}

extension PredicateExpressions.Filter: TranslatablePart {
  func translated(_ translator: inout PredicateTranslator) throws -> TranslatedPart {
    .expression(try translator.members(sequence, variable.key, filter))
  }
}

extension PredicateExpressions.SequenceStartsWith: TranslatablePart {
  func translated(_ translator: inout PredicateTranslator) throws -> TranslatedPart {
    guard Base.Output.self is any StringProtocol.Type else {
      throw PredicateTranslationError("starts(with:)", "a store can tell it of strings only")
    }
    return try translator.comparison(base, .beginsWith, prefix)
  }
}

extension PredicateExpressions.CollectionContainsCollection: TranslatablePart {
  func translated(_ translator: inout PredicateTranslator) throws -> TranslatedPart {
    guard Base.Output.self is any StringProtocol.Type else {
      throw PredicateTranslationError("contains(_:) of a collection", "a store can tell it of strings only")
    }
    return try translator.comparison(base, .contains, other)
  }
}

// MARK: Ranges

extension PredicateExpressions.RangeExpressionContains: TranslatablePart {
  func translated(_ translator: inout PredicateTranslator) throws -> TranslatedPart {
    let value = try translator.expression(element)
    guard let bounds = try (range as? any RangePart)?.bounds(&translator) else {
      throw PredicateTranslationError(
        PredicateTranslator.name(of: range) + ".contains(_:)", "it is no range whose bounds are known")
    }
    if let lower = bounds.lower, let upper = bounds.upper, bounds.isClosed {
      return .predicate(.comparison(.init(value, .between, .aggregate(of: [lower, upper]))))
    }
    var tests: [PredicateTree] = []
    if let lower = bounds.lower { tests.append(.comparison(.init(value, .greaterThanOrEqual, lower))) }
    if let upper = bounds.upper {
      tests.append(.comparison(.init(value, bounds.isClosed ? .lessThanOrEqual : .lessThan, upper)))
    }
    return .predicate(tests.count == 1 ? tests[0] : .and(tests))
  }
}

/// The bounds of a range; nil where it is unbounded.
struct TranslatedBounds {
  let lower: ExpressionTree?
  let upper: ExpressionTree?
  /// Whether the upper bound is part of the range.
  let isClosed: Bool
}

/// An expression of a range.
private protocol RangePart {
  func bounds(_ translator: inout PredicateTranslator) throws -> TranslatedBounds?
}

extension PredicateExpressions.Range: RangePart {
  func bounds(_ translator: inout PredicateTranslator) throws -> TranslatedBounds? {
    TranslatedBounds(
      lower: try translator.expression(lower), upper: try translator.expression(upper), isClosed: false)
  }
}

extension PredicateExpressions.ClosedRange: RangePart {
  func bounds(_ translator: inout PredicateTranslator) throws -> TranslatedBounds? {
    TranslatedBounds(
      lower: try translator.expression(lower), upper: try translator.expression(upper), isClosed: true)
  }
}

extension PredicateExpressions.Value: RangePart {
  func bounds(_ translator: inout PredicateTranslator) throws -> TranslatedBounds? {
    (value as? any BoundedRange)?.translatedBounds
  }
}

/// A range captured as a value.
private protocol BoundedRange {
  var translatedBounds: TranslatedBounds { get }
}

extension Range: BoundedRange {
  var translatedBounds: TranslatedBounds {
    TranslatedBounds(
      lower: .constant(PredicateValue(any: lowerBound)), upper: .constant(PredicateValue(any: upperBound)),
      isClosed: false)
  }
}

extension ClosedRange: BoundedRange {
  var translatedBounds: TranslatedBounds {
    TranslatedBounds(
      lower: .constant(PredicateValue(any: lowerBound)), upper: .constant(PredicateValue(any: upperBound)),
      isClosed: true)
  }
}

extension PartialRangeFrom: BoundedRange {
  var translatedBounds: TranslatedBounds {
    TranslatedBounds(lower: .constant(PredicateValue(any: lowerBound)), upper: nil, isClosed: false)
  }
}

extension PartialRangeUpTo: BoundedRange {
  var translatedBounds: TranslatedBounds {
    TranslatedBounds(lower: nil, upper: .constant(PredicateValue(any: upperBound)), isClosed: false)
  }
}

extension PartialRangeThrough: BoundedRange {
  var translatedBounds: TranslatedBounds {
    TranslatedBounds(lower: nil, upper: .constant(PredicateValue(any: upperBound)), isClosed: true)
  }
}

// MARK: Patterns

extension PredicateExpressions.StringContainsRegex: TranslatablePart {
  func translated(_ translator: inout PredicateTranslator) throws -> TranslatedPart {
    guard let pattern = (regex as? any PatternPart)?.pattern else {
      throw PredicateTranslationError(
        "contains(_:) of a regular expression", "only literal ones can be translated")
    }
    // MATCHES tests the whole text.
    let whole = ExpressionTree.constant(.string("(?s:.*)(?:\(pattern))(?s:.*)"))
    return .predicate(.comparison(.init(try translator.expression(subject), .matches, whole)))
  }
}

/// An expression of a regular expression.
private protocol PatternPart {
  var pattern: String? { get }
}

extension PredicateExpressions.Value: PatternPart {
  var pattern: String? { (value as? PredicateExpressions.PredicateRegex)?.stringRepresentation }
}

// MARK: Localized texts

extension PredicateExpressions {
  /// `localizedStandardContains(_:)`: locale-aware, ignoring case and diacritics.
  ///
  /// `#Predicate` refers to it by name; Foundation provides it on Apple's platforms only.
  public struct StringLocalizedStandardContains<Root: PredicateExpression, Other: PredicateExpression>:
    PredicateExpression
  where Root.Output: StringProtocol, Other.Output: StringProtocol {
    public typealias Output = Bool

    /// The text to search.
    public let root: Root
    /// The text to find.
    public let other: Other

    /// Creates the expression from its two sides.
    public init(root: Root, other: Other) {
      self.root = root
      self.other = other
    }

    public func evaluate(_ bindings: PredicateBindings) throws -> Bool {
      let (text, part) = (try root.evaluate(bindings), try other.evaluate(bindings))
      return StringComparison.contains(
        String(text), String(part), options: [.caseInsensitive, .diacriticInsensitive, .localeSensitive])
    }
  }

  /// Creates the expression; called by the expansion of `#Predicate`.
  public static func build_localizedStandardContains<Root, Other>(
    _ root: Root, _ other: Other
  ) -> StringLocalizedStandardContains<Root, Other> {
    StringLocalizedStandardContains(root: root, other: other)
  }
}

extension PredicateExpressions.StringLocalizedStandardContains: Sendable
where Root: Sendable, Other: Sendable {}
extension PredicateExpressions.StringLocalizedStandardContains: Codable where Root: Codable, Other: Codable {}
extension PredicateExpressions.StringLocalizedStandardContains: StandardPredicateExpression
where Root: StandardPredicateExpression, Other: StandardPredicateExpression {}

extension PredicateExpressions.StringLocalizedStandardContains: TranslatablePart {
  func translated(_ translator: inout PredicateTranslator) throws -> TranslatedPart {
    try translator.comparison(
      root, .contains, other, [.caseInsensitive, .diacriticInsensitive, .localeSensitive])
  }
}
