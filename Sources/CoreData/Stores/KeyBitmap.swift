/// A set of row keys as a sparse bitmap: a 64-bit word for each run of 64 keys. Keys of a table are mostly dense.
struct KeyBitmap {
  private var _words: [Int64: UInt64] = [:]

  /// Adds a key, and returns whether it was not there.
  mutating func insert(_ key: Int64) -> Bool {
    let bit: UInt64 = 1 << UInt64(key & 63)
    return Self._insert(bit, into: &_words[key >> 6, default: 0])
  }

  private static func _insert(_ bit: UInt64, into word: inout UInt64) -> Bool {
    defer { word |= bit }
    return word & bit == 0
  }

  func contains(_ key: Int64) -> Bool {
    (_words[key >> 6] ?? 0) & 1 << UInt64(key & 63) != 0
  }
}
