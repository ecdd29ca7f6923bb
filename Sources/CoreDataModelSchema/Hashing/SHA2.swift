/// SHA-256 (FIPS 180-4), for version hashes: 32 bytes.
package enum SHA256 {
  /// The hash of a message.
  package static func hash(_ message: some Sequence<UInt8>) -> [UInt8] { SHA2.sha256.hash(Array(message)) }
}

/// SHA-512 (FIPS 180-4), for the digest over a model's version hashes: 64 bytes.
package enum SHA512 {
  /// The hash of a message.
  package static func hash(_ message: some Sequence<UInt8>) -> [UInt8] { SHA2.sha512.hash(Array(message)) }
}

/// A hash of the SHA-2 family, of whole messages.
///
/// It works on bytes, and is not generic over the words: a debug build does not specialize, and hashing models is much of what a
/// suite of migration tests does.
struct SHA2: Sendable {
  static let sha256 = SHA2(
    wordSize: 4, roundCount: 64, begin: SHA256Words.begin, mix: SHA256Words.mix, end: SHA256Words.end)
  static let sha512 = SHA2(
    wordSize: 8, roundCount: 80, begin: SHA512Words.begin, mix: SHA512Words.mix, end: SHA512Words.end)

  /// Bytes of a word.
  let wordSize: Int
  let roundCount: Int
  /// Sets the state, of eight words, before the first block.
  let begin: @Sendable (_ state: UnsafeMutableRawPointer) -> Void
  /// Mixes a block into the state. Its sixteen big-endian words begin the schedule, which has room for one word a round.
  let mix: @Sendable (_ schedule: UnsafeMutableRawPointer, _ state: UnsafeMutableRawPointer) -> Void
  /// Turns the state into the bytes of the hash, in place.
  let end: @Sendable (_ state: UnsafeMutableRawPointer) -> Void

  func hash(_ message: [UInt8]) -> [UInt8] {
    Array(unsafeUninitializedCapacity: 8 * wordSize) { buffer, count in
      message.withUnsafeBytes { hash($0, to: UnsafeMutableRawPointer(buffer.baseAddress!)) }
      count = 8 * wordSize
    }
  }

  /// Writes the hash of a message to a place, which may be the message's.
  func hash(_ message: UnsafeRawBufferPointer, to place: UnsafeMutableRawPointer) {
    // The schedule, the state, and the last two blocks.
    let wordCount = roundCount + 8 + 2 * 16
    withUnsafeTemporaryAllocation(byteCount: wordCount * wordSize, alignment: 8) { memory in
      let schedule = memory.baseAddress!
      let state = schedule + roundCount * wordSize
      _mix(message, schedule, state)
      place.copyMemory(from: state, byteCount: 8 * wordSize)
    }
  }

  private func _mix(
    _ message: UnsafeRawBufferPointer, _ schedule: UnsafeMutableRawPointer, _ state: UnsafeMutableRawPointer
  ) {
    let blockSize = 16 * wordSize
    begin(state)
    let rest = message.count % blockSize
    let tail = state + 8 * wordSize
    if let first = message.baseAddress {
      let end = message.count - rest
      var offset = 0
      while offset < end {
        schedule.copyMemory(from: first + offset, byteCount: blockSize)
        mix(schedule, state)
        offset += blockSize
      }
      tail.copyMemory(from: first + end, byteCount: rest)
    }
    // The rest of the message is followed by a one bit, zeros, and the length in bits. It has two words, of which all but the
    // lower 64 bits are zero for any message that fits in memory.
    let size = rest + 1 + 2 * wordSize > blockSize ? 2 * blockSize : blockSize
    (tail + rest).copyMemory(from: Self._zeros, byteCount: size - rest)
    tail.storeBytes(of: 0x80, toByteOffset: rest, as: UInt8.self)
    tail.storeBytes(of: (UInt64(message.count) &* 8).bigEndian, toByteOffset: size - 8, as: UInt64.self)
    schedule.copyMemory(from: tail, byteCount: blockSize)
    mix(schedule, state)
    if size > blockSize {
      schedule.copyMemory(from: tail + blockSize, byteCount: blockSize)
      mix(schedule, state)
    }
    end(state)
  }

  /// As many as two blocks have bytes.
  private nonisolated(unsafe) static let _zeros = UnsafeRawPointer(
    permanent(Array(repeating: UInt64(0), count: 32)))

  /// Words in memory that is never written again, and never released.
  static func permanent<Word>(_ words: [Word]) -> UnsafePointer<Word> {
    let place = UnsafeMutablePointer<Word>.allocate(capacity: words.count)
    place.initialize(from: words, count: words.count)
    return UnsafePointer(place)
  }
}
