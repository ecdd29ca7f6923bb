/// The reason why a predicate or expression format is invalid: the problem, its location, and the expected
/// input.
package struct PredicateFormatError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The whole format text.
  package let format: String
  /// Offset of the problem in UTF-8 bytes from the start of `format`.
  package let offset: Int
  /// The problem, as a sentence without full stop.
  package let problem: String
  /// The input expected at `offset`; empty if it has no short description.
  package let expected: [String]

  package init(format: String, offset: Int, problem: String, expected: [String] = []) {
    self.format = format
    self.offset = offset
    self.problem = problem
    self.expected = expected
  }

  /// The line with the problem, and below it a caret at its first character.
  package var caretRendering: String {
    let bytes = Array(format.utf8)
    let position = min(max(offset, 0), bytes.count)
    let newline = UInt8(ascii: "\n")
    let lineStart = (bytes[..<position].lastIndex(of: newline)).map { $0 + 1 } ?? 0
    let lineEnd = bytes[position...].firstIndex(of: newline) ?? bytes.count
    var before = Self._visible(bytes[lineStart..<position])
    var after = Self._visible(bytes[position..<lineEnd])
    // A generated format may be very long; show only the neighbourhood.
    if before.count > 60 { before = "…" + before.suffix(59) }
    if after.count > 40 { after = after.prefix(39) + "…" }
    return "\(before)\(after)\n\(String(repeating: " ", count: before.count))^"
  }

  package var description: String {
    let wanted = expected.isEmpty ? "" : "; expected \(Self.list(expected))"
    let indented = caretRendering.split(separator: "\n", omittingEmptySubsequences: false)
      .map { "  " + $0 }.joined(separator: "\n")
    return "Unable to parse the format string: \(problem)\(wanted).\n\(indented)"
  }

  /// `a`, `a or b`, `a, b or c`.
  static func list(_ items: [String]) -> String {
    guard let last = items.last else { return "" }
    if items.count == 1 { return last }
    return items.dropLast().joined(separator: ", ") + " or " + last
  }

  private static func _visible(_ bytes: ArraySlice<UInt8>) -> String {
    String(
      String(decoding: bytes, as: UTF8.self).map { character in
        character.unicodeScalars.contains { $0.value < 0x20 } ? " " : character
      })
  }
}
