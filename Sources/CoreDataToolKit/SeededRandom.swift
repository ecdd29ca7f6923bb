/// Pseudorandom numbers that are the same for the same seed on every machine: SplitMix64 by Steele, Lea and
/// Flood.
package struct SeededRandom: RandomNumberGenerator, Sendable {
  private var _state: UInt64

  package init(seed: UInt64) { _state = seed }

  package mutating func next() -> UInt64 {
    _state &+= 0x9E37_79B9_7F4A_7C15
    var z = _state
    z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
    z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
    return z ^ (z >> 31)
  }

  /// A number from 0 up to, not including, 1.
  package mutating func unit() -> Double { Double(next() >> 11) * 0x1p-53 }

  /// A number from 0 up to, not including, `bound`. Not `Int.random(in:using:)`, whose method may change with the toolchain.
  package mutating func below(_ bound: Int) -> Int { Int(next() % UInt64(bound)) }

  /// True with the given probability in percent.
  package mutating func chance(_ percent: Int) -> Bool { below(100) < percent }

  /// A random member of an ordered collection; nil if it is empty.
  package mutating func pick<T>(_ members: [T]) -> T? {
    members.isEmpty ? nil : members[below(members.count)]
  }
}
