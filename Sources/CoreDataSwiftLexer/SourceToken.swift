/// A piece of Swift source that is significant to the scanner.
package struct SourceToken: Sendable, Hashable {
  package enum Kind: Sendable, Hashable {
    case identifier
    /// An identifier in backticks; `text` is without them. Never a keyword.
    case quotedIdentifier
    case number
    case string
    /// `#if`, `#selector` and similar, with the hash sign.
    case directive
    /// Brackets, operators and signs, one character each, but `->` as one.
    case punctuation
  }

  package let kind: Kind
  package let text: String
  /// Offsets of the token's bytes in the source.
  package let range: Range<Int>
  package let line: Int
  package let column: Int
  /// For a string: offsets of its interpolations, from each backslash to the closing parenthesis.
  package var interpolations: [Range<Int>] = []

  package func isKeyword(_ word: String) -> Bool { kind == .identifier && text == word }
  package func isPunctuation(_ sign: String) -> Bool { kind == .punctuation && text == sign }
  package var isName: Bool { kind == .identifier || kind == .quotedIdentifier }
}

extension Collection<SourceToken> where Index == Int {
  /// The place after the token at an index, or after the whole bracketed group that it opens.
  package func index(afterGroupAt start: Int) -> Int {
    var index = start
    var depth = 0
    repeat {
      guard index < endIndex else { return index }
      let token = self[index]
      index += 1
      guard token.kind == .punctuation else { continue }
      switch token.text {
      case "(", "[", "{": depth += 1
      case ")", "]", "}": depth -= 1
      default: break
      }
    } while depth > 0
    return index
  }
}
