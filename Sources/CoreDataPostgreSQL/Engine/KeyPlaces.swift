/// Where primary keys stand in a list, for rows that a server returns in any order. Open addressing, linear probing; the
/// hash of a dictionary takes longer than reading a row's columns.
struct KeyPlaces: ~Copyable {
  private let _keys: [Int64]
  /// Positions in `_keys`; negative where a slot is free.
  private let _slots: UnsafeMutableBufferPointer<Int32>
  private let _mask: Int

  init(_ keys: [Int64]) {
    _keys = keys
    var count = 16
    while count < keys.count * 2 { count *= 2 }
    _mask = count - 1
    _slots = .allocate(capacity: count)
    _slots.initialize(repeating: -1)
    for (position, key) in keys.enumerated() {
      var slot = _start(of: key)
      while _slots[slot] >= 0 { slot = (slot + 1) & _mask }
      _slots[slot] = Int32(truncatingIfNeeded: position)
    }
  }

  deinit { _slots.deallocate() }

  /// Calls a closure with each position of a key.
  @inline(__always)
  func forEach(of key: Int64, _ body: (Int) -> Void) {
    var slot = _start(of: key)
    while _slots[slot] >= 0 {
      let position = Int(_slots[slot])
      if _keys[position] == key { body(position) }
      slot = (slot + 1) & _mask
    }
  }

  /// Spreads keys, which are mostly consecutive, over the slots.
  @inline(__always)
  private func _start(of key: Int64) -> Int {
    Int(truncatingIfNeeded: (UInt64(bitPattern: key) &* 0x9E37_79B9_7F4A_7C15) >> 32) & _mask
  }
}
