/// The combining marks that `StringComparison` ignores: scalars from U+0300 whose combining class isn't 0.
enum CombiningMarks {
  static let ranges: [ClosedRange<UInt32>] = {
    var ranges: [ClosedRange<UInt32>] = []
    for value in UInt32(0x300)...0x1FFFF {
      guard let scalar = Unicode.Scalar(value), scalar.properties.canonicalCombiningClass.rawValue != 0 else {
        continue
      }
      if let last = ranges.last, last.upperBound == value - 1 {
        ranges[ranges.count - 1] = last.lowerBound...value
      } else {
        ranges.append(value...value)
      }
    }
    return ranges
  }()

  /// Returns the ranges for a bracket expression, each bound spelled by `spell`.
  static func bracketed(_ spell: (UInt32) -> String) -> String {
    ranges.map { $0.count == 1 ? spell($0.lowerBound) : spell($0.lowerBound) + "-" + spell($0.upperBound) }
      .joined()
  }
}
