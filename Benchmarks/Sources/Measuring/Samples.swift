extension [Double] {
  /// The value in the middle; of an even count, the mean of the two there. 0 of none.
  package var median: Double {
    let sorted = self.sorted()
    guard !sorted.isEmpty else { return 0 }
    return sorted.count.isMultiple(of: 2)
      ? (sorted[sorted.count / 2 - 1] + sorted[sorted.count / 2]) / 2 : sorted[sorted.count / 2]
  }

  /// How far the middle half of the values spreads, as a part of the median: what a difference must exceed to
  /// mean anything.
  package var spread: Double {
    let sorted = self.sorted()
    guard sorted.count > 1, median > 0 else { return 0 }
    return (sorted[sorted.count * 3 / 4] - sorted[sorted.count / 4]) / median
  }
}
