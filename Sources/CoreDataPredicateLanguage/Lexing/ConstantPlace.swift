/// The place of a constant in a format, for messages about a tree that has been parsed from it.
package enum ConstantPlace {
  /// Returns the offset in UTF-8 bytes of a constant of a format; 0 if the format does not spell it.
  ///
  /// - Parameter occurrence: How many equal constants are before it.
  package static func offset(of constant: PredicateValue, occurrence: Int, in format: String) -> Int {
    var lexer = Lexer(format)
    var (offset, remaining) = (0, occurrence)
    while let (token, start) = try? lexer.next(), token != .end {
      let isEqual =
        switch (token, constant) {
        case (.string(let text), .string(let wanted)): text == wanted
        case (.number(let number), _): number == constant
        case (.word(let word), .bool(let flag)):
          (flag ? ["TRUE", "YES"] : ["FALSE", "NO"]).contains(word.uppercased())
        default: false
        }
      guard isEqual else { continue }
      offset = start
      if remaining == 0 { break }
      remaining -= 1
    }
    return offset
  }
}
