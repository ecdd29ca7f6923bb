/// Splits Swift source into tokens, without comments.
///
/// Tolerant: it never fails. Unknown characters become punctuation, and an unclosed string or comment extends
/// to the end of the file; the compiler diagnoses such errors better.
package struct SourceLexer {
  private let _bytes: [UInt8]
  private let _end: Int
  private var _position = 0
  private var _line = 1
  private var _lineStart = 0
  /// Interpolations of the current string.
  private var _interpolations: [Range<Int>] = []
  /// Nesting depth of strings within interpolations; beyond the limit a quote is an ordinary character.
  private var _depth = 0
  private static let _depthLimit = 64

  package static func tokens(in source: String) -> [SourceToken] {
    let bytes = Array(source.utf8)
    var lexer = SourceLexer(bytes, 0..<bytes.count)
    return lexer._tokens()
  }

  /// The tokens of a part of a source, an interpolation for example; lines and columns count from its start.
  package static func tokens(in bytes: [UInt8], _ range: Range<Int>) -> [SourceToken] {
    var lexer = SourceLexer(bytes, range)
    return lexer._tokens()
  }

  private init(_ bytes: [UInt8], _ range: Range<Int>) {
    (_bytes, _position, _end) = (bytes, range.lowerBound, range.upperBound)
    _lineStart = range.lowerBound
  }

  private mutating func _tokens() -> [SourceToken] {
    var tokens: [SourceToken] = []
    while let token = _next() { tokens.append(token) }
    return tokens
  }

  private func _byte(_ ahead: Int = 0) -> UInt8 {
    _position + ahead < _end ? _bytes[_position + ahead] : 0
  }

  private mutating func _advance(_ count: Int = 1) {
    for _ in 0..<count where _position < _end {
      if _bytes[_position] == UInt8(ascii: "\n") {
        _line += 1
        _lineStart = _position + 1
      }
      _position += 1
    }
  }

  private mutating func _next() -> SourceToken? {
    _skipBlanksAndComments()
    guard _position < _end else { return nil }
    let (start, line, column) = (_position, _line, _position - _lineStart + 1)
    _interpolations = []
    let kind = _scan()
    var range = start..<_position
    if kind == .quotedIdentifier, range.count >= 2 { range = (start + 1)..<(_position - 1) }
    let text = kind == .string ? "" : String(decoding: _bytes[range], as: UTF8.self)
    return SourceToken(
      kind: kind, text: text, range: start..<_position, line: line, column: column,
      interpolations: _interpolations)
  }

  private mutating func _skipBlanksAndComments() {
    while _position < _end {
      switch (_byte(), _byte(1)) {
      case (UInt8(ascii: " "), _), (UInt8(ascii: "\t"), _), (UInt8(ascii: "\n"), _), (UInt8(ascii: "\r"), _):
        _advance()
      case (UInt8(ascii: "/"), UInt8(ascii: "/")):
        while _position < _end, _byte() != UInt8(ascii: "\n") { _advance() }
      case (UInt8(ascii: "/"), UInt8(ascii: "*")): _skipBlockComment()
      default: return
      }
    }
  }

  /// Block comments nest.
  private mutating func _skipBlockComment() {
    var depth = 0
    while _position < _end {
      switch (_byte(), _byte(1)) {
      case (UInt8(ascii: "/"), UInt8(ascii: "*")):
        depth += 1
        _advance(2)
      case (UInt8(ascii: "*"), UInt8(ascii: "/")):
        depth -= 1
        _advance(2)
        if depth == 0 { return }
      default: _advance()
      }
    }
  }

  private mutating func _scan() -> SourceToken.Kind {
    let byte = _byte()
    if Self._startsIdentifier(byte) {
      while Self._continuesIdentifier(_byte()), _position < _end { _advance() }
      return .identifier
    }
    if (48...57).contains(byte) {
      while Self._continuesIdentifier(_byte()), _position < _end { _advance() }
      return .number
    }
    switch byte {
    case UInt8(ascii: "`"):
      _advance()
      while _position < _end, _byte() != UInt8(ascii: "`"), _byte() != UInt8(ascii: "\n") {
        _advance()
      }
      _advance()
      return .quotedIdentifier
    case UInt8(ascii: "\""):
      _scanString(hashes: 0)
      return .string
    case UInt8(ascii: "#"): return _scanHash()
    case UInt8(ascii: "-") where _byte(1) == UInt8(ascii: ">"):
      _advance(2)
      return .punctuation
    default:
      _advance()
      return .punctuation
    }
  }

  private mutating func _scanHash() -> SourceToken.Kind {
    var hashes = 0
    while _byte(hashes) == UInt8(ascii: "#") { hashes += 1 }
    if _byte(hashes) == UInt8(ascii: "\"") {
      _advance(hashes)
      _scanString(hashes: hashes)
      return .string
    }
    _advance()
    guard Self._startsIdentifier(_byte()) else { return .punctuation }
    while Self._continuesIdentifier(_byte()), _position < _end { _advance() }
    return .directive
  }

  /// A string literal of any form, including its interpolations.
  private mutating func _scanString(hashes: Int) {
    let quote = UInt8(ascii: "\"")
    let isLong = _byte(1) == quote && _byte(2) == quote
    let quotes = isLong ? 3 : 1
    _advance(quotes)
    while _position < _end {
      switch _byte() {
      case UInt8(ascii: "\\") where _hasHashes(hashes, at: 1):
        let start = _position
        _advance(1 + hashes)
        guard _byte() == UInt8(ascii: "(") else {
          _advance()
          continue
        }
        // Nested strings may have interpolations, which are found when their tokens are read.
        let outer = _interpolations
        _skipInterpolation()
        _interpolations = outer + [start..<_position]
      case quote where (0..<quotes).allSatisfy({ _byte($0) == quote }) && _hasHashes(hashes, at: quotes):
        _advance(quotes + hashes)
        return
      case UInt8(ascii: "\n") where !isLong: return
      default: _advance()
      }
    }
  }

  private func _hasHashes(_ count: Int, at offset: Int) -> Bool {
    (0..<count).allSatisfy { _byte(offset + $0) == UInt8(ascii: "#") }
  }

  private mutating func _skipInterpolation() {
    var depth = 0
    while _position < _end {
      switch _byte() {
      case UInt8(ascii: "("):
        depth += 1
        _advance()
      case UInt8(ascii: ")"):
        depth -= 1
        _advance()
        if depth == 0 { return }
      case UInt8(ascii: "\"") where _depth < Self._depthLimit:
        _depth += 1
        _scanString(hashes: 0)
        _depth -= 1
      case UInt8(ascii: "\n"): return
      default: _advance()
      }
    }
  }

  private static func _startsIdentifier(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "_"),
      UInt8(ascii: "$"), 0x80...0xFF:
      true
    default: false
    }
  }

  private static func _continuesIdentifier(_ byte: UInt8) -> Bool {
    _startsIdentifier(byte) || (48...57).contains(byte)
  }
}
