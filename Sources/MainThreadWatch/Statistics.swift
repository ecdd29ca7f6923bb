/// The few figures that summarize measurements.
package enum Statistics {
  /// The value in the middle, or the mean of the two in the middle; 0 for no values.
  package static func median(_ values: [Double]) -> Double {
    guard !values.isEmpty else { return 0 }
    let sorted = values.sorted()
    let middle = sorted.count / 2
    return sorted.count % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
  }

  /// The smallest value that a share of all values does not exceed; 0 for no values.
  package static func percentile(_ share: Double, _ values: [Double]) -> Double {
    guard !values.isEmpty else { return 0 }
    let sorted = values.sorted()
    let rank = Int((share * Double(sorted.count)).rounded(.up))
    return sorted[min(sorted.count - 1, max(0, rank - 1))]
  }

  /// The standard deviation of a sample over its mean; 0 for fewer than two values.
  package static func relativeDeviation(_ values: [Double]) -> Double {
    guard values.count > 1 else { return 0 }
    let mean = values.reduce(0, +) / Double(values.count)
    let squares = values.reduce(0) { $0 + ($1 - mean) * ($1 - mean) }
    return mean > 0 ? (squares / Double(values.count - 1)).squareRoot() / mean : 0
  }
}
