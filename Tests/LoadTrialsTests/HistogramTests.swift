import CoreDataToolKit
import Testing

@testable import CoreDataLoadTrials

@Suite("Quantiles in constant memory")
struct HistogramTests {
  private func _histogram(_ values: some Sequence<UInt64>) -> Histogram {
    var histogram = Histogram()
    for value in values { histogram.add(value) }
    return histogram
  }

  @Test func `Small values are counted exactly`() {
    let histogram = _histogram(1...100)
    #expect(histogram.count == 100)
    #expect(histogram.quantile(0.5) == 50)
    #expect(histogram.quantile(0.99) == 99)
    #expect(histogram.quantile(0.999) == 100)
    #expect(histogram.quantile(0) == 1)
  }

  @Test func `A quantile is never below the value, and 1.6 % above it`() {
    var dice = SeededRandom(seed: 1)
    let values = (0..<20_000).map { _ in dice.next() >> UInt64(dice.below(63)) }
    let (histogram, sorted) = (_histogram(values), values.sorted())
    for share in [0.01, 0.5, 0.9, 0.99, 0.999, 1] {
      let value = sorted[max(1, Int((share * 20_000).rounded(.up))) - 1]
      let found = histogram.quantile(share)
      #expect(found >= value && Double(found - value) <= Double(value) / 64)
    }
  }

  @Test func `No quantile exceeds the longest value`() {
    let histogram = _histogram([1000, 1_000_003])
    #expect(histogram.quantile(0.999) == 1_000_003)
    #expect(histogram.longest == 1_000_003)
  }

  @Test(arguments: [UInt64.max, UInt64.max - 1, 1 << 63, 127, 128, 0] as [UInt64])
  func `Any number is counted`(value: UInt64) {
    #expect(_histogram([value]).quantile(0.5) == value)
  }

  @Test func `Nothing has quantiles of 0`() {
    #expect(Histogram().quantile(0.99) == 0)
    #expect(Quantiles(Histogram()) == Quantiles())
  }
}
