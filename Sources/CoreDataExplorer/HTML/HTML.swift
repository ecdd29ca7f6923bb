import CoreDataToolKit

/// A piece of HTML. Interpolated values are escaped, so that no text can become markup: names of elements and
/// attributes are literals of this program, everything else is text.
struct HTML: Sendable, ExpressibleByStringLiteral, ExpressibleByStringInterpolation {
  /// Well-formed markup.
  private(set) var markup: String

  static let empty = HTML(trusted: "")

  private init(trusted markup: String) { self.markup = markup }

  /// Text.
  init(_ text: String) {
    markup = ""
    Markup.escape(text, into: &markup)
  }

  /// Text, including interpolated values.
  init(stringLiteral text: String) { self.init(text) }

  /// Markup of this program, unescaped. Accepts only literals.
  static func raw(_ markup: StaticString) -> HTML { HTML(trusted: markup.description) }

  /// Several pieces in sequence.
  init(_ pieces: some Sequence<HTML>) {
    markup = ""
    for piece in pieces { markup += piece.markup }
  }

  /// An attribute of an element: a name of this program, and any value. Nil omits the attribute.
  typealias Attributes = KeyValuePairs<StaticString, String?>

  /// An element with content.
  static func tag(_ name: StaticString, _ attributes: Attributes = [:], _ content: HTML...) -> HTML {
    tag(name, attributes, content)
  }

  /// An element with content.
  static func tag(_ name: StaticString, _ attributes: Attributes = [:], _ content: [HTML]) -> HTML {
    var result = _start(name, attributes)
    for piece in content { result += piece.markup }
    result += "</"
    result += name.description
    result += ">"
    return HTML(trusted: result)
  }

  /// An element that has no content: `input`, `meta`, `link`, `br`, `img`.
  static func void(_ name: StaticString, _ attributes: Attributes = [:]) -> HTML {
    HTML(trusted: _start(name, attributes))
  }

  static func + (left: HTML, right: HTML) -> HTML { HTML(trusted: left.markup + right.markup) }

  static func += (left: inout HTML, right: HTML) { left.markup += right.markup }

  private static func _start(_ name: StaticString, _ attributes: Attributes) -> String {
    var result = "<"
    result += name.description
    for (key, value) in attributes {
      guard let value else { continue }
      result += " "
      result += key.description
      result += "=\""
      Markup.escape(value, into: &result)
      result += "\""
    }
    result += ">"
    return result
  }
}

extension HTML {
  /// A name of the model, which a browser may break where a hump or an underscore begins a word.
  static func name(_ text: String) -> HTML {
    var result = HTML.empty
    var word = ""
    var previous: Character?
    for character in text {
      let isHump = character.isUppercase && previous?.isLowercase == true
      if !word.isEmpty, isHump || previous == "_" || previous == "." {
        result += HTML(word) + .void("wbr")
        word = ""
      }
      word.append(character)
      previous = character
    }
    return result + HTML(word)
  }

  /// A drawing from another module, which escapes its text on output.
  init(drawing: Drawing) { self.init(trusted: drawing.text) }
}
