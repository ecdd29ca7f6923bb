/// A set of slot numbers, stored in one word without allocation for up to 64 slots.
package struct SlotSet: Sendable, Hashable {
  // What a write of an object executes is inlinable, since this is another module than the objects'.
  @usableFromInline var _low: UInt64 = 0
  @usableFromInline var _high: [UInt64] = []

  @inlinable package init() {}

  package init(_ slots: some Sequence<Int>) {
    for slot in slots { insert(slot) }
  }

  @inlinable package var isEmpty: Bool { _low == 0 && _high.allSatisfy { $0 == 0 } }

  @inlinable package func contains(_ slot: Int) -> Bool {
    if slot < 64 { return _low & (1 &<< UInt64(slot)) != 0 }
    let word = slot / 64 - 1
    return word < _high.count && _high[word] & (1 &<< UInt64(slot % 64)) != 0
  }

  @inlinable package mutating func insert(_ slot: Int) {
    if slot < 64 { _low |= 1 &<< UInt64(slot) } else { _insertHigh(slot) }
  }

  @usableFromInline mutating func _insertHigh(_ slot: Int) {
    let word = slot / 64 - 1
    while _high.count <= word { _high.append(0) }
    _high[word] |= 1 &<< UInt64(slot % 64)
  }

  @inlinable package mutating func removeAll() {
    _low = 0
    if !_high.isEmpty { _high = [] }
  }

  package mutating func remove(_ slot: Int) {
    if slot < 64 {
      _low &= ~(1 &<< UInt64(slot))
      return
    }
    let word = slot / 64 - 1
    if word < _high.count { _high[word] &= ~(1 &<< UInt64(slot % 64)) }
  }

  package mutating func formUnion(_ other: SlotSet) {
    _low |= other._low
    while _high.count < other._high.count { _high.append(0) }
    for word in other._high.indices { _high[word] |= other._high[word] }
  }

  package func union(_ other: SlotSet) -> SlotSet {
    var result = self
    result.formUnion(other)
    return result
  }

  package func isSubset(of other: SlotSet) -> Bool {
    guard _low & ~other._low == 0 else { return false }
    return _high.indices.allSatisfy { word in
      _high[word] & ~(word < other._high.count ? other._high[word] : 0) == 0
    }
  }

  package static func == (left: SlotSet, right: SlotSet) -> Bool {
    guard left._low == right._low else { return false }
    let count = max(left._high.count, right._high.count)
    for word in 0..<count {
      let l = word < left._high.count ? left._high[word] : 0
      let r = word < right._high.count ? right._high[word] : 0
      if l != r { return false }
    }
    return true
  }

  package func hash(into hasher: inout Hasher) {
    hasher.combine(_low)
    for word in _high where word != 0 { hasher.combine(word) }
  }

  /// Calls `body` with each member in ascending order.
  package func forEach(_ body: (Int) throws -> Void) rethrows {
    var word = _low
    while word != 0 {
      let bit = word.trailingZeroBitCount
      try body(bit)
      word &= word &- 1
    }
    for (index, value) in _high.enumerated() {
      var word = value
      while word != 0 {
        let bit = word.trailingZeroBitCount
        try body((index + 1) * 64 + bit)
        word &= word &- 1
      }
    }
  }
}
