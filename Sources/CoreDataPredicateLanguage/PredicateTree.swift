/// A predicate as a value. The public `NSPredicate` classes wrap it.
package indirect enum PredicateTree: Sendable, Hashable {
  /// TRUEPREDICATE, FALSEPREDICATE.
  case constant(Bool)
  case comparison(Comparison)
  case not(PredicateTree)
  /// Chains of the same operator are flat: `a AND b AND c` has three members. Empty: true.
  case and([PredicateTree])
  /// Empty: false.
  case or([PredicateTree])
  /// A Swift closure; never translatable to SQL.
  case block(PredicateObject)

  /// Two expressions with an operator between them.
  package struct Comparison: Sendable, Hashable {
    /// Raw values are those of `NSComparisonPredicate.Operator`.
    package enum Operator: UInt, Sendable, Hashable {
      case lessThan = 0
      case lessThanOrEqual = 1
      case greaterThan = 2
      case greaterThanOrEqual = 3
      case equal = 4
      case notEqual = 5
      case matches = 6
      case like = 7
      case beginsWith = 8
      case endsWith = 9
      case `in` = 10
      case customSelector = 11
      case contains = 99
      case between = 100
    }

    /// Raw values are those of `NSComparisonPredicate.Modifier`. NONE is NOT ANY.
    package enum Modifier: UInt, Sendable, Hashable {
      case direct = 0
      case all = 1
      case any = 2
    }

    /// Raw values are those of `NSComparisonPredicate.Options`; `localeSensitive` is the [l] option.
    package struct Options: OptionSet, Sendable, Hashable {
      package let rawValue: UInt
      package init(rawValue: UInt) { self.rawValue = rawValue }
      package static let caseInsensitive = Options(rawValue: 1)
      package static let diacriticInsensitive = Options(rawValue: 2)
      package static let normalized = Options(rawValue: 4)
      package static let localeSensitive = Options(rawValue: 8)
    }

    package var left: ExpressionTree
    package var right: ExpressionTree
    package var op: Operator
    package var modifier: Modifier
    package var options: Options
    /// Selector of a `.customSelector` comparison.
    package var selector: String?

    package init(
      _ left: ExpressionTree, _ op: Operator, _ right: ExpressionTree, modifier: Modifier = .direct,
      options: Options = [], selector: String? = nil
    ) {
      self.left = left
      self.op = op
      self.right = right
      self.modifier = modifier
      self.options = options
      self.selector = selector
    }
  }
}
