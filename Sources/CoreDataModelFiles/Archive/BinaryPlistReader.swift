import Foundation

/// The reason why a binary property list is unreadable.
struct BinaryPlistError: Error {
  let reason: String
}

/// Reads binary property lists.
///
/// Foundation's reader gives no public access to the UIDs of keyed archives and trusts its input. This one
/// does not: offsets, counts, nesting and the number of values are bounded by the size of the file.
///
/// A class, since a debug build copies a structure for each call.
final class BinaryPlistReader {
  private let _bytes: [UInt8]
  private let _offsets: [Int]
  private let _referenceSize: Int
  private var _budget: Int
  /// The strings read so far, by object: the keys of archived objects are the same few.
  private var _strings: [PlistFields.Name?]

  /// Keyed archives nest values three levels deep.
  private static let _depthLimit = 32

  /// Returns the top value of the property list in `data`.
  ///
  /// - Throws: `BinaryPlistError`.
  static func read(_ data: Data) throws -> PlistValue {
    let reader = try BinaryPlistReader(Array(data))
    return try reader._value(Self._number(reader._bytes, reader._bytes.count - 16, 8), depth: 0)
  }

  private init(_ bytes: [UInt8]) throws {
    guard bytes.count >= 8 + 32, bytes.starts(with: "bplist0".utf8) else {
      throw BinaryPlistError(reason: "no binary property list")
    }
    let trailer = bytes.count - 32
    let offsetSize = Int(bytes[trailer + 6])
    let referenceSize = Int(bytes[trailer + 7])
    let count = try Self._number(bytes, trailer + 8, 8)
    let table = try Self._number(bytes, trailer + 24, 8)
    guard (1...8).contains(offsetSize), (1...8).contains(referenceSize), table >= 8, table <= trailer,
      count <= (trailer - table) / offsetSize
    else {
      throw BinaryPlistError(reason: "the object table does not fit the file")
    }
    _bytes = bytes
    _referenceSize = referenceSize
    _offsets = try (0..<count).map { try Self._number(bytes, table + $0 * offsetSize, offsetSize) }
    // Objects may be referenced often, but a list that expands to much more than the file is malicious.
    _budget = bytes.count * 4 + 1024
    _strings = Array(repeating: nil, count: count)
  }

  private func _value(_ index: Int, depth: Int) throws -> PlistValue {
    guard index < _offsets.count else {
      throw BinaryPlistError(reason: "refers to object \(index), which is not there")
    }
    guard depth < Self._depthLimit else { throw BinaryPlistError(reason: "values are nested too deeply") }
    _budget -= 1
    guard _budget > 0 else { throw BinaryPlistError(reason: "unfolds to far more values than the file has") }
    let start = _offsets[index]
    let marker = try _byte(start)
    let low = Int(marker & 0x0F)
    switch marker >> 4 {
    case 0x0:
      switch low {
      case 8: return .boolean(false)
      case 9: return .boolean(true)
      default: return .null
      }
    case 0x1:
      guard low <= 4 else { throw BinaryPlistError(reason: "an integer of 2^\(low) bytes") }
      let size = 1 << low
      // Unsigned 64-bit integers are written with sixteen bytes; the upper half is zero.
      let bits = try Self._bits(_bytes, start + 1 + max(0, size - 8), min(size, 8))
      return .integer(Int64(bitPattern: bits))
    case 0x2:
      switch low {
      case 2:
        return .real(
          Double(Float(bitPattern: UInt32(truncatingIfNeeded: try Self._bits(_bytes, start + 1, 4)))))
      case 3: return .real(Double(bitPattern: try Self._bits(_bytes, start + 1, 8)))
      default: throw BinaryPlistError(reason: "a floating-point number of 2^\(low) bytes")
      }
    case 0x3: return .date(Double(bitPattern: try Self._bits(_bytes, start + 1, 8)))
    case 0x4:
      let (count, first) = try _count(start, low)
      return .data(Array(try _slice(first, count)))
    case 0x5, 0x6, 0x7: return .string(try _key(index).text)
    case 0x8: return .uid(try Self._number(_bytes, start + 1, low + 1))
    case 0xA, 0xB, 0xC:
      let (count, first) = try _count(start, low)
      var members: [PlistValue] = []
      let references = try _references(first, count)
      members.reserveCapacity(count)
      while members.count < count {
        members.append(try _value(references[members.count], depth: depth + 1))
      }
      return .array(members)
    case 0xD:
      let (count, first) = try _count(start, low)
      let keys = try _references(first, count)
      let values = try _references(first + count * _referenceSize, count)
      var fields = PlistFields()
      fields.reserveCapacity(min(count, 64))
      var position = 0
      while position < count {
        fields.set(try _value(values[position], depth: depth + 1), for: try _key(keys[position]))
        position += 1
      }
      return .dictionary(fields)
    default: throw BinaryPlistError(reason: "a value of unknown kind \(marker)")
    }
  }

  /// Returns the string at an index of the object table, as a key.
  private func _key(_ index: Int) throws -> PlistFields.Name {
    guard index < _offsets.count else {
      throw BinaryPlistError(reason: "refers to object \(index), which is not there")
    }
    if let known = _strings[index] { return known }
    let start = _offsets[index]
    let marker = try _byte(start)
    let (count, first) = try _count(start, Int(marker & 0x0F))
    let string: String
    switch marker >> 4 {
    case 0x5, 0x7: string = String(decoding: try _slice(first, count), as: UTF8.self)
    case 0x6:
      let slice = try _slice(first, count, width: 2)
      let units = stride(from: slice.startIndex, to: slice.endIndex, by: 2).map {
        UInt16(slice[$0]) << 8 | UInt16(slice[$0 + 1])
      }
      string = String(decoding: units, as: UTF16.self)
    default: throw BinaryPlistError(reason: "a key that is no string")
    }
    let key = PlistFields.Name(string)
    _strings[index] = key
    return key
  }

  /// Returns the numbers of the objects in a collection.
  private func _references(_ first: Int, _ count: Int) throws -> [Int] {
    _ = try _slice(first, count, width: _referenceSize)
    var numbers: [Int] = []
    numbers.reserveCapacity(count)
    var position = first
    while numbers.count < count {
      numbers.append(try Self._number(_bytes, position, _referenceSize))
      position += _referenceSize
    }
    return numbers
  }

  /// Returns the number of elements and the position of the first: the count is in the marker or follows it
  /// as an integer.
  private func _count(_ start: Int, _ low: Int) throws -> (count: Int, first: Int) {
    guard low == 15 else { return (low, start + 1) }
    let marker = try _byte(start + 1)
    guard marker >> 4 == 1, marker & 0x0F <= 3 else {
      throw BinaryPlistError(reason: "a count that is no integer")
    }
    let size = 1 << Int(marker & 0x0F)
    return (try Self._number(_bytes, start + 2, size), start + 2 + size)
  }

  private func _byte(_ position: Int) throws -> UInt8 {
    guard position >= 0, position < _bytes.count else { throw BinaryPlistError(reason: "ends too early") }
    return _bytes[position]
  }

  private func _slice(_ first: Int, _ count: Int, width: Int = 1) throws -> ArraySlice<UInt8> {
    guard first >= 0, first <= _bytes.count, count >= 0, count <= (_bytes.count - first) / width else {
      throw BinaryPlistError(reason: "a value reaches beyond the end")
    }
    return _bytes[first..<first + count * width]
  }

  /// Reads a big-endian unsigned number that must be a plausible size or position.
  private static func _number(_ bytes: [UInt8], _ position: Int, _ size: Int) throws -> Int {
    let bits = try _bits(bytes, position, size)
    guard bits <= UInt64(UInt32.max) else { throw BinaryPlistError(reason: "a size of \(bits)") }
    return Int(bits)
  }

  private static func _bits(_ bytes: [UInt8], _ position: Int, _ size: Int) throws -> UInt64 {
    guard position >= 0, size <= 8, position <= bytes.count - size else {
      throw BinaryPlistError(reason: "ends too early")
    }
    var bits: UInt64 = 0
    var next = position
    while next < position + size {
      bits = bits &<< 8 | UInt64(bytes[next])
      next += 1
    }
    return bits
  }
}
