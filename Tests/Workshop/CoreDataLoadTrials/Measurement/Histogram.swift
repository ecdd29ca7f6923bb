/// Counts of values by magnitude, in constant memory: what is measured for an hour must not grow what it
/// measures.
///
/// Values below 128 are counted exactly, others with an error of at most 1.6 %.
struct Histogram: Sendable {
  private static let _parts = 64
  private static let _exact = 128
  private var _counts = [UInt64](repeating: 0, count: _exact + _parts * (64 - 7))
  private(set) var count: UInt64 = 0
  private(set) var longest: UInt64 = 0

  mutating func add(_ value: UInt64) {
    _counts[Self._place(of: value)] += 1
    count += 1
    longest = max(longest, value)
  }

  /// The smallest value that a share of all values does not exceed, rounded up within the error; 0 for no
  /// values.
  func quantile(_ share: Double) -> UInt64 {
    let rank = max(1, UInt64((share * Double(count)).rounded(.up)))
    var passed: UInt64 = 0
    for (place, count) in _counts.enumerated() where count > 0 {
      passed += count
      if passed >= rank { return min(longest, Self._most(at: place)) }
    }
    return longest
  }

  private static func _place(of value: UInt64) -> Int {
    if value < UInt64(_exact) { return Int(value) }
    let exponent = 63 - value.leadingZeroBitCount
    return _exact + (exponent - 7) * _parts + Int(value >> UInt64(exponent - 6)) - _parts
  }

  /// The highest value that is counted at a place.
  private static func _most(at place: Int) -> UInt64 {
    if place < _exact { return UInt64(place) }
    let (octave, part) = (place - _exact).quotientAndRemainder(dividingBy: _parts)
    // The last place of all ends with the highest number.
    let width = UInt64(octave + 1)
    return (UInt64(_parts + part) << width) + ((1 << width) - 1)
  }
}

/// A few figures of a distribution of times, in nanoseconds.
package struct Quantiles: Codable, Sendable, Equatable {
  package var count = 0
  package var p50: UInt64 = 0
  package var p99: UInt64 = 0
  package var p999: UInt64 = 0
  package var longest: UInt64 = 0

  init() {}

  init(_ histogram: Histogram) {
    count = Int(histogram.count)
    p50 = histogram.quantile(0.5)
    p99 = histogram.quantile(0.99)
    p999 = histogram.quantile(0.999)
    longest = histogram.longest
  }
}
