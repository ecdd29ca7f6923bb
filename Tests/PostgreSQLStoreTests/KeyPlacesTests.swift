import Testing

@testable import CoreDataPostgreSQL

/// Where the keys of a read stand, for rows that arrive in any order.
@Suite struct KeyPlacesTests {
  private func positions(of key: Int64, in keys: [Int64]) -> [Int] {
    let places = KeyPlaces(keys)
    var found: [Int] = []
    places.forEach(of: key) { found.append($0) }
    return found.sorted()
  }

  @Test func `each key is found at its position`() {
    var random = SystemRandomNumberGenerator()
    for count in [1, 2, 15, 16, 17, 1000] {
      // Consecutive, spread by a power of two, and anywhere.
      let lists: [[Int64]] = [
        (0..<count).map { Int64($0) }.shuffled(), (0..<count).map { Int64($0) << 32 },
        (0..<count).map { _ in Int64.random(in: .min ... .max, using: &random) },
      ]
      for keys in lists where Set(keys).count == keys.count {
        for (position, key) in keys.enumerated() { #expect(positions(of: key, in: keys) == [position]) }
      }
    }
  }

  @Test func `a repeated key is found at all of its positions`() {
    #expect(positions(of: 7, in: [7, 3, 7, 7]) == [0, 2, 3])
  }

  @Test func `a key that was not asked for is not found`() {
    #expect(positions(of: 4, in: [7, 3]).isEmpty)
    #expect(positions(of: 4, in: []).isEmpty)
  }
}
