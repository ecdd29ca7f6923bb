/// Finds the parameters of a statement under construction: its question marks, except those inside quoted
/// names.
enum ParameterPlaces {
  /// Returns the pieces of a text between its parameters: one more than it has parameters.
  static func pieces(of sql: String) -> [Substring] {
    var pieces: [Substring] = []
    var start = sql.startIndex
    // The open quote. A doubled quote inside quotes closes and reopens them.
    var quote: UInt8?
    let text = sql.utf8
    var place = start
    while place < text.endIndex {
      let character = text[place]
      let next = text.index(after: place)
      if character == quote {
        quote = nil
      } else if quote == nil {
        switch character {
        case UInt8(ascii: "\""), UInt8(ascii: "'"): quote = character
        case UInt8(ascii: "?"):
          pieces.append(sql[start..<place])
          start = next
        default: break
        }
      }
      place = next
    }
    return pieces + [sql[start...]]
  }
}
