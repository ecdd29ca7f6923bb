/// The bytes that a version hash is of, in memory that is used again for the next one.
///
/// Not an array: a model has thousands of properties, and a debug build appends to arrays through unspecialized code.
struct HashMessage: ~Copyable {
  /// A SHA-256 hash, as its bytes lie in memory.
  struct Digest {
    let words: (UInt64, UInt64, UInt64, UInt64)

    var bytes: [UInt8] { withUnsafeBytes(of: words) { [UInt8]($0) } }
  }

  private var _bytes: UnsafeMutableRawPointer
  private var _capacity = 4096
  private var _count = 0

  init() { _bytes = .allocate(byteCount: _capacity, alignment: 8) }

  deinit { _bytes.deallocate() }

  mutating func removeAll() { _count = 0 }

  mutating func append(_ byte: UInt8) {
    _reserve(1)
    _bytes.storeBytes(of: byte, toByteOffset: _count, as: UInt8.self)
    _count += 1
  }

  mutating func append(_ number: Int32) {
    _reserve(4)
    _bytes.storeBytes(of: number.littleEndian, toByteOffset: _count, as: Int32.self)
    _count += 4
  }

  mutating func append(_ text: String) {
    var text = text
    let count = text.utf8.count
    _reserve(count)
    let end = _bytes + _count
    text.withUTF8 { bytes in
      if let first = bytes.baseAddress { end.copyMemory(from: first, byteCount: count) }
    }
    _count += count
  }

  mutating func append(_ digest: Digest) {
    _reserve(32)
    _bytes.storeBytes(of: digest.words.0, toByteOffset: _count, as: UInt64.self)
    _bytes.storeBytes(of: digest.words.1, toByteOffset: _count + 8, as: UInt64.self)
    _bytes.storeBytes(of: digest.words.2, toByteOffset: _count + 16, as: UInt64.self)
    _bytes.storeBytes(of: digest.words.3, toByteOffset: _count + 24, as: UInt64.self)
    _count += 32
  }

  /// Replaces the message by its hash.
  mutating func hash() {
    SHA2.sha256.hash(UnsafeRawBufferPointer(start: _bytes, count: _count), to: _bytes)
    _count = 32
  }

  /// The hash that has replaced the message.
  var digest: Digest { Digest(words: _bytes.load(as: (UInt64, UInt64, UInt64, UInt64).self)) }

  private mutating func _reserve(_ count: Int) {
    guard _count + count > _capacity else { return }
    let capacity = 2 * (_count + count)
    let bytes = UnsafeMutableRawPointer.allocate(byteCount: capacity, alignment: 8)
    bytes.copyMemory(from: _bytes, byteCount: _count)
    _bytes.deallocate()
    (_bytes, _capacity) = (bytes, capacity)
  }
}
