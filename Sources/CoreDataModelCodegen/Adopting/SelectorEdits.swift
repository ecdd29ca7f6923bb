import CoreDataSwiftLexer

/// Replaces the selectors of sort descriptors by their names, which sort descriptors take here: `selector:
/// #selector(NSString.localizedCompare(_:))` becomes `selector: "localizedCompare:"`. The name of a getter,
/// `NSStringFromSelector(#selector(getter: Book.title))`, becomes `"title"`.
enum SelectorEdits {
  private static let _types: Set<String> = ["NSString", "NSNumber", "NSDate"]

  static func edits(_ tokens: [SourceToken]) -> [SourceAdoption.Edit] {
    tokens.indices.compactMap { index in
      (comparison(at: index, in: tokens) ?? getter(at: index, in: tokens)).map { found in
        SourceAdoption.Edit(range: found.range, text: SourceText.literal(found.name))
      }
    }
  }

  /// The comparison method that a `#selector` at a token names, for a parameter `selector`.
  static func comparison(
    at index: Int, in tokens: [SourceToken]
  ) -> (range: Range<Int>, name: String)? {
    guard index > 1, tokens[index].kind == .directive, tokens[index].text == "#selector",
      tokens[index - 1].isPunctuation(":"), tokens[index - 2].isKeyword("selector")
    else { return nil }
    let rest = tokens[(index + 1)...].prefix(12)
    let names = rest.prefix { !$0.isPunctuation(")") }.filter { $0.isName && $0.text != "_" }.map(\.text)
    guard names.count == 2, _types.contains(names[0]), names[1].lowercased().hasSuffix("compare"),
      let end = _end(of: rest)
    else { return nil }
    return (tokens[index].range.lowerBound..<end, names[1] + ":")
  }

  /// The property whose name `NSStringFromSelector` takes from a `#selector` at a token, with the whole call.
  static func getter(at index: Int, in tokens: [SourceToken]) -> (range: Range<Int>, name: String)? {
    guard index > 1, tokens[index].kind == .directive, tokens[index].text == "#selector",
      tokens[index - 1].isPunctuation("("), tokens[index - 2].text == "NSStringFromSelector",
      index + 3 < tokens.count, tokens[index + 2].isKeyword("getter"), tokens[index + 3].isPunctuation(":")
    else { return nil }
    let call = tokens[(index - 1)...].prefix(24)
    let names = tokens[(index + 4)...].prefix(20).prefix { !$0.isPunctuation(")") }.filter(\.isName)
    guard let name = names.last?.text, let end = _end(of: call) else { return nil }
    return (tokens[index - 2].range.lowerBound..<end, name)
  }

  /// The end of the parenthesised text that follows.
  private static func _end(of tokens: ArraySlice<SourceToken>) -> Int? {
    var depth = 0
    for token in tokens {
      if token.isPunctuation("(") { depth += 1 }
      if token.isPunctuation(")") {
        depth -= 1
        if depth == 0 { return token.range.upperBound }
      }
    }
    return nil
  }
}
