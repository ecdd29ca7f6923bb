import Testing

@testable import CoreData

/// How many faults are read together.
@Suite struct ReadAheadTests {
  @Test func `batches that follow each other are each four times as large, up to a limit`() {
    var ahead = ReadAhead()
    #expect(ahead.count(from: 0, size: 20) == 20)
    #expect(ahead.count(from: 20, size: 20) == 80)
    #expect(ahead.count(from: 100, size: 20) == 320)
    #expect(ahead.count(from: 420, size: 20) == 1280)
    #expect(ahead.count(from: 1700, size: 20) == ReadAhead.most)
  }

  @Test func `a batch elsewhere begins anew`() {
    var ahead = ReadAhead()
    _ = ahead.count(from: 0, size: 20)
    _ = ahead.count(from: 20, size: 20)
    #expect(ahead.count(from: 500, size: 20) == 20)
  }

  @Test func `scattered faults are read in small batches from the third on, until an eighth is read`() {
    var access = ScatteredAccess()
    let places = stride(from: 5000, to: 90_000, by: 1000).map { $0 }
    let sizes = places.map { access.size(at: $0, of: 8000, most: 100) }
    #expect(sizes.prefix(3) == [100, 100, 16])
    // 200 in two large batches, and 50 small ones reach 1,000.
    #expect(sizes.count { $0 == 16 } == 50)
    #expect(sizes.last == 100)
  }

  @Test func `faults beside each other are not scattered`() {
    var access = ScatteredAccess()
    #expect(
      (0..<20).map { access.size(at: $0 * 100, of: 8000, most: 100) } == Array(repeating: 100, count: 20))
    // Backwards, as well.
    #expect(
      (0..<5).map { access.size(at: 1899 - $0 * 100, of: 8000, most: 100) } == Array(repeating: 100, count: 5)
    )
  }
}
