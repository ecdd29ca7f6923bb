import CoreDataSwiftLexer

/// Derives facts from the syntax of a type.
///
/// Nothing is derived from names: a program may declare a type with any of them, so only the compiler knows what they
/// stand for.
enum TypeShape {
  /// A reason why no store can keep a type.
  enum Flaw: Equatable {
    case function, tuple, existential, opaque, metatype
  }

  static func flaw(of type: Range<Int>, in piece: SyntaxPiece) -> Flaw? {
    let tokens = piece.tokens.filter { type.contains($0.range.lowerBound) }
    if tokens.contains(where: { $0.isPunctuation("->") }) { return .function }
    var previous: SourceToken?
    for (index, token) in tokens.enumerated() {
      defer { previous = token }
      if token.isPunctuation("("), _hasComma(tokens[(index + 1)...]) { return .tuple }
      if token.isPunctuation("("), index + 1 < tokens.count, tokens[index + 1].isPunctuation(")") {
        return .tuple
      }
      guard token.kind == .identifier else { continue }
      // 'Any' is a keyword, which no type can be named.
      if token.text == "Any" || token.text == "any" && index + 1 < tokens.count && tokens[index + 1].isName {
        return .existential
      }
      if token.text == "some", index + 1 < tokens.count, tokens[index + 1].isName { return .opaque }
      let isMember = previous?.isPunctuation(".") ?? false
      if isMember, token.text == "Type" || token.text == "Protocol" { return .metatype }
    }
    return nil
  }

  /// Whether the parentheses before the tokens contain a comma on their own level.
  private static func _hasComma(_ tokens: ArraySlice<SourceToken>) -> Bool {
    var depth = 0
    for token in tokens where token.kind == .punctuation {
      switch token.text {
      case "(", "[", "<": depth += 1
      case ")" where depth == 0: return false
      case ")", "]", ">": depth -= 1
      case "," where depth == 0: return true
      default: break
      }
    }
    return false
  }

  static func isOptional(_ type: String?) -> Bool {
    guard let type else { return false }
    return type.hasSuffix("?") || type.hasSuffix("!") || type.hasPrefix("Optional<")
      || type.hasPrefix("Swift.Optional<")
  }

  /// The type as a cast can name it.
  static func castable(_ type: String) -> String { type.hasSuffix("!") ? type.dropLast() + "?" : type }

  /// Whether the type is written as an array or a dictionary, or an optional one.
  static func isCollection(_ type: String?) -> Bool { type?.hasPrefix("[") ?? false }
}
