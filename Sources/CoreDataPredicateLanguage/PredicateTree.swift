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

    package var left: ExpressionTree { didSet { _renewMemo() } }
    package var right: ExpressionTree { didSet { _renewMemo() } }
    package var op: Operator { didSet { _renewMemo() } }
    package var modifier: Modifier
    package var options: Options
    /// Selector of a `.customSelector` comparison.
    package var selector: String?
    /// The index of a constant collection that IN or CONTAINS searches; copies share it.
    private(set) var memo: ElementIndexMemo?

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
      _renewMemo()
    }

    private mutating func _renewMemo() {
      memo = op == .in || op == .contains ? ElementIndexMemo() : nil
    }

    package static func == (left: Comparison, right: Comparison) -> Bool {
      left.op == right.op && left.modifier == right.modifier && left.options == right.options
        && left.selector == right.selector && left.left == right.left && left.right == right.right
    }

    package func hash(into hasher: inout Hasher) {
      hasher.combine(left)
      hasher.combine(right)
      hasher.combine(op)
      hasher.combine(modifier)
      hasher.combine(options)
      hasher.combine(selector)
    }
  }
}
