import CoreDataSwiftLexer

/// A cursor over the tokens of a piece of source.
///
/// The source is the client's, possibly while it is being typed: steps stop at the end, and never fail.
struct TokenCursor {
  let piece: SyntaxPiece
  var index = 0

  init(_ piece: SyntaxPiece, at index: Int = 0) {
    self.piece = piece
    self.index = index
  }

  var current: SourceToken? { peek(0) }
  var previous: SourceToken? { peek(-1) }

  func peek(_ ahead: Int) -> SourceToken? {
    let tokens = piece.tokens
    let target = index + ahead
    return tokens.indices.contains(target) ? tokens[target] : nil
  }

  func isSign(_ sign: String, ahead: Int = 0) -> Bool { peek(ahead)?.isPunctuation(sign) ?? false }

  /// Whether the current token is the first of its line.
  var isAtLineStart: Bool {
    guard let previous, let current else { return true }
    return piece.breaksLine(between: previous, and: current)
  }

  /// Whether the current token follows the previous one without whitespace.
  var isAttached: Bool {
    guard let previous, let current else { return false }
    return piece.touch(previous, current)
  }

  /// Steps over a sign, if the current token is one.
  mutating func consume(_ sign: String) -> Bool {
    guard isSign(sign) else { return false }
    index += 1
    return true
  }

  /// Steps over one token, or over a bracketed group with all that is in it.
  mutating func skip() {
    index = piece.tokens.index(afterGroupAt: index)
  }

  /// Maximum number of tokens between angle brackets. Without it, the time would be quadratic in the length
  /// of the source.
  private static let _genericArgumentsLimit = 256

  /// Skips `<…>` if it can be a list of types; otherwise the sign is an operator, and nothing is skipped.
  mutating func skipGenericArguments() -> Range<Int>? {
    guard isSign("<"), let open = current else { return nil }
    var probe = self
    probe.index += 1
    var depth = 1
    while let token = probe.current, probe.index - index < Self._genericArgumentsLimit {
      switch (token.kind, token.text) {
      case (.punctuation, "<"): depth += 1
      case (.punctuation, ">"): depth -= 1
      case (.punctuation, "("), (.punctuation, "["):
        probe.skip()
        continue
      case (.punctuation, "."), (.punctuation, ","), (.punctuation, "?"), (.punctuation, "!"),
        (.punctuation, "&"),
        (.punctuation, "->"), (.punctuation, ":"), (.punctuation, "@"), (.identifier, _),
        (.quotedIdentifier, _),
        (.number, _):
        break
      default: return nil
      }
      probe.index += 1
      if depth == 0 {
        self = probe
        return open.range.upperBound..<token.range.lowerBound
      }
    }
    return nil
  }

  /// Whether a declaration begins at the current token.
  var isAtDeclaration: Bool {
    guard let token = current else { return false }
    if token.isPunctuation("@") { return true }
    guard token.kind == .identifier else { return false }
    if Keywords.declarations.contains(token.text) { return true }
    guard Keywords.modifiers.contains(token.text), let next = peek(1) else { return false }
    return next.kind == .identifier || next.isPunctuation("@")
      || (next.isPunctuation("(") && peek(2)?.kind == .identifier && isSign(")", ahead: 3))
  }

  /// Whether the current brace opens accessors, not a closure.
  var isAtAccessors: Bool {
    guard isSign("{") else { return false }
    var probe = self
    probe.index += 1
    while probe.isSign("@") {
      probe.index += 2
      if probe.isSign("("), probe.isAttached { probe.skip() }
    }
    guard let word = probe.current, word.kind == .identifier, Keywords.accessors.contains(word.text),
      let next = probe.peek(1)
    else { return false }
    return next.isPunctuation("{") || next.isPunctuation("(") || next.isPunctuation("}")
      || (next.kind == .identifier
        && (Keywords.accessors.contains(next.text) || next.text == "async" || next.text == "throws"))
  }

  /// Skips to the end of the expression or type that began before the current token, and returns the offset
  /// after its last byte.
  ///
  /// - Parameter ends: Whether it ends before the current token, in addition to the tokens that end every
  ///   expression.
  mutating func skipTerm(from start: Int, until ends: (TokenCursor) -> Bool) -> Range<Int>? {
    let first = index
    while let token = current {
      if token.isPunctuation("}") || token.isPunctuation(")") || token.isPunctuation("]")
        || token.isPunctuation(";")
      {
        break
      }
      if token.kind == .directive,
        isAtLineStart || ["#if", "#elseif", "#else", "#endif"].contains(token.text)
      {
        break
      }
      if index > first, isAtLineStart, isAtDeclaration || !_continues { break }
      if ends(self) { break }
      if token.isPunctuation("<"), isAttached, skipGenericArguments() != nil { continue }
      skip()
    }
    guard index > first, let last = previous else { return nil }
    return start..<last.range.upperBound
  }

  /// Whether the expression before a line break continues after it.
  private var _continues: Bool {
    guard let token = current, let previous else { return false }
    if token.kind == .punctuation { return true }
    if ["as", "is", "else"].contains(token.text) { return true }
    guard previous.kind == .punctuation else { return false }
    return !["!", "?", ">", ")", "]", "}"].contains(previous.text) || _standsAlone(previous)
  }

  /// Whether a space precedes a sign, as it does an operator between two operands.
  private func _standsAlone(_ sign: SourceToken) -> Bool {
    guard let before = peek(-2) else { return false }
    return !piece.touch(before, sign) && ![")", "]", "}"].contains(sign.text)
  }
}
