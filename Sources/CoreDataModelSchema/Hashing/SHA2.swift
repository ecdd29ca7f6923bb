/// SHA-256 (FIPS 180-4), for version hashes: 32 bytes.
package typealias SHA256 = SHA2<UInt32>

/// SHA-512 (FIPS 180-4), for the digest over a model's version hashes: 64 bytes.
package typealias SHA512 = SHA2<UInt64>

/// What the hashes of the SHA-2 family differ in: the word they work on, with its constants.
package protocol SHA2Word: FixedWidthInteger, UnsignedInteger {
  /// The state before the first byte.
  static var initialState: [Self] { get }
  /// One for each round.
  static var roundConstants: [Self] { get }
  /// Rotations of the message schedule, the third of each row being a shift, and of the state.
  static var scheduleRotations: ((Self, Self, Self), (Self, Self, Self)) { get }
  static var stateRotations: ((Self, Self, Self), (Self, Self, Self)) { get }
}

/// A hash of the SHA-2 family; messages are short, so it takes them whole or in parts.
package struct SHA2<Word: SHA2Word> {
  private var _state = Word.initialState
  private var _pending: [UInt8] = []
  private var _length: UInt64 = 0

  private static var _wordSize: Int { Word.bitWidth / 8 }
  private static var _blockSize: Int { 16 * _wordSize }

  package init() { _pending.reserveCapacity(Self._blockSize) }

  /// The hash of a whole message.
  package static func hash(_ message: some Sequence<UInt8>) -> [UInt8] {
    var hasher = Self()
    hasher.update(message)
    return hasher.finalize()
  }

  /// The hash of a whole message.
  package static func hash(_ message: [UInt8]) -> [UInt8] {
    var hasher = Self()
    hasher.update(message)
    return hasher.finalize()
  }

  /// Adds bytes to the message.
  package mutating func update(_ bytes: some Sequence<UInt8>) {
    for byte in bytes {
      _pending.append(byte)
      _length &+= 1
      if _pending.count == Self._blockSize { _compress() }
    }
  }

  /// Adds bytes to the message, whole blocks at once.
  package mutating func update(_ bytes: [UInt8]) {
    _length &+= UInt64(bytes.count)
    var rest = bytes[...]
    while _pending.count + rest.count >= Self._blockSize {
      let part = rest.prefix(Self._blockSize - _pending.count)
      _pending += part
      rest = rest.dropFirst(part.count)
      _compress()
    }
    _pending += rest
  }

  /// Ends the message and returns its hash.
  package mutating func finalize() -> [UInt8] {
    let bits = _length &* 8
    _pending.append(0x80)
    if _pending.count == Self._blockSize { _compress() }
    // The length takes two words, of which all but the lower 64 bits are zero for any message that fits in
    // memory.
    if _pending.count > Self._blockSize - 2 * Self._wordSize {
      _pending += repeatElement(0, count: Self._blockSize - _pending.count)
      _compress()
    }
    _pending += repeatElement(0, count: Self._blockSize - 8 - _pending.count)
    for shift in stride(from: 56, through: 0, by: -8) {
      _pending.append(UInt8(truncatingIfNeeded: bits >> UInt64(shift)))
    }
    _compress()
    var result: [UInt8] = []
    result.reserveCapacity(8 * Self._wordSize)
    for word in _state { withUnsafeBytes(of: word.bigEndian) { result += $0 } }
    return result
  }

  private mutating func _compress() {
    withUnsafeTemporaryAllocation(of: Word.self, capacity: Word.roundConstants.count) { w in
      _pending.withUnsafeBytes { bytes in
        for i in 0..<16 {
          w[i] = Word(bigEndian: bytes.loadUnaligned(fromByteOffset: i * Self._wordSize, as: Word.self))
        }
      }
      _mix(w)
    }
    _pending.removeAll(keepingCapacity: true)
  }

  /// Mixes a block, whose words begin the schedule, into the state.
  private mutating func _mix(_ w: UnsafeMutableBufferPointer<Word>) {
    let constants = Word.roundConstants
    let (first, second) = Word.scheduleRotations
    let (upper, lower) = Word.stateRotations
    for i in 16..<constants.count {
      let (a, b) = (w[i - 15], w[i - 2])
      let s0 = Self._rotate(a, first.0) ^ Self._rotate(a, first.1) ^ (a >> first.2)
      let s1 = Self._rotate(b, second.0) ^ Self._rotate(b, second.1) ^ (b >> second.2)
      w[i] = w[i - 16] &+ s0 &+ w[i - 7] &+ s1
    }
    var (a, b, c, d) = (_state[0], _state[1], _state[2], _state[3])
    var (e, f, g, h) = (_state[4], _state[5], _state[6], _state[7])
    for i in constants.indices {
      let s1 = Self._rotate(e, lower.0) ^ Self._rotate(e, lower.1) ^ Self._rotate(e, lower.2)
      let t1 = h &+ s1 &+ ((e & f) ^ (~e & g)) &+ constants[i] &+ w[i]
      let s0 = Self._rotate(a, upper.0) ^ Self._rotate(a, upper.1) ^ Self._rotate(a, upper.2)
      let t2 = s0 &+ ((a & b) ^ (a & c) ^ (b & c))
      (h, g, f, e, d, c, b, a) = (g, f, e, d &+ t1, c, b, a, t1 &+ t2)
    }
    _state.withUnsafeMutableBufferPointer { state in
      state[0] &+= a
      state[1] &+= b
      state[2] &+= c
      state[3] &+= d
      state[4] &+= e
      state[5] &+= f
      state[6] &+= g
      state[7] &+= h
    }
  }

  private static func _rotate(_ word: Word, _ count: Word) -> Word {
    word >> count | word << (Word(Word.bitWidth) - count)
  }
}
