/// A binary property list whose objects are read on demand.
///
/// Nothing is decoded in advance: a page shows the first values of a list, however large it is. The bytes are
/// untrusted, so every offset and count is checked against their length.
package struct PropertyListTable: Sendable {
  /// One object. A collection contains the numbers of its members.
  package enum Object {
    case null
    case boolean(Bool)
    case integer(Int64)
    /// An integer of 16 bytes, which is how numbers above `Int64.max` are written.
    case unsigned(UInt64)
    case real(Double)
    /// Seconds since 2001-01-01 00:00 UTC.
    case date(Double)
    case data(ArraySlice<UInt8>)
    /// The start of a text, and whether it was truncated.
    case string(String, isCut: Bool)
    /// A place in the object table of a keyed archive.
    case uid(Int)
    case array(Members)
    case dictionary(keys: Members, values: Members)
  }

  /// Numbers of objects, read on demand.
  package struct Members {
    package let count: Int
    fileprivate let first: Int
    fileprivate let width: Int
    fileprivate let bytes: [UInt8]

    package subscript(index: Int) -> Int? {
      guard index >= 0, index < count else { return nil }
      return PropertyListTable._number(bytes, first + index * width, width)
    }
  }

  /// Number of the top object.
  package let top: Int
  private let _bytes: [UInt8]
  private let _count: Int
  private let _offsets: Int
  private let _offsetWidth: Int
  private let _referenceWidth: Int

  /// Maximum number of bytes that are read of a text.
  private let _textLimit: Int
  private static let _trailerSize = 32

  /// Nil if the bytes are not a binary property list.
  ///
  /// - Parameter textLimit: Maximum number of bytes that are read of a text.
  package init?(_ bytes: [UInt8], textLimit: Int = 2000) {
    guard bytes.starts(with: Array("bplist0".utf8)), bytes.count >= 8 + Self._trailerSize else { return nil }
    let trailer = bytes.count - Self._trailerSize
    let (offsetWidth, referenceWidth) = (Int(bytes[trailer + 6]), Int(bytes[trailer + 7]))
    guard (1...8).contains(offsetWidth), (1...8).contains(referenceWidth),
      let count = Self._number(bytes, trailer + 8, 8), let top = Self._number(bytes, trailer + 16, 8),
      let offsets = Self._number(bytes, trailer + 24, 8), offsets >= 8, offsets <= trailer,
      count <= (trailer - offsets) / offsetWidth, top < count
    else { return nil }
    _bytes = bytes
    _textLimit = textLimit
    _count = count
    _offsets = offsets
    _offsetWidth = offsetWidth
    _referenceWidth = referenceWidth
    self.top = top
  }

  /// Returns the object with this number; nil if it is missing or damaged.
  package func object(_ number: Int) -> Object? {
    guard number >= 0, number < _count,
      let start = Self._number(_bytes, _offsets + number * _offsetWidth, _offsetWidth), start >= 8,
      start < _offsets
    else { return nil }
    let low = Int(_bytes[start] & 0x0F)
    switch _bytes[start] >> 4 {
    case 0x0: return low == 8 ? .boolean(false) : low == 9 ? .boolean(true) : .null
    case 0x1: return _integer(start + 1, low)
    case 0x2:
      guard low == 2 || low == 3, let bits = Self._bits(_bytes, start + 1, 1 << low) else { return nil }
      return .real(
        low == 3 ? Double(bitPattern: bits) : Double(Float(bitPattern: UInt32(truncatingIfNeeded: bits))))
    case 0x3: return Self._bits(_bytes, start + 1, 8).map { .date(Double(bitPattern: $0)) }
    case 0x4: return _slice(start, low, width: 1).map { .data($0.bytes) }
    case 0x5, 0x7:
      return _slice(start, low, width: 1).map {
        .string(
          String(decoding: $0.bytes.prefix(_textLimit), as: UTF8.self),
          isCut: $0.bytes.count > _textLimit)
      }
    case 0x6: return _slice(start, low, width: 2).map { _wide($0.bytes) }
    case 0x8: return Self._number(_bytes, start + 1, low + 1).map { .uid($0) }
    case 0xA, 0xC: return _slice(start, low, width: _referenceWidth).map { .array(_members($0)) }
    case 0xD:
      guard let pairs = _slice(start, low, width: _referenceWidth * 2) else { return nil }
      let values = pairs.bytes.startIndex + pairs.count * _referenceWidth
      return .dictionary(
        keys: _members(pairs),
        values: Members(count: pairs.count, first: values, width: _referenceWidth, bytes: _bytes))
    default: return nil
    }
  }

  private func _integer(_ position: Int, _ low: Int) -> Object? {
    guard low <= 4 else { return nil }
    guard low == 4 else {
      return Self._bits(_bytes, position, 1 << low).map { .integer(Int64(bitPattern: $0)) }
    }
    guard let high = Self._bits(_bytes, position, 8), let bits = Self._bits(_bytes, position + 8, 8) else {
      return nil
    }
    return high == 0 ? .unsigned(bits) : .integer(Int64(bitPattern: bits))
  }

  private func _wide(_ bytes: ArraySlice<UInt8>) -> Object {
    let part = bytes.prefix(_textLimit * 2)
    let units = stride(from: part.startIndex, to: part.endIndex, by: 2).map {
      UInt16(part[$0]) << 8 | UInt16(part[$0 + 1])
    }
    return .string(String(decoding: units, as: UTF16.self), isCut: part.count < bytes.count)
  }

  private func _members(_ slice: (count: Int, bytes: ArraySlice<UInt8>)) -> Members {
    Members(count: slice.count, first: slice.bytes.startIndex, width: _referenceWidth, bytes: _bytes)
  }

  /// The elements after a marker; their number is in the marker, or follows it as an integer.
  private func _slice(_ start: Int, _ low: Int, width: Int) -> (count: Int, bytes: ArraySlice<UInt8>)? {
    var (count, first) = (low, start + 1)
    if low == 15 {
      guard first < _bytes.count, _bytes[first] >> 4 == 1, _bytes[first] & 0x0F <= 3 else { return nil }
      let size = 1 << Int(_bytes[first] & 0x0F)
      guard let number = Self._number(_bytes, first + 1, size) else { return nil }
      (count, first) = (number, first + 1 + size)
    }
    guard first <= _offsets, count <= (_offsets - first) / width else { return nil }
    return (count, _bytes[first..<first + count * width])
  }

  /// A number that is plausible as a size or a position.
  fileprivate static func _number(_ bytes: [UInt8], _ position: Int, _ size: Int) -> Int? {
    _bits(bytes, position, size).flatMap { $0 <= UInt64(UInt32.max) ? Int($0) : nil }
  }

  /// A big-endian number.
  private static func _bits(_ bytes: [UInt8], _ position: Int, _ size: Int) -> UInt64? {
    guard position >= 0, size <= 8, position <= bytes.count - size else { return nil }
    return bytes[position..<position + size].reduce(0) { $0 << 8 | UInt64($1) }
  }
}
