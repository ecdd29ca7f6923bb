import Foundation

/// The objects of a binary property list: checked once, then read in place.
///
/// Foundation's reader gives no public access to the UIDs of keyed archives and trusts its input. This one does not: when
/// it is created, it visits each object once and makes sure that it is of a known kind, lies within the file and refers
/// only to objects that exist, by keys that are strings. Everything after that is a plain read.
///
/// Bytes and positions are behind pointers, since a debug build calls a generic function for each element of an array.
final class BinaryPlistTable {
  /// What an object is, as far as its reader must distinguish.
  enum Kind {
    case null, boolean, integer, real, date, data, string, uid, array, dictionary
  }

  /// Number of objects.
  let count: Int
  /// Index of the object that contains the others.
  let top: Int
  /// Size of the file in bytes.
  let size: Int
  private let _bytes: UnsafeMutablePointer<UInt8>
  private let _starts: UnsafeMutablePointer<Int>
  /// The strings read so far: keys and class names are the same few.
  private let _strings: UnsafeMutablePointer<String?>
  private let _referenceSize: Int

  /// Reads the table of the property list in `data` and checks its objects.
  ///
  /// - Throws: `BinaryPlistError`.
  init(_ data: Data) throws {
    guard data.count >= 8 + 32, data.starts(with: "bplist0".utf8) else {
      throw BinaryPlistError(reason: "no binary property list")
    }
    size = data.count
    _bytes = .allocate(capacity: size)
    data.copyBytes(to: _bytes, count: size)
    let trailer = size - 32
    let offsetSize = Int(_bytes[trailer + 6])
    _referenceSize = Int(_bytes[trailer + 7])
    let (objects, first) = (_bits(_bytes, trailer + 8, 8), _bits(_bytes, trailer + 16, 8))
    let table = _bits(_bytes, trailer + 24, 8)
    guard (1...8).contains(offsetSize), (1...8).contains(_referenceSize), table >= 8,
      table <= UInt64(trailer),
      objects <= UInt64((trailer - Int(table)) / offsetSize)
    else {
      _bytes.deallocate()
      throw BinaryPlistError(reason: "the object table does not fit the file")
    }
    count = Int(objects)
    // A number that is too large for a position is one beyond all objects.
    top = Int(min(first, UInt64(UInt32.max)))
    _starts = .allocate(capacity: count)
    _strings = .allocate(capacity: count)
    _strings.initialize(repeating: nil, count: count)
    var index = 0
    while index < count {
      _starts[index] = Int(
        min(_bits(_bytes, Int(table) + index &* offsetSize, offsetSize), UInt64(UInt32.max)))
      index &+= 1
    }
    try _check(reference: top)
    index = 0
    while index < count {
      try _check(object: index)
      index &+= 1
    }
  }

  deinit {
    _strings.deinitialize(count: count)
    _strings.deallocate()
    _starts.deallocate()
    _bytes.deallocate()
  }

  // MARK: Reading

  func kind(_ index: Int) -> Kind {
    let marker = _bytes[_starts[index]]
    switch marker >> 4 {
    case 0x0: return marker == 8 || marker == 9 ? .boolean : .null
    case 0x1: return .integer
    case 0x2: return .real
    case 0x3: return .date
    case 0x4: return .data
    case 0x8: return .uid
    case 0xA, 0xB, 0xC: return .array
    case 0xD: return .dictionary
    default: return .string
    }
  }

  /// Returns the value of an object that is neither an array nor a dictionary; null for these.
  func scalar(_ index: Int) -> PlistValue {
    let start = _starts[index]
    let low = Int(_bytes[start] & 0x0F)
    switch kind(index) {
    case .uid: return .uid(uid(index))
    case .string: return .string(string(index))
    case .boolean: return .boolean(low == 9)
    case .integer:
      // Unsigned 64-bit integers are written with sixteen bytes; the upper half is zero.
      let size = 1 << low
      return .integer(Int64(bitPattern: _bits(_bytes, start + 1 + max(0, size - 8), min(size, 8))))
    case .real where low == 2:
      return .real(Double(Float(bitPattern: UInt32(truncatingIfNeeded: _bits(_bytes, start + 1, 4)))))
    case .real: return .real(Double(bitPattern: _bits(_bytes, start + 1, 8)))
    case .date: return .date(Double(bitPattern: _bits(_bytes, start + 1, 8)))
    case .data:
      let (count, first) = _extent(start)
      return .data(Array(UnsafeBufferPointer(start: _bytes + first, count: count)))
    case .null, .array, .dictionary: return .null
    }
  }

  /// The number that a UID contains.
  func uid(_ index: Int) -> Int {
    let start = _starts[index]
    return Int(truncatingIfNeeded: _bits(_bytes, start + 1, Int(_bytes[start] & 0x0F) + 1))
  }

  /// The text of a string.
  func string(_ index: Int) -> String {
    if let known = _strings[index] { return known }
    let start = _starts[index]
    let (count, first) = _extent(start)
    let string: String
    if _bytes[start] >> 4 == 0x6 {
      let units = (0..<count).map { UInt16(truncatingIfNeeded: _bits(_bytes, first + 2 * $0, 2)) }
      string = String(decoding: units, as: UTF16.self)
    } else {
      string = String(decoding: UnsafeBufferPointer(start: _bytes + first, count: count), as: UTF8.self)
    }
    _strings[index] = string
    return string
  }

  /// The members of an array, or the keys of a dictionary, which its values follow, as indices. Valid as long as the
  /// table.
  struct References {
    let count: Int
    private let _first: UnsafeMutablePointer<UInt8>
    private let _size: Int

    fileprivate init(_ first: UnsafeMutablePointer<UInt8>, _ size: Int, _ count: Int) {
      self.count = count
      _first = first
      _size = size
    }

    /// The index of a member. In a dictionary, from `count` on, that of the value of each key.
    subscript(position: Int) -> Int {
      switch _size {
      case 1: Int(_first[position])
      case 2: Int(_first[2 &* position]) &<< 8 | Int(_first[2 &* position &+ 1])
      default: Int(truncatingIfNeeded: _bits(_first, position &* _size, _size))
      }
    }
  }

  /// The members of an array.
  func members(_ index: Int) -> References {
    let (count, first) = _extent(_starts[index])
    return References(_bytes + first, _referenceSize, count)
  }

  /// The keys of a dictionary, and its values in the same order.
  func entries(_ index: Int) -> References { members(index) }

  /// Returns the number of elements and the position of the first: the count is in the marker or follows it as an
  /// integer.
  private func _extent(_ start: Int) -> (count: Int, first: Int) {
    let low = Int(_bytes[start] & 0x0F)
    guard low == 15 else { return (low, start &+ 1) }
    let size = 1 << Int(_bytes[start &+ 1] & 0x0F)
    return (Int(truncatingIfNeeded: _bits(_bytes, start &+ 2, size)), start &+ 2 &+ size)
  }

  // MARK: Checks

  private func _check(reference index: Int) throws {
    guard UInt(bitPattern: index) < UInt(count) else {
      throw BinaryPlistError(reason: "refers to object \(index), which is not there")
    }
  }

  private func _check(object index: Int) throws {
    let start = _starts[index]
    guard start < size else { throw BinaryPlistError(reason: "ends too early") }
    let marker = _bytes[start]
    // A UID of one or two bytes: most objects.
    if marker | 1 == 0x81, start &+ 3 <= size { return }
    let low = Int(marker & 0x0F)
    switch marker >> 4 {
    case 0x0: return
    case 0x1:
      guard low <= 4 else { throw BinaryPlistError(reason: "an integer of 2^\(low) bytes") }
      try _check(1, of: 1 << low, at: start + 1)
    case 0x2:
      guard low == 2 || low == 3 else {
        throw BinaryPlistError(reason: "a floating-point number of 2^\(low) bytes")
      }
      try _check(1, of: 1 << low, at: start + 1)
    case 0x3: try _check(1, of: 8, at: start + 1)
    case 0x4, 0x5, 0x7: try _checkElements(of: start, width: 1)
    case 0x6: try _checkElements(of: start, width: 2)
    case 0x8:
      guard low < 8 else { throw BinaryPlistError(reason: "a UID of \(low + 1) bytes") }
      try _check(1, of: low + 1, at: start + 1)
      guard _bits(_bytes, start + 1, low + 1) <= UInt64(UInt32.max) else {
        throw BinaryPlistError(reason: "a UID that is too large")
      }
    case 0xA, 0xB, 0xC:
      try _checkElements(of: start, width: _referenceSize)
      let members = members(index)
      var position = 0
      while position < members.count {
        try _check(reference: members[position])
        position &+= 1
      }
    case 0xD:
      try _checkElements(of: start, width: 2 * _referenceSize)
      let entries = entries(index)
      var position = 0
      while position < entries.count {
        let (key, value) = (entries[position], entries[entries.count &+ position])
        try _check(reference: key)
        try _check(reference: value)
        // The key may be an object that is not checked yet.
        guard _starts[key] < size, _isString(_bytes[_starts[key]]) else {
          throw BinaryPlistError(reason: "a key that is no string")
        }
        position &+= 1
      }
    default: throw BinaryPlistError(reason: "a value of unknown kind \(marker)")
    }
  }

  private func _isString(_ marker: UInt8) -> Bool { marker >= 0x50 && marker < 0x80 }

  /// Checks the count that an object starts with, and that so many elements follow it.
  private func _checkElements(of start: Int, width: Int) throws {
    if _bytes[start] & 0x0F == 15 {
      try _check(1, of: 1, at: start + 1)
      let marker = _bytes[start + 1]
      guard marker >> 4 == 1, marker & 0x0F <= 3 else {
        throw BinaryPlistError(reason: "a count that is no integer")
      }
      let length = 1 << Int(marker & 0x0F)
      try _check(1, of: length, at: start + 2)
      let count = _bits(_bytes, start + 2, length)
      guard count <= UInt64(UInt32.max) else { throw BinaryPlistError(reason: "a size of \(count)") }
    }
    let (count, first) = _extent(start)
    try _check(count, of: width, at: first)
  }

  private func _check(_ count: Int, of width: Int, at first: Int) throws {
    guard first <= size, count <= (size - first) / width else {
      throw BinaryPlistError(reason: "a value reaches beyond the end")
    }
  }
}

/// Returns a big-endian unsigned number of at most eight bytes.
private func _bits(_ bytes: UnsafeMutablePointer<UInt8>, _ position: Int, _ size: Int) -> UInt64 {
  var bits: UInt64 = 0
  memcpy(&bits, bytes + position, size)
  return UInt64(bigEndian: bits) &>> UInt64(64 &- 8 &* size)
}
