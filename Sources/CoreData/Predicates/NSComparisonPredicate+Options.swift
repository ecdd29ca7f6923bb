import CoreDataPredicateLanguage
import Foundation

extension NSComparisonPredicate {
  /// The comparison of two values.
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
    /// Matches the whole string against a regular expression.
    case matches = 6
    /// Matches the whole string against a pattern with `*` and `?`.
    case like = 7
    /// `BEGINSWITH`
    case beginsWith = 8
    /// `ENDSWITH`
    case endsWith = 9
    /// The left value is an element or substring of the right one.
    case `in` = 10
    /// A method named by a selector.
    case customSelector = 11
    /// The right value is an element or substring of the left one.
    case contains = 99
    /// The left value is within two bounds, inclusive.
    case between = 100

    init(_ op: PredicateTree.Comparison.Operator) { self = Self(rawValue: op.rawValue) ?? .equalTo }

    var operatorInTree: PredicateTree.Comparison.Operator { .init(rawValue: rawValue) ?? .equal }
  }

  /// Whether the left value itself or its elements are compared.
  public enum Modifier: UInt, Sendable {
    /// The left side itself.
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

  /// String comparison options. Raw value 8 is the format option `[l]`, locale-aware comparison.
  public struct Options: OptionSet, Sendable {
    public let rawValue: UInt

    public init(rawValue: UInt) { self.rawValue = rawValue }

    /// `[c]`.
    public static let caseInsensitive = Options(rawValue: 1)
    /// `[d]`.
    public static let diacriticInsensitive = Options(rawValue: 2)
    /// `[n]`: byte by byte, regardless of other options.
    public static let normalized = Options(rawValue: 4)

    var optionsInTree: PredicateTree.Comparison.Options { .init(rawValue: rawValue) }
  }
}
