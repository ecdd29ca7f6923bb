/// SHA-256 (FIPS 180-4), for version hashes: 32 bytes.
package typealias SHA256 = SHA2<UInt32>

/// SHA-512 (FIPS 180-4), for the digest over a model's version hashes: 64 bytes.
package typealias SHA512 = SHA2<UInt64>

/// The parameters of a hash of the SHA-2 family: its word type, with the constants.
package protocol SHA2Word: FixedWidthInteger, UnsignedInteger {
  /// The state before the first byte.
  static var initialState: [Self] { get }
  /// One for each round.
  static var roundConstants: [Self] { get }
  /// Rotations of the message schedule, the third of each row being a shift, and of the state.
  static var scheduleRotations: ((Self, Self, Self), (Self, Self, Self)) { get }
  static var stateRotations: ((Self, Self, Self), (Self, Self, Self)) { get }
}

/// A hash of the SHA-2 family, of whole messages.
package enum SHA2<Word: SHA2Word> {
  private static var _wordSize: Int { Word.bitWidth / 8 }
  private static var _blockSize: Int { 16 * _wordSize }
  /// Bytes of a hash.
  private static var _size: Int { 8 * _wordSize }

  /// The hash of a message.
  package static func hash(_ message: some Sequence<UInt8>) -> [UInt8] { hash(Array(message)) }

  /// The hash of a message.
  package static func hash(_ message: [UInt8]) -> [UInt8] {
    Array(unsafeUninitializedCapacity: _size) { hash, count in
      message.withUnsafeBytes { _hash($0, to: UnsafeMutableRawBufferPointer(hash)) }
      count = _size
    }
  }

  /// Replaces a message by its hash, in its own memory.
  static func replace(_ message: inout [UInt8]) {
    withUnsafeTemporaryAllocation(byteCount: _size, alignment: 8) { hash in
      message.withUnsafeBytes { _hash($0, to: hash) }
      message.removeAll(keepingCapacity: true)
      message += UnsafeRawBufferPointer(hash)
    }
  }

  private static func _hash(_ message: UnsafeRawBufferPointer, to hash: UnsafeMutableRawBufferPointer) {
    let wordCount = Word.roundConstants.count
    withUnsafeTemporaryAllocation(of: Word.self, capacity: wordCount + 8) { words in
      let schedule = UnsafeMutableBufferPointer(rebasing: words[..<wordCount])
      let state = UnsafeMutableBufferPointer(rebasing: words[wordCount...])
      for i in 0..<8 { state[i] = Word.initialState[i] }
      let end = message.count - message.count % _blockSize
      for offset in stride(from: 0, to: end, by: _blockSize) { _mix(message, offset, schedule, state) }
      _mixTail(message, from: end, schedule, state)
      for i in 0..<8 { hash.storeBytes(of: state[i].bigEndian, toByteOffset: i * _wordSize, as: Word.self) }
    }
  }

  /// Mixes in the final blocks: the rest of the message, a one bit, zeros, and the length in bits.
  private static func _mixTail(
    _ message: UnsafeRawBufferPointer, from start: Int, _ schedule: UnsafeMutableBufferPointer<Word>,
    _ state: UnsafeMutableBufferPointer<Word>
  ) {
    let rest = message.count - start
    // The length field has two words, of which all but the lower 64 bits are zero for any message that fits
    // in memory.
    let size = rest + 1 + 2 * _wordSize > _blockSize ? 2 * _blockSize : _blockSize
    withUnsafeTemporaryAllocation(byteCount: size, alignment: 8) { tail in
      tail.initializeMemory(as: UInt8.self, repeating: 0)
      if rest > 0 { tail.copyMemory(from: UnsafeRawBufferPointer(rebasing: message[start...])) }
      tail[rest] = 0x80
      tail.storeBytes(of: (UInt64(message.count) &* 8).bigEndian, toByteOffset: size - 8, as: UInt64.self)
      for offset in stride(from: 0, to: size, by: _blockSize) {
        _mix(UnsafeRawBufferPointer(tail), offset, schedule, state)
      }
    }
  }

  /// Mixes the block at an offset into the state.
  private static func _mix(
    _ message: UnsafeRawBufferPointer, _ offset: Int, _ w: UnsafeMutableBufferPointer<Word>,
    _ state: UnsafeMutableBufferPointer<Word>
  ) {
    for i in 0..<16 {
      w[i] = Word(bigEndian: message.loadUnaligned(fromByteOffset: offset + i * _wordSize, as: Word.self))
    }
    let constants = Word.roundConstants.span
    let (first, second) = Word.scheduleRotations
    let (upper, lower) = Word.stateRotations
    for i in 16..<constants.count {
      let (a, b) = (w[i - 15], w[i - 2])
      let s0 = _rotate(a, first.0) ^ _rotate(a, first.1) ^ (a &>> first.2)
      let s1 = _rotate(b, second.0) ^ _rotate(b, second.1) ^ (b &>> second.2)
      w[i] = w[i - 16] &+ s0 &+ w[i - 7] &+ s1
    }
    var (a, b, c, d) = (state[0], state[1], state[2], state[3])
    var (e, f, g, h) = (state[4], state[5], state[6], state[7])
    for i in constants.indices {
      let s1 = _rotate(e, lower.0) ^ _rotate(e, lower.1) ^ _rotate(e, lower.2)
      let t1 = h &+ s1 &+ ((e & f) ^ (~e & g)) &+ constants[i] &+ w[i]
      let s0 = _rotate(a, upper.0) ^ _rotate(a, upper.1) ^ _rotate(a, upper.2)
      let t2 = s0 &+ ((a & b) ^ (a & c) ^ (b & c))
      (h, g, f, e, d, c, b, a) = (g, f, e, d &+ t1, c, b, a, t1 &+ t2)
    }
    state[0] &+= a
    state[1] &+= b
    state[2] &+= c
    state[3] &+= d
    state[4] &+= e
    state[5] &+= f
    state[6] &+= g
    state[7] &+= h
  }

  private static func _rotate(_ word: Word, _ count: Word) -> Word {
    word &>> count | word &<< (Word(Word.bitWidth) &- count)
  }
}
