import CoreDataCZlib

/// Packs and unpacks raw DEFLATE: the compression alone, without header or checksum.
package enum RawDeflate {
  /// The bytes are not raw DEFLATE, or expand to more than the limit.
  package struct Failure: Error, Sendable, CustomStringConvertible {
    package let description: String
  }

  private static let _chunk = 64 * 1024

  /// Packs bytes.
  package static func pack(_ bytes: [UInt8]) throws -> [UInt8] {
    var stream = z_stream()
    guard coredata_deflate_raw_begin(&stream) == Z_OK else {
      throw Failure(description: "no memory to compress")
    }
    defer { deflateEnd(&stream) }
    return try _run(&stream, over: bytes, limit: .max) { deflate(&$0, Z_FINISH) }
  }

  /// Decompresses bytes.
  ///
  /// - Parameter limit: Maximum size of the output: a few bytes can expand to any size.
  /// - Throws: `Failure` if the input is damaged, truncated or expands to more than `limit`.
  package static func unpack(_ bytes: [UInt8], limit: Int) throws -> [UInt8] {
    var stream = z_stream()
    guard coredata_inflate_raw_begin(&stream) == Z_OK else {
      throw Failure(description: "no memory to decompress")
    }
    defer { inflateEnd(&stream) }
    return try _run(&stream, over: bytes, limit: limit) { inflate(&$0, Z_NO_FLUSH) }
  }

  private static func _run(
    _ stream: inout z_stream, over bytes: [UInt8], limit: Int, _ step: (inout z_stream) -> Int32
  ) throws -> [UInt8] {
    guard bytes.count <= Int(UInt32.max) else {
      throw Failure(description: "\(bytes.count) bytes is too much")
    }
    var input = bytes
    var chunk = [UInt8](repeating: 0, count: _chunk)
    var result: [UInt8] = []
    try input.withUnsafeMutableBufferPointer { source in
      stream.next_in = source.baseAddress
      stream.avail_in = UInt32(source.count)
      while true {
        let (status, count) = chunk.withUnsafeMutableBufferPointer { target in
          stream.next_out = target.baseAddress
          stream.avail_out = UInt32(target.count)
          let status = step(&stream)
          return (status, target.count - Int(stream.avail_out))
        }
        guard result.count <= limit - count else {
          throw Failure(description: "unpacks to more than \(limit) bytes")
        }
        result += chunk[..<count]
        if status == Z_STREAM_END { return }
        guard status == Z_OK else {
          throw Failure(description: status == Z_BUF_ERROR ? "ends too early" : "is damaged")
        }
      }
    }
    return result
  }
}
