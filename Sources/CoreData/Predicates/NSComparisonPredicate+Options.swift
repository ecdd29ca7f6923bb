import CoreDataPredicateLanguage
import Foundation

extension NSComparisonPredicate {
  /// How two values are compared.
  public enum Operator: UInt, Sendable {
    /// `<`
    case lessThan = 0
    /// `<=`
    case lessThanOrEqualTo = 1
    /// `>`
    case greaterThan = 2
    /// `>=`
    case greaterThanOrEqualTo = 3
    /// `==`
    case equalTo = 4
    /// `!=`
    case notEqualTo = 5
    /// By a regular expression that the whole string must fit.
    case matches = 6
    /// By a pattern with `*` and `?` that the whole string must fit.
    case like = 7
    /// `BEGINSWITH`
    case beginsWith = 8
    /// `ENDSWITH`
    case endsWith = 9
    /// The left value is an element, or a part, of the right one.
    case `in` = 10
    /// A method named by a selector, which Swift on Linux has none of.
    case customSelector = 11
    /// The right value is an element, or a part, of the left one.
    case contains = 99
    /// The left value lies between two bounds, or is one of them.
    case between = 100

    init(_ op: PredicateTree.Comparison.Operator) { self = Self(rawValue: op.rawValue) ?? .equalTo }

    var operatorInTree: PredicateTree.Comparison.Operator { .init(rawValue: rawValue) ?? .equal }
  }

  /// Whether a comparison is of the left value itself or of the elements of it.
  public enum Modifier: UInt, Sendable {
    /// The left side as it is.
    case direct = 0
    /// Every member of the left side.
    case all = 1
    /// At least one member of the left side.
    case any = 2

    init(_ modifier: PredicateTree.Comparison.Modifier) {
      self = Self(rawValue: modifier.rawValue) ?? .direct
    }

    var modifierInTree: PredicateTree.Comparison.Modifier { .init(rawValue: rawValue) ?? .direct }
  }

  /// How strings are compared. Raw value 8 is the format option `[l]`, by the rules of the locale.
  public struct Options: OptionSet, Sendable {
    public let rawValue: UInt

    public init(rawValue: UInt) { self.rawValue = rawValue }

    /// `[c]`.
    public static let caseInsensitive = Options(rawValue: 1)
    /// `[d]`.
    public static let diacriticInsensitive = Options(rawValue: 2)
    /// `[n]`: byte by byte, whatever the other options say.
    public static let normalized = Options(rawValue: 4)

    var optionsInTree: PredicateTree.Comparison.Options { .init(rawValue: rawValue) }
  }
}
