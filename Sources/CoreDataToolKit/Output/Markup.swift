/// A piece of HTML or SVG, built as a tree and escaped when it is written.
package indirect enum Markup: Sendable, ExpressibleByStringLiteral {
  case element(String, attributes: [(String, String)], children: [Markup])
  /// Text, escaped.
  case text(String)
  /// The contents of a style or script element, written unescaped: only for this program's own text.
  case verbatim(String)

  package init(stringLiteral text: String) { self = .text(text) }

  /// An element; attributes in the order given.
  package static func tag(
    _ name: String, _ attributes: KeyValuePairs<String, String> = [:], _ children: [Markup] = []
  ) -> Markup {
    .element(name, attributes: attributes.map { ($0.key, $0.value) }, children: children)
  }

  /// The markup as text. An element without children closes itself inside SVG; in HTML only the void ones do.
  package var text: String {
    var result = ""
    _write(to: &result, inSVG: false)
    return result
  }

  /// A whole page of HTML.
  package static func page(_ html: Markup) -> String { "<!DOCTYPE html>\n" + html.text + "\n" }

  /// Escapes the five special characters of markup. Controls that markup does not allow, and those that
  /// change the direction of the following text, become U+FFFD.
  package static func escaped(_ text: String) -> String {
    var result = ""
    escape(text, into: &result)
    return result
  }

  /// Appends text, escaped as by `escaped(_:)`.
  package static func escape(_ text: String, into result: inout String) {
    if text.utf8.allSatisfy({ $0 >= 0x20 && $0 < 0x7F && !_special.contains($0) }) {
      result += text
      return
    }
    for scalar in text.unicodeScalars {
      switch scalar {
      case "&": result += "&amp;"
      case "<": result += "&lt;"
      case ">": result += "&gt;"
      case "\"": result += "&quot;"
      case "'": result += "&#39;"
      case "\n", "\t": result.unicodeScalars.append(scalar)
      case "\u{202A}"..."\u{202E}", "\u{2066}"..."\u{2069}": result += "\u{FFFD}"
      case _ where scalar.value < 0x20 || (0x7F...0x9F).contains(scalar.value): result += "\u{FFFD}"
      default: result.unicodeScalars.append(scalar)
      }
    }
  }

  private static let _special = Set("&<>\"'".utf8)
  private static let _void: Set<String> = ["meta", "br", "hr", "img", "link", "input"]

  private func _write(to result: inout String, inSVG: Bool) {
    switch self {
    case .text(let text): result += Self.escaped(text)
    case .verbatim(let text): result += text
    case .element(let name, let attributes, let children):
      result += "<" + name
      for (key, value) in attributes { result += " \(key)=\"\(Self.escaped(value))\"" }
      let inSVG = inSVG || name == "svg"
      if children.isEmpty && (inSVG || Self._void.contains(name)) {
        result += inSVG ? "/>" : ">"
        return
      }
      result += ">"
      for child in children { child._write(to: &result, inSVG: inSVG) }
      result += "</\(name)>"
    }
  }
}
