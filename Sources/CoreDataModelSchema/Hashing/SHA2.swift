/// SHA-256 (FIPS 180-4), for version hashes: 32 bytes.
package typealias SHA256 = SHA2<UInt32>

/// SHA-512 (FIPS 180-4), for the digest over a model's version hashes: 64 bytes.
package typealias SHA512 = SHA2<UInt64>

/// The parameters of a hash of the SHA-2 family: its word type, with the constants.
package protocol SHA2Word: FixedWidthInteger, UnsignedInteger {
  /// One for each round.
  static var roundConstants: [Self] { get }
  /// Sets the state before the first byte.
  static func begin(_ state: UnsafeMutablePointer<Self>)
  /// Mixes a block into the state. Its sixteen big-endian words begin the schedule, which has room for one word
  /// a round.
  static func mix(
    _ schedule: UnsafeMutablePointer<Self>, _ constants: UnsafePointer<Self>,
    into state: UnsafeMutablePointer<Self>)
  /// Turns the state into the bytes of the hash, in place.
  static func end(_ state: UnsafeMutablePointer<Self>)
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
    let constants = Word.roundConstants
    withUnsafeTemporaryAllocation(of: Word.self, capacity: constants.count + 8) { words in
      constants.withUnsafeBufferPointer { constants in
        let schedule = words.baseAddress!
        let state = schedule + constants.count
        Word.begin(state)
        let mixer = Mixer(schedule: schedule, constants: constants.baseAddress!, state: state)
        let end = message.count - message.count % _blockSize
        if end > 0, let first = message.baseAddress {
          var offset = 0
          while offset < end {
            mixer.mix(first + offset)
            offset += _blockSize
          }
        }
        _mixTail(message, from: end, mixer)
        Word.end(state)
        hash.copyMemory(from: UnsafeRawBufferPointer(start: state, count: _size))
      }
    }
  }

  /// Mixes in the final blocks: the rest of the message, a one bit, zeros, and the length in bits.
  private static func _mixTail(_ message: UnsafeRawBufferPointer, from start: Int, _ mixer: Mixer) {
    let rest = message.count - start
    // The length field has two words, of which all but the lower 64 bits are zero for any message that fits
    // in memory.
    let size = rest + 1 + 2 * _wordSize > _blockSize ? 2 * _blockSize : _blockSize
    withUnsafeTemporaryAllocation(byteCount: size, alignment: 8) { tail in
      let bytes = tail.baseAddress!
      bytes.initializeMemory(as: UInt64.self, repeating: 0, count: size / 8)
      if rest > 0, let first = message.baseAddress { bytes.copyMemory(from: first + start, byteCount: rest) }
      bytes.storeBytes(of: 0x80, toByteOffset: rest, as: UInt8.self)
      bytes.storeBytes(
        of: (UInt64(message.count) &* 8).bigEndian, toByteOffset: size - 8, as: UInt64.self)
      mixer.mix(bytes)
      if size > _blockSize { mixer.mix(bytes + _blockSize) }
    }
  }

  /// The memory in which blocks are mixed.
  private struct Mixer {
    let schedule: UnsafeMutablePointer<Word>
    let constants: UnsafePointer<Word>
    let state: UnsafeMutablePointer<Word>

    /// Mixes a block into the state.
    func mix(_ block: UnsafeRawPointer) {
      UnsafeMutableRawPointer(schedule).copyMemory(from: block, byteCount: SHA2._blockSize)
      Word.mix(schedule, constants, into: state)
    }
  }
}
