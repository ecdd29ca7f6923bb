import Foundation
import PredicateLanguage

/// How the SQL functions compare texts.
///
/// A value, so that the comparison the predicate evaluator uses can be put in its place.
struct StringSemantics: Sendable {
  typealias Options = PredicateTree.Comparison.Options

  let test: @Sendable (StringOperation, _ text: String, _ pattern: String, Options) throws -> Bool
  /// Below, equal to or above zero.
  let compare: @Sendable (_ left: String, _ right: String, Options) -> Int
  let order: @Sendable (_ left: String, _ right: String, FetchPlan.SortTerm.Comparison) -> Int

  /// What the SQL functions use.
  static let current = StringSemantics.foundation

  /// By Foundation's own comparisons.
  static let foundation = StringSemantics(
    test: { operation, text, pattern, options in
      let comparison = _comparison(options)
      let locale = options.contains(.localeSensitive) ? Locale.current : nil
      switch operation {
      case .equal: return text.compare(pattern, options: comparison, range: nil, locale: locale) == .orderedSame
      case .contains: return text.range(of: pattern, options: comparison, range: nil, locale: locale) != nil
      case .beginsWith:
        return pattern.isEmpty
          || text.range(of: pattern, options: comparison.union(.anchored), range: nil, locale: locale) != nil
      case .endsWith:
        let anchored = comparison.union([.anchored, .backwards])
        return pattern.isEmpty || text.range(of: pattern, options: anchored, range: nil, locale: locale) != nil
      case .like: return try _matches(_folded(text, options), _expression(like: _folded(pattern, options)), options)
      case .matches: return try _matches(_folded(text, options), pattern, options)
      }
    },
    compare: { left, right, options in
      let locale = options.contains(.localeSensitive) ? Locale.current : nil
      return left.compare(right, options: _comparison(options), range: nil, locale: locale).rawValue
    },
    order: { left, right, comparison in
      switch comparison {
      case .binary: left == right ? 0 : left < right ? -1 : 1
      case .caseInsensitive: left.compare(right, options: .caseInsensitive).rawValue
      case .localized: left.compare(right, options: [], range: nil, locale: .current).rawValue
      case .localizedCaseInsensitive:
        left.compare(right, options: .caseInsensitive, range: nil, locale: .current).rawValue
      case .localizedStandard:
        left.compare(right, options: [.caseInsensitive, .numeric, .widthInsensitive], range: nil, locale: .current)
          .rawValue
      }
    })

  private static func _comparison(_ options: Options) -> String.CompareOptions {
    var result: String.CompareOptions = []
    if options.contains(.caseInsensitive) { result.insert(.caseInsensitive) }
    if options.contains(.diacriticInsensitive) { result.insert(.diacriticInsensitive) }
    return result
  }

  private static func _folded(_ text: String, _ options: Options) -> String {
    options.contains(.diacriticInsensitive) ? text.folding(options: .diacriticInsensitive, locale: nil) : text
  }

  /// `*` and `?` as a regular expression; a backslash takes their meaning away.
  private static func _expression(like pattern: String) -> String {
    var result = ""
    var isEscaped = false
    for character in pattern {
      if !isEscaped, character == "\\" {
        isEscaped = true
      } else if !isEscaped, character == "*" {
        result += ".*"
      } else if !isEscaped, character == "?" {
        result += "."
      } else {
        result += NSRegularExpression.escapedPattern(for: String(character))
        isEscaped = false
      }
    }
    return result
  }

  private static func _matches(_ text: String, _ pattern: String, _ options: Options) throws -> Bool {
    var flags: NSRegularExpression.Options = [.dotMatchesLineSeparators]
    if options.contains(.caseInsensitive) { flags.insert(.caseInsensitive) }
    let expression = try NSRegularExpression(pattern: "^(?:\(pattern))$", options: flags)
    let whole = NSRange(text.startIndex..., in: text)
    return expression.firstMatch(in: text, range: whole).map { NSEqualRanges($0.range, whole) } ?? false
  }
}
