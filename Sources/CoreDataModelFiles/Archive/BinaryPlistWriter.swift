import Foundation

/// Writes binary property lists, each distinct value once.
struct BinaryPlistWriter {
  private var _bytes = Array("bplist00".utf8)
  private var _offsets: [Int] = []
  private var _known: [PlistValue: Int] = [:]
  private let _referenceSize: Int

  /// Returns the property list of a value.
  static func write(_ value: PlistValue) -> Data {
    var counted = 0
    _count(value, &counted)
    var writer = BinaryPlistWriter(referenceSize: _size(of: counted))
    let top = writer._add(value)
    return writer._finished(top)
  }

  private init(referenceSize: Int) { _referenceSize = referenceSize }

  /// Upper bound of the number of objects, which determines the width of references.
  private static func _count(_ value: PlistValue, _ count: inout Int) {
    count += 1
    switch value {
    case .array(let members): for member in members { _count(member, &count) }
    case .dictionary(let fields):
      count += fields.count
      for field in fields.values { _count(field, &count) }
    default: break
    }
  }

  private static func _size(of number: Int) -> Int { number < 1 << 8 ? 1 : number < 1 << 16 ? 2 : 4 }

  private mutating func _finished(_ top: Int) -> Data {
    let table = _bytes.count
    let offsetSize = Self._size(of: table)
    for offset in _offsets { _append(UInt64(offset), offsetSize) }
    _bytes += [0, 0, 0, 0, 0, 0, UInt8(offsetSize), UInt8(_referenceSize)]
    for number in [_offsets.count, top, table] { _append(UInt64(number), 8) }
    return Data(_bytes)
  }

  /// Writes a value unless an equal one exists, and returns its number.
  private mutating func _add(_ value: PlistValue) -> Int {
    if let known = _known[value] { return known }
    // Members first, so that a container's references are known when it is written.
    switch value {
    case .array(let members):
      let references = members.map { _add($0) }
      let number = _begin(value)
      _mark(0xA0, count: references.count)
      for reference in references { _append(UInt64(reference), _referenceSize) }
      return number
    case .dictionary(let fields):
      let sorted = fields.sorted { $0.key < $1.key }
      let keys = sorted.map { _add(.string($0.key)) }
      let values = sorted.map { _add($0.value) }
      let number = _begin(value)
      _mark(0xD0, count: sorted.count)
      for reference in keys + values { _append(UInt64(reference), _referenceSize) }
      return number
    default:
      let number = _begin(value)
      _scalar(value)
      return number
    }
  }

  private mutating func _begin(_ value: PlistValue) -> Int {
    _offsets.append(_bytes.count)
    _known[value] = _offsets.count - 1
    return _offsets.count - 1
  }

  private mutating func _scalar(_ value: PlistValue) {
    switch value {
    case .null: _bytes.append(0x00)
    case .boolean(let flag): _bytes.append(flag ? 0x09 : 0x08)
    case .integer(let number): _integer(number)
    case .real(let number):
      _bytes.append(0x23)
      _append(number.bitPattern, 8)
    case .date(let seconds):
      _bytes.append(0x33)
      _append(seconds.bitPattern, 8)
    case .data(let bytes):
      _mark(0x40, count: bytes.count)
      _bytes += bytes
    case .string(let text) where text.utf8.allSatisfy({ $0 < 0x80 }):
      _mark(0x50, count: text.utf8.count)
      _bytes += text.utf8
    case .string(let text):
      _mark(0x60, count: text.utf16.count)
      for unit in text.utf16 { _append(UInt64(unit), 2) }
    case .uid(let index):
      let size = Self._size(of: index)
      _bytes.append(0x80 | UInt8(size - 1))
      _append(UInt64(index), size)
    case .array, .dictionary: break
    }
  }

  /// Writes a marker with a count, which follows as an integer if it is too large for the marker.
  private mutating func _mark(_ marker: UInt8, count: Int) {
    if count < 15 {
      _bytes.append(marker | UInt8(count))
    } else {
      _bytes.append(marker | 0x0F)
      _integer(Int64(count))
    }
  }

  /// Negative numbers always take eight bytes.
  private mutating func _integer(_ number: Int64) {
    let power: UInt8 = number < 0 ? 3 : number < 1 << 8 ? 0 : number < 1 << 16 ? 1 : number < 1 << 32 ? 2 : 3
    _bytes.append(0x10 | power)
    _append(UInt64(bitPattern: number), 1 << Int(power))
  }

  private mutating func _append(_ bits: UInt64, _ size: Int) {
    for place in (0..<size).reversed() { _bytes.append(UInt8(truncatingIfNeeded: bits >> UInt64(8 * place))) }
  }
}
