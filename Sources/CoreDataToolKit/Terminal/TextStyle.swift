/// A style for text on a terminal.
package enum TextStyle: String, Sendable {
  case plain = ""
  case bold = "1"
  case dim = "2"
  case red = "31"
  case green = "32"
  case blue = "34"

  /// The text in this style, or unchanged if colours are disabled.
  package func applied(to text: String, usesColor: Bool) -> String {
    guard usesColor, self != .plain, !text.isEmpty else { return text }
    return "\u{1B}[\(rawValue)m\(text)\u{1B}[0m"
  }
}
