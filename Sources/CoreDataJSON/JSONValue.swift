/// A JSON value that preserves the text: numbers keep their digits, members their order.
package indirect enum JSONValue: Sendable, Hashable {
  case null
  case boolean(Bool)
  /// The digits as written.
  case number(String)
  case string(String)
  case array([JSONValue])
  case object([Member])

  package struct Member: Sendable, Hashable {
    package let name: String
    package let value: JSONValue

    package init(name: String, value: JSONValue) {
      self.name = name
      self.value = value
    }
  }

  /// Text that is not JSON.
  package struct SyntaxError: Error, Sendable, CustomStringConvertible {
    /// Offset from the start, in bytes.
    package let offset: Int
    package let problem: String

    package var description: String { "\(problem) (at byte \(offset + 1))" }
  }

  /// Reads one value, which together with surrounding whitespace must fill `bytes`.
  ///
  /// - Throws: `SyntaxError`.
  package init(parsing bytes: [UInt8]) throws(SyntaxError) {
    var parser = JSONParser(bytes)
    self = try parser.document()
  }

  /// The kind of value, for messages.
  package var kind: String {
    switch self {
    case .null: "null"
    case .boolean(let flag): flag ? "true" : "false"
    case .number(let digits): "the number \(digits)"
    case .string: "a string"
    case .array: "an array"
    case .object: "an object"
    }
  }
}

/// A recursive-descent parser for JSON of RFC 8259; depth is limited, since the input is untrusted.
private struct JSONParser {
  private let _bytes: [UInt8]
  private var _index = 0
  private static let _depthLimit = 512

  init(_ bytes: [UInt8]) { _bytes = bytes }

  mutating func document() throws(JSONValue.SyntaxError) -> JSONValue {
    let value = try _value(0)
    _skipBlanks()
    guard _index == _bytes.count else { throw _error("something follows the value") }
    return value
  }

  private func _error(_ problem: String) -> JSONValue.SyntaxError {
    JSONValue.SyntaxError(offset: _index, problem: problem)
  }

  private func _unexpected() -> JSONValue.SyntaxError {
    let word = _bytes[_index...].prefix(12).prefix { $0 > 0x20 && $0 < 0x7F }
    return _error(
      "a JSON value was expected" + (word.isEmpty ? "" : ", not '\(String(decoding: word, as: UTF8.self))'"))
  }

  private mutating func _skipBlanks() {
    while _index < _bytes.count, [0x20, 0x09, 0x0A, 0x0D].contains(_bytes[_index]) { _index += 1 }
  }

  private var _current: UInt8? { _index < _bytes.count ? _bytes[_index] : nil }

  private mutating func _value(_ depth: Int) throws(JSONValue.SyntaxError) -> JSONValue {
    guard depth < Self._depthLimit else { throw _error("it nests too deep") }
    _skipBlanks()
    switch _current {
    case UInt8(ascii: "{"): return try _object(depth)
    case UInt8(ascii: "["): return try _array(depth)
    case UInt8(ascii: "\""): return .string(try _string())
    case UInt8(ascii: "t"): return try _word("true", .boolean(true))
    case UInt8(ascii: "f"): return try _word("false", .boolean(false))
    case UInt8(ascii: "n"): return try _word("null", .null)
    case UInt8(ascii: "-"), .some(UInt8(ascii: "0")...UInt8(ascii: "9")): return try _number()
    case nil: throw _error("a value is missing")
    default: throw _unexpected()
    }
  }

  private mutating func _word(_ word: String, _ value: JSONValue) throws(JSONValue.SyntaxError) -> JSONValue {
    guard _bytes[_index...].starts(with: word.utf8) else { throw _unexpected() }
    _index += word.utf8.count
    return value
  }

  private mutating func _object(_ depth: Int) throws(JSONValue.SyntaxError) -> JSONValue {
    _index += 1
    var members: [JSONValue.Member] = []
    _skipBlanks()
    if _current == UInt8(ascii: "}") {
      _index += 1
      return .object([])
    }
    while true {
      _skipBlanks()
      guard _current == UInt8(ascii: "\"") else { throw _error("a member's name was expected") }
      let name = try _string()
      _skipBlanks()
      guard _current == UInt8(ascii: ":") else { throw _error("':' was expected") }
      _index += 1
      members.append(JSONValue.Member(name: name, value: try _value(depth + 1)))
      if try _ends(with: UInt8(ascii: "}")) { return .object(members) }
    }
  }

  private mutating func _array(_ depth: Int) throws(JSONValue.SyntaxError) -> JSONValue {
    _index += 1
    var elements: [JSONValue] = []
    _skipBlanks()
    if _current == UInt8(ascii: "]") {
      _index += 1
      return .array([])
    }
    while true {
      elements.append(try _value(depth + 1))
      if try _ends(with: UInt8(ascii: "]")) { return .array(elements) }
    }
  }

  private mutating func _ends(with end: UInt8) throws(JSONValue.SyntaxError) -> Bool {
    _skipBlanks()
    guard let byte = _current, byte == end || byte == UInt8(ascii: ",") else {
      throw _error("',' or '\(Character(Unicode.Scalar(end)))' was expected")
    }
    _index += 1
    return byte == end
  }

  private mutating func _number() throws(JSONValue.SyntaxError) -> JSONValue {
    let start = _index
    func isDigit(_ byte: UInt8?) -> Bool { byte.map { (0x30...0x39).contains($0) } ?? false }
    if _current == UInt8(ascii: "-") { _index += 1 }
    guard isDigit(_current) else { throw _error("a digit was expected") }
    let leads = _current == UInt8(ascii: "0")
    let first = _index
    while isDigit(_current) { _index += 1 }
    if leads, _index - first > 1 { throw _error("a number begins with 0") }
    if _current == UInt8(ascii: ".") {
      _index += 1
      guard isDigit(_current) else { throw _error("a digit was expected") }
      while isDigit(_current) { _index += 1 }
    }
    if _current == UInt8(ascii: "e") || _current == UInt8(ascii: "E") {
      _index += 1
      if _current == UInt8(ascii: "+") || _current == UInt8(ascii: "-") { _index += 1 }
      guard isDigit(_current) else { throw _error("a digit was expected") }
      while isDigit(_current) { _index += 1 }
    }
    return .number(String(decoding: _bytes[start..<_index], as: UTF8.self))
  }

  private mutating func _string() throws(JSONValue.SyntaxError) -> String {
    _index += 1
    var start = _index
    var text = ""
    while let byte = _current {
      switch byte {
      case UInt8(ascii: "\""):
        text += String(decoding: _bytes[start..<_index], as: UTF8.self)
        _index += 1
        return text
      case UInt8(ascii: "\\"):
        text += String(decoding: _bytes[start..<_index], as: UTF8.self)
        _index += 1
        text.unicodeScalars.append(try _escape())
        start = _index
      case 0..<0x20: throw _error("a control character in a string must be escaped")
      default: _index += 1
      }
    }
    throw _error("a string does not end")
  }

  private mutating func _escape() throws(JSONValue.SyntaxError) -> Unicode.Scalar {
    guard let byte = _current else { throw _error("a string does not end") }
    _index += 1
    switch byte {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return Unicode.Scalar(byte)
    case UInt8(ascii: "b"): return "\u{8}"
    case UInt8(ascii: "f"): return "\u{C}"
    case UInt8(ascii: "n"): return "\n"
    case UInt8(ascii: "r"): return "\r"
    case UInt8(ascii: "t"): return "\t"
    case UInt8(ascii: "u"):
      let unit = try _unit()
      if let scalar = Unicode.Scalar(unit) { return scalar }
      // The second half of a surrogate pair; an unpaired half is not a character.
      guard (0xD800..<0xDC00).contains(unit), _bytes[_index...].starts(with: [0x5C, 0x75]) else {
        return "\u{FFFD}"
      }
      _index += 2
      let low = try _unit()
      guard (0xDC00..<0xE000).contains(low) else { return "\u{FFFD}" }
      return Unicode.Scalar(0x10000 + ((unit - 0xD800) << 10) + (low - 0xDC00)) ?? "\u{FFFD}"
    default: throw _error("'\\\(Character(Unicode.Scalar(byte)))' is no escape")
    }
  }

  private mutating func _unit() throws(JSONValue.SyntaxError) -> UInt32 {
    guard _index + 4 <= _bytes.count,
      let unit = UInt32(String(decoding: _bytes[_index..<(_index + 4)], as: UTF8.self), radix: 16)
    else { throw _error("four hexadecimal digits were expected") }
    _index += 4
    return unit
  }
}
