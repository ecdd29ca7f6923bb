import Testing

@testable import CoreDataToolKit

/// Numbers with their nouns.
@Suite struct CountingTests {
  @Test(arguments: [(0, "0"), (999, "999"), (1000, "1,000"), (-1_234_567, "-1,234,567")])
  func `thousands are set apart`(number: Int, text: String) {
    #expect(grouped(number) == text)
  }

  @Test func `one thing is not many`() {
    #expect(counted(1, "row") == "1 row")
    #expect(counted(12_793, "row") == "12,793 rows")
    #expect(counted(0, "entity", plural: "entities") == "0 entities")
  }
}
