import CoreDataPredicateLanguage
import CoreDataToolKit
import Foundation

/// A text or a regular expression that texts are searched for.
package struct TextSought {
  private let _text: String
  private let _options: StringComparison.Options
  private let _expression: NSRegularExpression?
  private let _compare: String.CompareOptions

  /// - Throws: `ToolFailure` for an invalid regular expression.
  package init(_ text: String, isExpression: Bool, matchesCase: Bool, matchesMarks: Bool) throws(ToolFailure)
  {
    var native = text
    native.makeContiguousUTF8()
    _text = native
    var options: StringComparison.Options = []
    var compare: String.CompareOptions = []
    if !matchesCase {
      options.insert(.caseInsensitive)
      compare.insert(.caseInsensitive)
    }
    if !matchesMarks {
      options.insert(.diacriticInsensitive)
      compare.insert(.diacriticInsensitive)
    }
    (_options, _compare) = (options, compare)
    guard isExpression else {
      _expression = nil
      return
    }
    do {
      _expression = try NSRegularExpression(pattern: text, options: matchesCase ? [] : .caseInsensitive)
    } catch {
      throw ToolFailure(
        .usage, "'\(text)' is no regular expression: parentheses, brackets or a repetition do not fit.")
    }
  }

  /// Whether a number or a date can hold it.
  var mayBeNumber: Bool { _expression != nil || _text.contains { $0.isNumber } }

  /// Whether a text contains it.
  func isIn(_ text: String) -> Bool {
    guard let _expression else { return StringComparison.contains(text, _text, options: _options) }
    return _expression.firstMatch(in: text, range: NSRange(text.startIndex..., in: text)) != nil
  }

  /// Where it is first in a text that contains it.
  func range(in text: String) -> Range<String.Index>? {
    guard let _expression else { return text.range(of: _text, options: _compare) }
    return _expression.firstMatch(in: text, range: NSRange(text.startIndex..., in: text)).flatMap {
      Range($0.range, in: text)
    }
  }

  /// The text around the first occurrence, on one line.
  ///
  /// - Parameter room: Characters before and after it.
  package func excerpt(_ text: String, room: Int) -> (before: String, match: String, after: String) {
    guard let range = range(in: text) else { return (String(text.prefix(room * 2)), "", "") }
    let begin = text.index(range.lowerBound, offsetBy: -room, limitedBy: text.startIndex) ?? text.startIndex
    let end = text.index(range.upperBound, offsetBy: room, limitedBy: text.endIndex) ?? text.endIndex
    func line(_ part: Substring) -> String { ValueText.onOneLine(String(part)) }
    return (
      (begin > text.startIndex ? "…" : "") + line(text[begin..<range.lowerBound]),
      line(text[range].prefix(200)),
      line(text[range.upperBound..<end]) + (end < text.endIndex ? "…" : "")
    )
  }
}
