import Foundation
import Testing

@testable import CoreDataToolKit

@Suite struct ISODateTests {
  @Test(arguments: [
    (0.0, "2001-01-01T00:00:00Z"), (730_944_000.25, "2024-03-01T00:00:00.25Z"),
    (-0.5, "2000-12-31T23:59:59.5Z"),
    (-978_307_200.0, "1970-01-01T00:00:00Z"), (-63_113_904_000.0, "0001-01-01T00:00:00Z"),
    (63_113_904_000.0, "4001-01-01T00:00:00Z"), (1e-7, "2001-01-01T00:00:00.0000001Z"),
    (-3_600_000_000_000.0, "-112079-07-18T08:00:00Z"),
    (5.000000000000001, "2001-01-01T00:00:05.000000000000001Z"),
  ])
  func `A moment is written as ISO 8601`(seconds: Double, text: String) {
    #expect(ISODate.text(seconds) == text)
    #expect(ISODate.seconds(text) == seconds)
  }

  @Test func `Every moment reads back to the last bit`() {
    var state: UInt64 = 42
    for _ in 0..<20_000 {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      let number = Double(bitPattern: state)
      guard number.isFinite else { continue }
      #expect(ISODate.seconds(ISODate.text(number)) == number)
      let near = Double(Int64(bitPattern: state) >> 20) / 1000.1
      #expect(ISODate.seconds(ISODate.text(near)) == near)
    }
  }

  @Test(arguments: [
    ("2024-02-29", 730_857_600.0), ("2024-02-29T12:00", 730_900_800), ("2024-02-29 12:00:30", 730_900_830),
    ("2024-02-29T12:00:00+02:00", 730_893_600), ("2024-02-29T12:00:00-0130", 730_906_200), ("12.5", 12.5),
  ])
  func `Other ways to write a moment are read`(text: String, seconds: Double) {
    #expect(ISODate.seconds(text) == seconds)
  }

  @Test(arguments: [
    "", "yesterday", "2024-13-01", "2024-02-29T25:00", "2024-02-29T12:00:00Q", "2024-02-29T12:00:00ZZ",
    "2024-2-9",
  ])
  func `What is no moment is refused`(text: String) {
    #expect(ISODate.seconds(text) == nil)
  }
}
