/// The compiler's side of the plugin protocol as bytes: each message is 8 bytes of little-endian length, then as many
/// bytes of JSON.
package struct MessageChannel {
  /// Maximum length of a message. The longest real ones hold the source of one class.
  package static let lengthLimit = 64 << 20

  /// Fills a part of the buffer and returns how many bytes it wrote; 0 at the end.
  package typealias Reading = (UnsafeMutableRawBufferPointer) throws -> Int
  /// Writes a part of the buffer and returns the number of bytes written.
  package typealias Writing = (UnsafeRawBufferPointer) throws -> Int

  private let _read: Reading
  private let _write: Writing

  package init(read: @escaping Reading, write: @escaping Writing) {
    _read = read
    _write = write
  }

  /// The bytes are not a valid sequence of messages.
  package enum Failure: Error, Equatable, CustomStringConvertible {
    case truncated(expected: Int, found: Int)
    case tooLong(UInt64)
    case closed

    package var description: String {
      switch self {
      case .truncated(let expected, let found):
        "the compiler announced a message of \(expected) bytes, and its input ended after \(found)"
      case .tooLong(let length):
        "the compiler announced a message of \(length) bytes; the limit is \(MessageChannel.lengthLimit)"
      case .closed: "the compiler stopped reading answers"
      }
    }
  }

  /// The next message; nil at the end, which the compiler signals with a length of zero or by closing its
  /// side.
  ///
  /// - Throws: `Failure`, or an error of reading.
  package func next() throws -> [UInt8]? {
    let header = try _bytes(8)
    if header.isEmpty { return nil }
    guard header.count == 8 else { throw Failure.truncated(expected: 8, found: header.count) }
    let length = header.reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
    if length == 0 { return nil }
    guard length <= UInt64(Self.lengthLimit) else { throw Failure.tooLong(length) }
    let message = try _bytes(Int(length))
    guard message.count == Int(length) else {
      throw Failure.truncated(expected: Int(length), found: message.count)
    }
    return message
  }

  /// Sends a message.
  ///
  /// - Throws: `Failure`, or an error of writing.
  package func send(_ message: [UInt8]) throws {
    let length = UInt64(message.count)
    let bytes = (0..<8).map { UInt8(truncatingIfNeeded: length >> (8 * $0)) } + message
    try bytes.withUnsafeBytes { buffer in
      var sent = 0
      while sent < buffer.count {
        let count = try _write(UnsafeRawBufferPointer(rebasing: buffer[sent...]))
        guard count > 0 else { throw Failure.closed }
        sent += count
      }
    }
  }

  /// Reads `count` bytes, fewer at the end of input. Memory grows with received bytes, not with the announced
  /// length.
  private func _bytes(_ count: Int) throws -> [UInt8] {
    var bytes: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: min(count, 1 << 16))
    while bytes.count < count {
      let wanted = min(chunk.count, count - bytes.count)
      let read = try chunk.withUnsafeMutableBytes { buffer in
        try _read(UnsafeMutableRawBufferPointer(rebasing: buffer[..<wanted]))
      }
      guard read > 0 else { break }
      bytes += chunk[..<read]
    }
    return bytes
  }
}
