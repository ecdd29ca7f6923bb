/// Finds the slot of a property by its name.
///
/// Compares the bytes of names, a few machine words each, where a dictionary computes a keyed hash of the text. A name
/// in another normalization than the model's is found by the dictionary.
struct SlotNames: Sendable {
  private struct Entry: Sendable {
    var digest = Digest()
    /// Position in `_bytes` of the bytes of a name that its digest does not contain.
    var start = 0
    /// -1 if the place is free.
    var slot = -1
  }

  /// Length, first and last bytes of a name: all of it, up to 16 bytes.
  private struct Digest: Sendable, Equatable {
    var count = 0
    var first: UInt64 = 0
    var last: UInt64 = 0

    init() {}

    @inline(__always) init(_ name: UnsafeBufferPointer<UInt8>) {
      let bytes = UnsafeRawBufferPointer(name)
      count = bytes.count
      if count >= 8 {
        first = bytes.loadUnaligned(fromByteOffset: 0, as: UInt64.self)
        last = bytes.loadUnaligned(fromByteOffset: count - 8, as: UInt64.self)
      } else if count >= 4 {
        first = UInt64(bytes.loadUnaligned(fromByteOffset: 0, as: UInt32.self))
        last = UInt64(bytes.loadUnaligned(fromByteOffset: count - 4, as: UInt32.self))
      } else {
        for byte in bytes { first = first << 8 | UInt64(byte) }
      }
    }

    /// Whether the digest contains the whole name.
    @inline(__always) var isWhole: Bool { count <= 16 }

    @inline(__always) var hash: UInt64 {
      let mixed =
        (first ^ (last &<< 29 | last &>> 35) ^ UInt64(truncatingIfNeeded: count)) &* 0x9E37_79B9_7F4A_7C15
      return mixed ^ (mixed &>> 32)
    }
  }

  private let _byName: [String: Int]
  /// The places, a power of two, at most half of them occupied; a name is at the place of its hash or soon
  /// after it.
  private let _entries: [Entry]
  private let _bytes: [UInt8]

  init(_ byName: [String: Int]) {
    _byName = byName
    var size = 4
    while size < byName.count * 2 { size *= 2 }
    var entries = [Entry](repeating: Entry(), count: size)
    var bytes: [UInt8] = []
    for (name, slot) in byName {
      let text = Array(name.utf8)
      let digest = text.withUnsafeBufferPointer { Digest($0) }
      var place = Int(truncatingIfNeeded: digest.hash) & (size - 1)
      while entries[place].slot >= 0 { place = (place + 1) & (size - 1) }
      entries[place] = Entry(digest: digest, start: bytes.count, slot: slot)
      if !digest.isWhole { bytes += text }
    }
    _entries = entries
    _bytes = bytes
  }

  /// The slot of a name; nil if there is none of this name.
  @inline(__always) subscript(name: String) -> Int? {
    // The bytes alone do not decide: a name that is not found by its bytes may still be equal to another one.
    let found = name.utf8.withContiguousStorageIfAvailable { _slot($0) } ?? -1
    return found >= 0 ? found : _byName[name]
  }

  private func _slot(_ name: UnsafeBufferPointer<UInt8>) -> Int {
    let digest = Digest(name)
    return _entries.withUnsafeBufferPointer { entries in
      var place = Int(truncatingIfNeeded: digest.hash) & (entries.count - 1)
      while entries[place].slot >= 0 {
        let entry = entries[place]
        if entry.digest == digest, digest.isWhole || _holds(name, at: entry.start) { return entry.slot }
        place = (place + 1) & (entries.count - 1)
      }
      return -1
    }
  }

  private func _holds(_ name: UnsafeBufferPointer<UInt8>, at start: Int) -> Bool {
    _bytes[start..<start + name.count].elementsEqual(name)
  }
}
