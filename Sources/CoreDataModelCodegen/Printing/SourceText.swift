/// Swift source under construction: lines with their indentation.
struct SourceText {
  private(set) var text = ""
  private var _depth = 0

  /// Adds a line; an empty one without indentation.
  mutating func line(_ line: String = "") {
    if !line.isEmpty { text += String(repeating: "  ", count: _depth) + line }
    text += "\n"
  }

  /// Adds a block in braces.
  mutating func block(_ head: String, _ body: (inout SourceText) -> Void) {
    line("\(head) {")
    _depth += 1
    body(&self)
    _depth -= 1
    line("}")
  }

  /// Appends a documentation comment; text from a model may contain any characters, including line breaks.
  mutating func documentation(_ comment: String?) {
    guard let comment, !comment.isEmpty else { return }
    for part in comment.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline) {
      line(part.isEmpty ? "///" : "/// \(part)")
    }
  }

  /// A string literal.
  static func literal(_ string: String) -> String {
    var literal = "\""
    for scalar in string.unicodeScalars {
      switch scalar {
      case "\"": literal += "\\\""
      case "\\": literal += "\\\\"
      case _ where scalar.value < 0x20 || scalar.value == 0x7F:
        literal += "\\u{\(String(scalar.value, radix: 16))}"
      default: literal.unicodeScalars.append(scalar)
      }
    }
    return literal + "\""
  }
}
