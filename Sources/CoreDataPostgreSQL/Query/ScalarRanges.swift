/// Scalars as ranges, for bracket expressions.
struct ScalarRanges {
  let ranges: [ClosedRange<UInt32>]

  /// - Parameter values: The scalars in ascending order.
  init(_ values: some Sequence<UInt32>) {
    var ranges: [ClosedRange<UInt32>] = []
    for value in values {
      if let last = ranges.last, last.upperBound == value - 1 {
        ranges[ranges.count - 1] = last.lowerBound...value
      } else {
        ranges.append(value...value)
      }
    }
    self.ranges = ranges
  }

  /// Returns the ranges for a bracket expression, each bound spelled by `spell`.
  func bracketed(_ spell: (UInt32) -> String) -> String {
    ranges.map { $0.count == 1 ? spell($0.lowerBound) : spell($0.lowerBound) + "-" + spell($0.upperBound) }
      .joined()
  }
}
