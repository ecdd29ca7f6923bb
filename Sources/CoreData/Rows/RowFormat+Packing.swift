/// The cells of a packed Row while a store reads them. Inlinable into the stores of other modules.
package struct PackedCells: ~Copyable {
  @usableFromInline let _words: UnsafeMutableBufferPointer<UInt64>
  /// Addresses of the texts, by slot; uninitialized for other slots.
  @usableFromInline let _texts: UnsafeMutableBufferPointer<UnsafePointer<UInt8>?>
  @usableFromInline var _nulls: UInt64
  @usableFromInline var _textCount = 0
  @usableFromInline var _room = 0

  @inlinable @inline(__always) init(
    _ format: RowFormat, _ words: UnsafeMutableBufferPointer<UInt64>,
    _ texts: UnsafeMutableBufferPointer<UnsafePointer<UInt8>?>
  ) {
    words.initialize(repeating: 0)
    _words = words
    _texts = texts
    _nulls = format.absentSlots
  }

  @inlinable @inline(__always) package mutating func setNull(at slot: Int) {
    _texts[slot] = nil
    _nulls |= 1 &<< UInt64(slot)
  }

  @inlinable @inline(__always) package func set(_ word: UInt64, at slot: Int) { _words[slot] = word }

  /// Makes room for bytes of cells that are set in the finished Row.
  @inlinable @inline(__always) package mutating func reserve(_ count: Int) { _room += count }

  /// Sets a text, whose bytes must stay in place until the Row is created.
  ///
  /// - Returns: Whether it can be packed; texts beyond 4 GiB cannot.
  @inlinable @inline(__always)
  package mutating func set(_ text: UnsafeBufferPointer<UInt8>, at slot: Int) -> Bool {
    guard let word = RowFormat.TextPlace.word(offset: _textCount, count: text.count) else { return false }
    _texts[slot] = text.baseAddress
    _words[slot] = word
    _textCount += text.count
    return true
  }

  @inline(__always) @usableFromInline func _row(_ format: RowFormat, version: Int64) -> Row {
    Row(
      format, version: version, nulls: _nulls, words: UnsafeBufferPointer(_words),
      texts: UnsafePointer(_texts.baseAddress!), textCount: _textCount, room: _room)
  }
}

extension RowFormat {
  /// Creates a packed Row from the cells that `fill` sets, which must be all except absent ones; nil if
  /// `fill` returns false.
  @inlinable @inline(__always) package func row(
    version: Int64, _ fill: (inout PackedCells) throws -> Bool
  ) rethrows -> Row? {
    // The closures capture the format unretained: one retain for each row is enough.
    let (format, count) = (Unmanaged.passUnretained(self), count)
    return try withUnsafeTemporaryAllocation(of: UInt64.self, capacity: count) { words in
      try withUnsafeTemporaryAllocation(of: UnsafePointer<UInt8>?.self, capacity: count) { texts in
        try format._withUnsafeGuaranteedRef { format in
          var cells = PackedCells(format, words, texts)
          return try fill(&cells) ? cells._row(format, version: version) : nil
        }
      }
    }
  }
}
