/// Steele, Lea and Flood's generator: the same numbers from the same seed in every language.
struct SplitMix64 {
  private var _state: UInt64

  init(seed: UInt64) { _state = seed }

  mutating func next() -> UInt64 {
    _state &+= 0x9E37_79B9_7F4A_7C15
    var z = _state
    z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
    z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
    return z ^ (z >> 31)
  }

  /// The numbers 1 to `count` in an order that depends on the seed alone.
  static func permutation(_ count: Int, seed: UInt64) -> [Int64] {
    guard count > 0 else { return [] }
    var generator = SplitMix64(seed: seed)
    var numbers = (1...Int64(count)).map { $0 }
    for index in stride(from: count - 1, to: 0, by: -1) {
      numbers.swapAt(index, Int(generator.next() % UInt64(index + 1)))
    }
    return numbers
  }
}
