/// SHA-256 (FIPS 180-4), for version hashes: 32 bytes.
package typealias SHA256 = SHA2<UInt32>

/// SHA-512 (FIPS 180-4), for the digest over a model's version hashes: 64 bytes.
package typealias SHA512 = SHA2<UInt64>

/// The parameters of a hash of the SHA-2 family: its word type, with the constants.
package protocol SHA2Word: FixedWidthInteger, UnsignedInteger {
  static var roundCount: Int { get }
  /// One for each round.
  static var roundConstants: UnsafePointer<Self> { get }
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
  /// The hash of a message.
  package static func hash(_ message: some Sequence<UInt8>) -> [UInt8] { hash(Array(message)) }

  /// The hash of a message.
  package static func hash(_ message: [UInt8]) -> [UInt8] {
    var message = message
    replace(&message)
    return message
  }

  // A debug build pays for each closure and each generic property as much as for a round: there are few of them.

  /// Replaces a message by its hash, in its own memory.
  static func replace(_ message: inout [UInt8]) {
    let wordSize = Word.bitWidth / 8
    // The schedule, the state, and the last two blocks.
    let wordCount = Word.roundCount + 8 + 2 * 16
    withUnsafeTemporaryAllocation(byteCount: wordCount * wordSize, alignment: 8) { memory in
      let schedule = memory.baseAddress!
      let state = schedule + Word.roundCount * wordSize
      message.withUnsafeBytes { _mix($0, schedule, state, wordSize) }
      message.removeAll(keepingCapacity: true)
      message += UnsafeRawBufferPointer(start: state, count: 8 * wordSize)
    }
  }

  private static func _mix(
    _ message: UnsafeRawBufferPointer, _ schedule: UnsafeMutableRawPointer, _ state: UnsafeMutableRawPointer,
    _ wordSize: Int
  ) {
    let blockSize = 16 * wordSize
    let words = schedule.assumingMemoryBound(to: Word.self)
    let result = state.assumingMemoryBound(to: Word.self)
    let constants = Word.roundConstants
    func mix(_ block: UnsafeRawPointer) {
      schedule.copyMemory(from: block, byteCount: blockSize)
      Word.mix(words, constants, into: result)
    }
    Word.begin(result)
    let rest = message.count % blockSize
    let tail = state + 8 * wordSize
    if let first = message.baseAddress {
      let end = message.count - rest
      var offset = 0
      while offset < end {
        mix(first + offset)
        offset += blockSize
      }
      tail.copyMemory(from: first + end, byteCount: rest)
    }
    // The rest of the message is followed by a one bit, zeros, and the length in bits. It has two words, of which all but the
    // lower 64 bits are zero for any message that fits in memory.
    let size = rest + 1 + 2 * wordSize > blockSize ? 2 * blockSize : blockSize
    (tail + rest).initializeMemory(as: UInt8.self, repeating: 0, count: size - rest)
    tail.storeBytes(of: 0x80, toByteOffset: rest, as: UInt8.self)
    tail.storeBytes(of: (UInt64(message.count) &* 8).bigEndian, toByteOffset: size - 8, as: UInt64.self)
    mix(tail)
    if size > blockSize { mix(tail + blockSize) }
    Word.end(result)
  }

  /// Words in memory that is never released.
  static func permanent(_ words: [Word]) -> UnsafePointer<Word> {
    let place = UnsafeMutablePointer<Word>.allocate(capacity: words.count)
    place.initialize(from: words, count: words.count)
    return UnsafePointer(place)
  }
}
