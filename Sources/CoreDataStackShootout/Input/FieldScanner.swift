/// Splits comma-separated text into rows and fields according to RFC 4180.
///
/// Line ends may be LF, CRLF or CR; quoted fields may contain commas, line ends and doubled quotes. Text that
/// violates the RFC (a quote in the middle of an unquoted field, text after a closing quote) is accepted
/// literally.
struct FieldScanner {
  struct Field {
    fileprivate(set) var bytes: ArraySlice<UInt8>
  }

  private let _bytes: [UInt8]
  private var _position: Int
  private var _currentLine = 1

  /// The fields of the row just read.
  private(set) var fields: [Field] = []
  /// Line that the row starts on, counted from 1.
  private(set) var line = 0
  /// Whether the text ended before a quote was closed.
  private(set) var endsInsideQuotes = false

  init(_ bytes: [UInt8]) {
    _bytes = bytes
    // A byte order mark is not part of the first column's name.
    _position = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0
  }

  /// Whether the row is an empty line.
  var isBlank: Bool { fields.count == 1 && fields[0].bytes.isEmpty && !endsInsideQuotes }

  /// Reads the next row; false at the end.
  mutating func next() -> Bool {
    guard _position < _bytes.count else { return false }
    line = _currentLine
    fields.removeAll(keepingCapacity: true)
    endsInsideQuotes = false
    while true {
      fields.append(_bytes[safe: _position] == 0x22 ? _quotedField() : _bareField())
      guard _position < _bytes.count else { return true }
      let separator = _bytes[_position]
      _position += 1
      if separator == 0x2C { continue }
      if separator == 0x0D, _bytes[safe: _position] == 0x0A { _position += 1 }
      _currentLine += 1
      return true
    }
  }

  private mutating func _bareField() -> Field {
    let start = _position
    while _position < _bytes.count, !Self._endsField(_bytes[_position]) { _position += 1 }
    return Field(bytes: _bytes[start..<_position])
  }

  private mutating func _quotedField() -> Field {
    _position += 1
    let start = _position
    // Only a field with doubled quotes, or with text after its closing quote, needs a copy of its bytes.
    var pieces: [UInt8]?
    var pieceStart = start
    while _position < _bytes.count {
      let byte = _bytes[_position]
      if byte == 0x22 {
        if _bytes[safe: _position + 1] == 0x22 {
          pieces = (pieces ?? []) + _bytes[pieceStart..._position]
          _position += 2
          pieceStart = _position
          continue
        }
        let last = _bytes[pieceStart..<_position]
        _position += 1
        let tail = _bareField().bytes
        if pieces == nil && tail.isEmpty { return Field(bytes: last) }
        return Field(bytes: ((pieces ?? []) + last + tail)[...])
      }
      if byte == 0x0A || (byte == 0x0D && _bytes[safe: _position + 1] != 0x0A) { _currentLine += 1 }
      _position += 1
    }
    endsInsideQuotes = true
    return Field(bytes: _bytes[start...])
  }

  private static func _endsField(_ byte: UInt8) -> Bool { byte == 0x2C || byte == 0x0A || byte == 0x0D }
}

extension Array {
  fileprivate subscript(safe index: Int) -> Element? { index < count ? self[index] : nil }
}
