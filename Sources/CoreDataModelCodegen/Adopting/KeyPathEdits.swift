import CoreDataSwiftLexer

/// Replaces `#keyPath(Book.author.name)` by the string that it denotes, within strings too.
struct KeyPathEdits {
  private let _bytes: [UInt8]

  init(_ bytes: [UInt8]) { _bytes = bytes }

  func edits(_ tokens: [SourceToken]) -> [SourceAdoption.Edit] {
    tokens.indices.flatMap { index -> [SourceAdoption.Edit] in
      if tokens[index].kind == .string { return tokens[index].interpolations.flatMap(_interpolated) }
      guard let found = _keyPath(at: index, in: tokens) else { return [] }
      return [SourceAdoption.Edit(range: found.range, text: SourceText.literal(found.text))]
    }
  }

  /// The edits within `\(…)`: a key path alone becomes part of the string around it.
  private func _interpolated(_ range: Range<Int>) -> [SourceAdoption.Edit] {
    guard let open = _bytes[range].firstIndex(of: UInt8(ascii: "(")) else { return [] }
    let tokens = SourceLexer.tokens(in: _bytes, open..<range.upperBound)
    if let found = _keyPath(at: 1, in: tokens), found.end == tokens.count - 2 {
      return [SourceAdoption.Edit(range: range, text: found.text)]
    }
    return edits(tokens)
  }

  /// A key path that begins at a token: its bytes, the path, and the index of its last token.
  private func _keyPath(
    at index: Int, in tokens: [SourceToken]
  ) -> (range: Range<Int>, text: String, end: Int)? {
    guard index < tokens.count, tokens[index].kind == .directive, tokens[index].text == "#keyPath" else {
      return nil
    }
    var position = index + 1
    guard position < tokens.count, tokens[position].isPunctuation("(") else { return nil }
    position += 1
    var names: [String] = []
    while position < tokens.count, !tokens[position].isPunctuation(")") {
      if tokens[position].isName { names.append(tokens[position].text) }
      position += 1
    }
    // Types come first; properties begin with a lowercase letter.
    let path = names.drop { $0.first?.isUppercase ?? false || $0 == "self" }
    guard position < tokens.count, !path.isEmpty else { return nil }
    let range = tokens[index].range.lowerBound..<tokens[position].range.upperBound
    return (range, path.joined(separator: "."), position)
  }
}
