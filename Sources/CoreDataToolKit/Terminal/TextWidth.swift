/// The width of a text on a terminal, which is not its number of characters.
package enum TextWidth {
  /// Number of columns: two for wide East Asian characters and emoji, none for combining marks and controls.
  package static func of(_ text: String) -> Int {
    if text.utf8.allSatisfy({ $0 >= 0x20 && $0 < 0x7F }) { return text.utf8.count }
    return text.reduce(0) { $0 + _columns(of: $1) }
  }

  /// The text padded to a width with spaces after it or before it.
  package static func padded(_ text: String, to width: Int, onTheLeft: Bool = false) -> String {
    let blanks = String(repeating: " ", count: max(0, width - of(text)))
    return onTheLeft ? blanks + text : text + blanks
  }

  /// The text truncated to a width, with an ellipsis if anything was cut.
  package static func truncated(_ text: String, to width: Int) -> String {
    guard of(text) > width else { return text }
    guard width > 0 else { return "" }
    var result = ""
    var used = 1
    for character in text {
      let columns = _columns(of: character)
      if used + columns > width { break }
      used += columns
      result.append(character)
    }
    return result + "…"
  }

  private static func _columns(of character: Character) -> Int {
    var columns = 0
    for scalar in character.unicodeScalars {
      // A variation selector requests the emoji form of a character that is otherwise narrow.
      if scalar.value == 0xFE0F, columns == 1 { return 2 }
      columns = max(columns, _columns(of: scalar))
    }
    return columns
  }

  private static func _columns(of scalar: Unicode.Scalar) -> Int {
    switch scalar.properties.generalCategory {
    case .nonspacingMark, .enclosingMark, .format, .control, .lineSeparator, .paragraphSeparator: return 0
    default: break
    }
    if scalar.properties.isEmojiPresentation { return 2 }
    return _wide.contains { $0.contains(scalar.value) } ? 2 : 1
  }

  /// The blocks whose characters Unicode's East Asian Width calls wide or fullwidth.
  private static let _wide: [ClosedRange<UInt32>] = [
    0x1100...0x115F, 0x2E80...0x303E, 0x3041...0x33FF, 0x3400...0x4DBF, 0x4E00...0x9FFF, 0xA000...0xA4CF,
    0xA960...0xA97F, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE30...0xFE6F, 0xFF00...0xFF60, 0xFFE0...0xFFE6,
    0x1F300...0x1F64F, 0x1F900...0x1F9FF, 0x20000...0x3FFFD,
  ]
}
