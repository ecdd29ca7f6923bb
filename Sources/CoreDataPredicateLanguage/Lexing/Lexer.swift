import Foundation

/// Splits a format into tokens, one at a time, and collects its format arguments.
struct Lexer {
  let text: String
  private let _bytes: [UInt8]
  private var _position = 0
  /// Whether the last token could end an expression; then `.5` is a path and not a number.
  private var _followsOperand = false
  /// Arguments found so far, in order of appearance.
  private(set) var placeholders: [Placeholder] = []
  private var _nextArgument = 0

  init(_ text: String) {
    self.text = text
    _bytes = Array(text.utf8)
  }

  func failure(_ problem: String, at offset: Int, expected: [String] = []) -> PredicateFormatError {
    PredicateFormatError(format: text, offset: offset, problem: problem, expected: expected)
  }

  /// Returns the next token and its start.
  mutating func next() throws(PredicateFormatError) -> (token: Token, start: Int) {
    _skipSpace()
    let start = _position
    let token = try _scan()
    switch token {
    case .word, .escapedWord, .atWord, .variable, .placeholder, .string, .number,
      .symbol(.closeParenthesis), .symbol(.closeBracket), .symbol(.closeBrace):
      _followsOperand = true
    default: _followsOperand = false
    }
    return (token, start)
  }

  // MARK: Characters

  private func _byte(_ ahead: Int = 0) -> UInt8 {
    let index = _position + ahead
    return index < _bytes.count ? _bytes[index] : 0
  }

  private func _scalar(at position: Int) -> (scalar: Unicode.Scalar, width: Int) {
    let first = _bytes[position]
    if first < 0x80 { return (Unicode.Scalar(first), 1) }
    let width = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2
    var value = UInt32(first) & (width == 4 ? 0x07 : width == 3 ? 0x0F : 0x1F)
    for index in 1..<width where position + index < _bytes.count {
      value = value << 6 | UInt32(_bytes[position + index] & 0x3F)
    }
    return (Unicode.Scalar(value) ?? "\u{FFFD}", width)
  }

  private mutating func _skipSpace() {
    while _position < _bytes.count {
      let byte = _bytes[_position]
      if byte == 0x20 || (byte >= 0x09 && byte <= 0x0D) {
        _position += 1
      } else if byte >= 0x80, case let (scalar, width) = _scalar(at: _position),
        scalar.properties.isWhitespace
      {
        _position += width
      } else {
        return
      }
    }
  }

  /// Returns the width of the identifier character at `position`; zero if there is none.
  private func _identifierWidth(at position: Int, first: Bool) -> Int {
    guard position < _bytes.count else { return 0 }
    let byte = _bytes[position]
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "_"):
      return 1
    case UInt8(ascii: "0")...UInt8(ascii: "9"): return first ? 0 : 1
    case 0..<0x80: return 0
    default:
      let (scalar, width) = _scalar(at: position)
      let properties = scalar.properties
      let fits =
        first
        ? properties.isXIDStart || properties.isEmojiPresentation
        : properties.isXIDContinue || properties.isEmojiPresentation
      return fits ? width : 0
    }
  }

  /// Reads the identifier at the current position; nil if there is none.
  private mutating func _identifier() -> String? {
    let start = _position
    var width = _identifierWidth(at: _position, first: true)
    while width > 0 {
      _position += width
      width = _identifierWidth(at: _position, first: false)
    }
    return start == _position ? nil : String(decoding: _bytes[start..<_position], as: UTF8.self)
  }

  // MARK: Tokens

  private mutating func _scan() throws(PredicateFormatError) -> Token {
    guard _position < _bytes.count else { return .end }
    let start = _position
    if let uuid = _uuid() { return .number(.uuid(uuid)) }
    if let word = _identifier() { return _afterWord(word) }
    switch _byte() {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): return try _number()
    case UInt8(ascii: "."):
      let next = _byte(1)
      if !_followsOperand, next >= UInt8(ascii: "0"), next <= UInt8(ascii: "9") { return try _number() }
      _position += 1
      return .symbol(.dot)
    case UInt8(ascii: "'"), UInt8(ascii: "\""): return .string(try _quoted())
    case UInt8(ascii: "#"):
      _position += 1
      if _byte() == UInt8(ascii: "'") || _byte() == UInt8(ascii: "\"") {
        let name = try _quoted()
        // Names with control characters are reserved for the placeholders of templates.
        guard !name.isEmpty, name.utf8.allSatisfy({ $0 >= 0x20 }) else {
          throw failure("a name cannot be empty or hold control characters", at: start)
        }
        return .escapedWord(name)
      }
      guard let word = _identifier() else { throw failure("“#” needs a name after it", at: start) }
      return .escapedWord(word)
    case UInt8(ascii: "@"):
      _position += 1
      guard let word = _identifier() else {
        throw failure(
          "“@” needs the name of a collection operator after it", at: start, expected: ["@count", "@sum"])
      }
      return .atWord("@" + word)
    case UInt8(ascii: "$"):
      _position += 1
      guard let word = _identifier() else {
        throw failure("“$” needs the name of a variable after it", at: start)
      }
      return .variable(word)
    case UInt8(ascii: "%"): return try _placeholder()
    default: return .symbol(try _symbol())
    }
  }

  /// Reads a bare UUID; nil if there is none.
  private mutating func _uuid() -> UUID? {
    let dash = UInt8(ascii: "-")
    guard _byte(8) == dash, _byte(13) == dash, _byte(18) == dash, _byte(23) == dash,
      _position + 36 <= _bytes.count, _identifierWidth(at: _position + 36, first: false) == 0,
      let uuid = UUID(uuidString: String(decoding: _bytes[_position..<_position + 36], as: UTF8.self))
    else { return nil }
    _position += 36
    return uuid
  }

  /// A word may continue as `UTI-EQUALS` or as a selector, `add:to:`.
  private mutating func _afterWord(_ word: String) -> Token {
    if _byte() == UInt8(ascii: "-"), word.uppercased() == "UTI" {
      for ending in ["-CONFORMS-TO", "-EQUALS"] {
        let end = _position + ending.utf8.count
        guard end <= _bytes.count, _identifierWidth(at: end, first: false) == 0 else { continue }
        if String(decoding: _bytes[_position..<end], as: UTF8.self).uppercased() == ending {
          _position = end
          return .word("UTI" + ending)
        }
      }
    }
    guard _byte() == UInt8(ascii: ":"), _byte(1) != UInt8(ascii: "=") else { return .word(word) }
    var name = word
    while _byte() == UInt8(ascii: ":"), _byte(1) != UInt8(ascii: "=") {
      name += ":"
      _position += 1
      let end = _position
      if let more = _identifier() {
        if _byte() == UInt8(ascii: ":"), _byte(1) != UInt8(ascii: "=") {
          name += more
        } else {
          _position = end
        }
      }
    }
    return .selector(name)
  }

  private mutating func _symbol() throws(PredicateFormatError) -> Symbol {
    let start = _position
    let (first, second) = (_byte(), _byte(1))
    func taking(_ count: Int, _ symbol: Symbol) -> Symbol {
      _position += count
      return symbol
    }
    switch (first, second) {
    case (UInt8(ascii: "="), UInt8(ascii: "=")): return taking(2, .equal)
    case (UInt8(ascii: "="), UInt8(ascii: "<")): return taking(2, .lessOrEqual)
    case (UInt8(ascii: "="), UInt8(ascii: ">")): return taking(2, .greaterOrEqual)
    case (UInt8(ascii: "="), _): return taking(1, .equal)
    case (UInt8(ascii: "!"), UInt8(ascii: "=")): return taking(2, .notEqual)
    case (UInt8(ascii: "!"), _): return taking(1, .not)
    case (UInt8(ascii: "<"), UInt8(ascii: "=")): return taking(2, .lessOrEqual)
    case (UInt8(ascii: "<"), UInt8(ascii: ">")): return taking(2, .notEqual)
    case (UInt8(ascii: "<"), UInt8(ascii: "<")): return taking(2, .shiftLeft)
    case (UInt8(ascii: "<"), _): return taking(1, .less)
    case (UInt8(ascii: ">"), UInt8(ascii: "=")): return taking(2, .greaterOrEqual)
    case (UInt8(ascii: ">"), UInt8(ascii: ">")): return taking(2, .shiftRight)
    case (UInt8(ascii: ">"), _): return taking(1, .greater)
    case (UInt8(ascii: "&"), UInt8(ascii: "&")): return taking(2, .and)
    case (UInt8(ascii: "|"), UInt8(ascii: "|")): return taking(2, .or)
    case (UInt8(ascii: "*"), UInt8(ascii: "*")): return taking(2, .power)
    case (UInt8(ascii: ":"), UInt8(ascii: "=")): return taking(2, .assign)
    default:
      if first < 0x80, let symbol = Symbol(rawValue: String(Unicode.Scalar(first))) {
        return taking(1, symbol)
      }
      let scalar = _scalar(at: start).scalar
      switch scalar {
      case "“", "”", "‘", "’", "„", "«", "»":
        throw failure("“\(scalar)” does not quote a string here", at: start, expected: ["\"", "'"])
      default:
        let name =
          scalar.value < 0x20 ? "U+\(String(scalar.value, radix: 16, uppercase: true))" : String(scalar)
        throw failure("the character “\(name)” has no meaning here", at: start)
      }
    }
  }

  // MARK: Strings

  private mutating func _quoted() throws(PredicateFormatError) -> String {
    let start = _position
    let quote = _byte()
    _position += 1
    var content: [UInt8] = []
    while _position < _bytes.count {
      let byte = _bytes[_position]
      _position += 1
      if byte == quote { return String(decoding: content, as: UTF8.self) }
      if byte == UInt8(ascii: "\\") {
        try _escape(into: &content)
      } else {
        content.append(byte)
      }
    }
    throw failure(
      "the string that starts here has no end", at: start, expected: [String(Unicode.Scalar(quote))])
  }

  /// Reads the character after a backslash. A backslash before a character that needs no escape is kept, so
  /// that regular expressions such as `'\d+'` are preserved.
  private mutating func _escape(into content: inout [UInt8]) throws(PredicateFormatError) {
    let start = _position - 1
    let byte = _byte()
    guard _position < _bytes.count else { throw failure("the text ends inside an escape", at: start) }
    _position += 1
    switch byte {
    case UInt8(ascii: "n"): content.append(0x0A)
    case UInt8(ascii: "t"): content.append(0x09)
    case UInt8(ascii: "r"): content.append(0x0D)
    case UInt8(ascii: "\\"), UInt8(ascii: "'"), UInt8(ascii: "\""): content.append(byte)
    case UInt8(ascii: "u"), UInt8(ascii: "U"):
      let digits = byte == UInt8(ascii: "u") ? 4 : 8
      var value: UInt32 = 0
      for index in 0..<digits {
        guard let digit = Self._hexDigit(_byte(index)) else {
          throw failure(
            "“\\\(Character(Unicode.Scalar(byte)))” needs \(digits) hexadecimal digits", at: start)
        }
        value = value << 4 | digit
      }
      _position += digits
      guard let scalar = Unicode.Scalar(value) else {
        throw failure("U+\(String(value, radix: 16, uppercase: true)) is not a character", at: start)
      }
      content.append(contentsOf: Array(String(scalar).utf8))
    default: content.append(contentsOf: [UInt8(ascii: "\\"), byte])
    }
  }

  private static func _hexDigit(_ byte: UInt8) -> UInt32? {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt32(byte - UInt8(ascii: "0"))
    case UInt8(ascii: "a")...UInt8(ascii: "f"): UInt32(byte - UInt8(ascii: "a") + 10)
    case UInt8(ascii: "A")...UInt8(ascii: "F"): UInt32(byte - UInt8(ascii: "A") + 10)
    default: nil
    }
  }

  // MARK: Numbers

  private mutating func _number() throws(PredicateFormatError) -> Token {
    let start = _position
    if _byte() == UInt8(ascii: "0"), let radix = Self._radix(of: _byte(1)) {
      _position += 2
      let digits = _word()
      guard let value = UInt64(digits, radix: radix) else {
        throw failure("“\(digits)” is not a number to base \(radix) that fits 64 bits", at: start)
      }
      return .number(Int64(exactly: value).map { .int($0) } ?? .decimal(Decimal(value)))
    }
    _skipDigits()
    var isWhole = true
    if _byte() == UInt8(ascii: "."), _byte(1) >= UInt8(ascii: "0"), _byte(1) <= UInt8(ascii: "9") {
      isWhole = false
      _position += 1
      _skipDigits()
    }
    if _byte() | 0x20 == UInt8(ascii: "e") {
      let signed = _byte(1) == UInt8(ascii: "+") || _byte(1) == UInt8(ascii: "-")
      let digit = _byte(signed ? 2 : 1)
      if digit >= UInt8(ascii: "0"), digit <= UInt8(ascii: "9") {
        isWhole = false
        _position += signed ? 2 : 1
        _skipDigits()
      }
    }
    guard _identifierWidth(at: _position, first: true) == 0 else {
      throw failure("a name cannot start with a digit", at: start)
    }
    let digits = String(decoding: _bytes[start..<_position], as: UTF8.self)
    if isWhole, let value = Int64(digits) { return .number(.int(value)) }
    if isWhole, digits.utf8.count <= 38, let value = Decimal(string: digits) {
      return .number(.decimal(value))
    }
    guard let value = Double(digits.hasPrefix(".") ? "0" + digits : digits), value.isFinite else {
      throw failure("the number is too large", at: start)
    }
    return .number(.double(value))
  }

  private static func _radix(of letter: UInt8) -> Int? {
    switch letter | 0x20 {
    case UInt8(ascii: "x"): 16
    case UInt8(ascii: "o"): 8
    case UInt8(ascii: "b"): 2
    default: nil
    }
  }

  private mutating func _skipDigits() {
    while _byte() >= UInt8(ascii: "0"), _byte() <= UInt8(ascii: "9") { _position += 1 }
  }

  /// Letters and digits in a row.
  private mutating func _word() -> String {
    let start = _position
    while case let width = _identifierWidth(at: _position, first: false), width > 0 { _position += width }
    return String(decoding: _bytes[start..<_position], as: UTF8.self)
  }

  // MARK: Format arguments

  private mutating func _placeholder() throws(PredicateFormatError) -> Token {
    let start = _position
    _position += 1
    var argument: Int?
    let digitsStart = _position
    _skipDigits()
    if _position > digitsStart {
      let digits = String(decoding: _bytes[digitsStart..<_position], as: UTF8.self)
      guard _byte() == UInt8(ascii: "$"), let number = Int(digits), number > 0, number <= 10_000 else {
        throw failure("“%\(digits)” is not a format argument; widths have no meaning here", at: start)
      }
      _position += 1
      argument = number - 1
    }
    while [UInt8]("hlqLztj".utf8).contains(_byte()) { _position += 1 }
    guard _position < _bytes.count, let specifier = FormatSpecifier(_byte()) else {
      if _byte() == UInt8(ascii: "%") {
        throw failure(
          "“%%” is a percent sign, which is no operator; a remainder is modulus:by:(a, b)", at: start)
      }
      throw failure("this is not a format argument", at: start, expected: ["%@", "%K", "%d", "%ld", "%f"])
    }
    _position += 1
    if argument == nil {
      argument = _nextArgument
      _nextArgument += 1
    }
    placeholders.append(Placeholder(argument: argument ?? 0, specifier: specifier, offset: start))
    return .placeholder(placeholders.count - 1)
  }
}
