/// A piece of HTML or SVG, built as a tree and escaped when it is written.
package indirect enum Markup: Sendable, ExpressibleByStringLiteral {
  case element(String, attributes: [(String, String)], children: [Markup])
  /// Text, escaped.
  case text(String)
  /// The contents of a style or script element: written as they are, so only for text of our own.
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

  /// Text with the five characters that mean something in markup replaced, and controls that may not occur in
  /// it left out.
  package static func escaped(_ text: String) -> String {
    var result = ""
    result.reserveCapacity(text.utf8.count)
    for scalar in text.unicodeScalars {
      switch scalar {
      case "&": result += "&amp;"
      case "<": result += "&lt;"
      case ">": result += "&gt;"
      case "\"": result += "&quot;"
      case "'": result += "&#39;"
      case "\n", "\t": result.unicodeScalars.append(scalar)
      case _ where scalar.value < 0x20: break
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result
  }

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
