import Foundation

/// Unpacks raw DEFLATE data (RFC 1951), the form in which a store keeps its model.
///
/// The data may come from anywhere: whatever it holds, unpacking ends with an answer or an error, and never makes more
/// than it was allowed to.
struct Inflate {
  /// Data that is no DEFLATE stream, or one that unpacks to too much.
  struct Failure: Error {
    let reason: String
  }

  /// The data unpacked, of at most `limit` bytes.
  static func unpack(_ data: Data, limit: Int) throws(Failure) -> Data {
    var inflate = Inflate(_input: [UInt8](data), _limit: limit)
    return Data(try inflate._unpack())
  }

  private let _input: [UInt8]
  private let _limit: Int
  private var _position = 0
  /// Bits taken from the input and not used yet, the next one lowest.
  private var _bits: UInt32 = 0
  private var _bitCount = 0
  private var _output: [UInt8] = []

  private init(_input: [UInt8], _limit: Int) {
    self._input = _input
    self._limit = _limit
  }

  private mutating func _unpack() throws(Failure) -> [UInt8] {
    var isLast = false
    while !isLast {
      isLast = try _take(1) == 1
      switch try _take(2) {
      case 0: try _copyStored()
      case 1: try _decode(Self._fixedLiterals, Self._fixedDistances)
      case 2:
        let (literals, distances) = try _readTables()
        try _decode(literals, distances)
      default: throw Failure(reason: "a block of an unknown kind")
      }
    }
    return _output
  }

  // MARK: Bits

  private mutating func _take(_ count: Int) throws(Failure) -> Int {
    while _bitCount < count {
      guard _position < _input.count else { throw Failure(reason: "it ends in the middle") }
      _bits |= UInt32(_input[_position]) << UInt32(_bitCount)
      _position += 1
      _bitCount += 8
    }
    let value = _bits & ((1 << UInt32(count)) - 1)
    _bits >>= UInt32(count)
    _bitCount -= count
    return Int(value)
  }

  private mutating func _append(_ byte: UInt8) throws(Failure) {
    guard _output.count < _limit else { throw Failure(reason: "it unpacks to more than \(_limit) bytes") }
    _output.append(byte)
  }

  // MARK: Blocks

  private mutating func _copyStored() throws(Failure) {
    // Stored bytes begin at a whole byte.
    _bits = 0
    _bitCount = 0
    let length = try _take(8) | _take(8) << 8
    let check = try _take(8) | _take(8) << 8
    guard length == ~check & 0xFFFF else { throw Failure(reason: "a stored block's length is damaged") }
    guard _position + length <= _input.count else { throw Failure(reason: "it ends in the middle") }
    for byte in _input[_position..<_position + length] { try _append(byte) }
    _position += length
  }

  private mutating func _decode(_ literals: Table, _ distances: Table) throws(Failure) {
    while true {
      let symbol = try _symbol(literals)
      if symbol < 256 {
        try _append(UInt8(symbol))
        continue
      }
      if symbol == 256 { return }
      guard symbol - 257 < Self._lengths.count else { throw Failure(reason: "a length that does not exist") }
      let (base, extra) = Self._lengths[symbol - 257]
      let length = try base + _take(extra)
      let code = try _symbol(distances)
      guard code < Self._distances.count else { throw Failure(reason: "a distance that does not exist") }
      let (near, more) = Self._distances[code]
      let distance = try near + _take(more)
      guard distance <= _output.count else { throw Failure(reason: "a distance that leads before the beginning") }
      for _ in 0..<length { try _append(_output[_output.count - distance]) }
    }
  }

  private mutating func _readTables() throws(Failure) -> (literals: Table, distances: Table) {
    let (literalCount, distanceCount, count) = (try _take(5) + 257, try _take(5) + 1, try _take(4) + 4)
    var lengths = [Int](repeating: 0, count: 19)
    for index in 0..<count { lengths[Self._order[index]] = try _take(3) }
    let codes = try Table(lengths)
    lengths = []
    while lengths.count < literalCount + distanceCount {
      let symbol = try _symbol(codes)
      switch symbol {
      case 0..<16: lengths.append(symbol)
      case 16:
        guard let last = lengths.last else { throw Failure(reason: "a repetition of nothing") }
        lengths += Array(repeating: last, count: 3 + (try _take(2)))
      case 17: lengths += Array(repeating: 0, count: 3 + (try _take(3)))
      default: lengths += Array(repeating: 0, count: 11 + (try _take(7)))
      }
    }
    guard lengths.count == literalCount + distanceCount else { throw Failure(reason: "too many code lengths") }
    return (try Table(Array(lengths[..<literalCount])), try Table(Array(lengths[literalCount...])))
  }

  // MARK: Codes

  /// A canonical Huffman code.
  private struct Table {
    /// Number of codes of each length.
    let counts: [Int]
    /// Symbols in the order of their codes.
    let symbols: [Int]

    init(_ lengths: [Int]) throws(Failure) {
      var counts = [Int](repeating: 0, count: 16)
      for length in lengths where length > 0 { counts[length] += 1 }
      var left = 1
      for length in 1..<16 {
        left = left * 2 - counts[length]
        guard left >= 0 else { throw Failure(reason: "a code with more words than there can be") }
      }
      self.counts = counts
      symbols = lengths.indices.filter { lengths[$0] > 0 }.sorted {
        lengths[$0] == lengths[$1] ? $0 < $1 : lengths[$0] < lengths[$1]
      }
    }

    init(fixed lengths: [Int]) {
      guard let table = try? Table(lengths) else { preconditionFailure("the fixed codes are complete") }
      self = table
    }
  }

  private mutating func _symbol(_ table: Table) throws(Failure) -> Int {
    var (code, first, index) = (0, 0, 0)
    for length in 1..<16 {
      code |= try _take(1)
      let count = table.counts[length]
      if code - count < first { return table.symbols[index + (code - first)] }
      index += count
      first = (first + count) << 1
      code <<= 1
    }
    throw Failure(reason: "a word that is in no code")
  }

  private static let _fixedLiterals = Table(
    fixed: (0..<288).map { $0 < 144 ? 8 : $0 < 256 ? 9 : $0 < 280 ? 7 : 8 })
  private static let _fixedDistances = Table(fixed: Array(repeating: 5, count: 30))

  private static let _order = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15]

  /// Shortest length and number of bits to add, for each code from 257.
  private static let _lengths: [(Int, Int)] = {
    var (table, base): ([(Int, Int)], Int) = ([], 3)
    for code in 0..<28 {
      let extra = code < 8 ? 0 : code / 4 - 1
      table.append((base, extra))
      base += 1 << extra
    }
    return table + [(258, 0)]
  }()

  private static let _distances: [(Int, Int)] = {
    var (table, base): ([(Int, Int)], Int) = ([], 1)
    for code in 0..<30 {
      let extra = code < 4 ? 0 : code / 2 - 1
      table.append((base, extra))
      base += 1 << extra
    }
    return table
  }()
}
