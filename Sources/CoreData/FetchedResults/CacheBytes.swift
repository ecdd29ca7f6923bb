import Foundation

/// A checksum that detects truncated or altered bytes.
enum CacheSeal {
  /// FNV-1a over 64 bits.
  static func of(_ bytes: some Sequence<UInt8>) -> UInt64 {
    var seal: UInt64 = 0xCBF2_9CE4_8422_2325
    for byte in bytes {
      seal ^= UInt64(byte)
      seal = seal &* 0x100_0000_01B3
    }
    return seal
  }
}

/// Writes a sequence of numbers, texts and values.
struct CacheWriter {
  private var _bytes: [UInt8] = []

  mutating func write(_ number: Int) { _write(UInt64(bitPattern: Int64(number))) }

  mutating func write(_ text: String) {
    write(text.utf8.count)
    _bytes += text.utf8
  }

  /// Writes a sort key; returns false for an unsupported one.
  mutating func write(_ value: Value) -> Bool {
    switch value {
    case .null: _bytes.append(0)
    case .int(let number):
      _bytes.append(1)
      write(Int(number))
    case .double(let number):
      _bytes.append(2)
      _write(number.bitPattern)
    case .string(let text):
      _bytes.append(3)
      write(text)
    case .uuid(let uuid):
      _bytes.append(4)
      write(uuid.uuidString)
    default: return false
    }
    return true
  }

  /// Returns everything written, with its checksum.
  func sealed() -> Data {
    var sealed = self
    sealed._write(CacheSeal.of(_bytes))
    return Data(sealed._bytes)
  }

  /// A varint: seven bits per byte, the last byte below 128; most numbers are small.
  private mutating func _write(_ number: UInt64) {
    var number = number
    while number >= 0x80 {
      _bytes.append(UInt8(number & 0x7F) | 0x80)
      number >>= 7
    }
    _bytes.append(UInt8(number))
  }
}

/// Reads the output of a `CacheWriter`, without trusting it.
struct CacheReader {
  /// The bytes are malformed.
  struct Malformed: Error {}

  private let _bytes: [UInt8]
  private let _end: Int
  private var _position = 0

  /// Nil unless the checksum matches.
  init?(sealed data: Data) {
    let bytes = [UInt8](data)
    // The checksum is the last number: it starts after the second to last byte that ends a number.
    for length in 1...10 where length <= bytes.count {
      let end = bytes.count - length
      var tail = CacheReader(bytes, from: end)
      if let seal = try? tail._number(), tail._position == bytes.count, seal == CacheSeal.of(bytes[..<end]) {
        _bytes = bytes
        _end = end
        return
      }
    }
    return nil
  }

  private init(_ bytes: [UInt8], from position: Int) {
    _bytes = bytes
    _end = bytes.count
    _position = position
  }

  var isAtEnd: Bool { _position == _end }

  mutating func integer() throws -> Int { Int(Int64(bitPattern: try _number())) }

  /// Reads a count of items that follow, each at least one byte long.
  mutating func count() throws -> Int {
    let number = try integer()
    guard number >= 0, number <= _end - _position else { throw Malformed() }
    return number
  }

  mutating func text() throws -> String {
    let count = try count()
    defer { _position += count }
    guard let text = String(validating: _bytes[_position..<(_position + count)], as: UTF8.self) else {
      throw Malformed()
    }
    return text
  }

  mutating func value() throws -> Value {
    guard _position < _end else { throw Malformed() }
    _position += 1
    switch _bytes[_position - 1] {
    case 0: return .null
    case 1: return .int(Int64(try integer()))
    case 2: return .double(Double(bitPattern: try _number()))
    case 3: return .string(try text())
    case 4:
      guard let uuid = UUID(uuidString: try text()) else { throw Malformed() }
      return .uuid(uuid)
    default: throw Malformed()
    }
  }

  private mutating func _number() throws -> UInt64 {
    var number: UInt64 = 0
    var shift: UInt64 = 0
    while _position < _end, shift < 64 {
      let byte = _bytes[_position]
      _position += 1
      if shift == 63, byte > 1 { throw Malformed() }
      number |= UInt64(byte & 0x7F) << shift
      if byte < 0x80 { return number }
      shift += 7
    }
    throw Malformed()
  }
}
