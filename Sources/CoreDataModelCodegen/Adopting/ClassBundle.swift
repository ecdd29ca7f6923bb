import CoreDataSwiftLexer

/// The bundle of a class as an argument or an element: `in: Bundle(for: Book.self)`, `[.init(for: Self.self)]`.
/// A lookup in one, `Bundle(for: Book.self).url(…)`, is remarked on where it names a model's extension.
enum ClassBundle {
  static let remark =
    "a class's bundle is the program's here, without the target's resources; pass Bundle.module, where CoreDataModelPlugin "
    + "puts compiled models"

  /// Labels of arguments that are bundles, by which an implicit `.init` is one.
  private static let _labels: Set<String> = ["bundle", "bundles", "from", "in"]

  /// Whether a token names the bundle of a class, or initialises one implicitly.
  static func isPassed(at index: Int, in tokens: [SourceToken]) -> Bool {
    func isPunctuation(_ text: String, _ position: Int) -> Bool {
      tokens.indices.contains(position) && tokens[position].isPunctuation(text)
    }
    func isKeyword(_ text: String, _ position: Int) -> Bool {
      tokens.indices.contains(position) && tokens[position].isKeyword(text)
    }
    var (start, open) = (index, index + 1)
    if tokens[index].text == "Bundle" {
      if isPunctuation(".", open), isKeyword("init", open + 1) { open += 2 }
    } else {
      start -= 1
      guard isKeyword("init", index), isPunctuation(".", start), _isLabelled(before: start, in: tokens) else {
        return false
      }
    }
    guard [":", "[", ",", "("].contains(where: { isPunctuation($0, start - 1) }), isPunctuation("(", open),
      isKeyword("for", open + 1), isPunctuation(":", open + 2)
    else { return false }
    var depth = 0
    for position in open..<min(open + 16, tokens.count) {
      if isPunctuation("(", position) { depth += 1 }
      if isPunctuation(")", position) { depth -= 1 }
      if depth > 0 { continue }
      return !isPunctuation(".", position + 1)
        && tokens[open..<position].contains { $0.text == "self" || $0.text == "Self" }
    }
    return false
  }

  /// Whether the argument with a token, or with the array that begins before it, has a bundle's label.
  private static func _isLabelled(before index: Int, in tokens: [SourceToken]) -> Bool {
    var position = index - 1
    if position > 0, tokens[position].isPunctuation("[") { position -= 1 }
    return position > 0 && tokens[position].isPunctuation(":") && _labels.contains(tokens[position - 1].text)
  }
}
