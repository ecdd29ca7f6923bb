/// Verifies a store without Core Data: whether it has the rows that the import should have written.
struct StoreCheck {
  /// The problem with the store, as the end of a sentence.
  struct Failure: Error, CustomStringConvertible {
    let description: String
  }

  private let _stops: [Stop]
  private let _mode: ImportMode

  /// Creates a check against the input; if a stop occurs more than once, its last line counts.
  init(stops: [Stop], mode: ImportMode) {
    _stops = stops
    _mode = mode
  }

  /// Checks the stops of a store, in the order of their keys.
  ///
  /// - Returns: the number of rows.
  func run(_ stored: [Stop]) throws -> Int {
    var expected: [String: Stop] = [:]
    for stop in _stops { expected[stop.identifier] = stop }
    let count = _mode == .insert ? _stops.count : expected.count
    guard stored.count == count else {
      throw Failure(description: "it holds \(stored.count) stops where the input makes \(count)")
    }
    var seen: [String: Stop] = [:]
    for stop in stored { seen[stop.identifier] = stop }
    if _mode == .insert {
      // Each line created one row, and the engine numbers the rows of one save in any order, so it is
      // undefined which of several lines for one stop was seen last.
      guard seen.count == expected.count else {
        throw Failure(
          description: "it holds \(seen.count) different stops where the input has \(expected.count)")
      }
      return count
    }
    if let wrong = expected.values.first(where: { seen[$0.identifier] != $0 }) {
      let found = seen[wrong.identifier].map { "\($0)" } ?? "nothing"
      throw Failure(description: "for stop '\(wrong.identifier)' it holds \(found) instead of \(wrong)")
    }
    return count
  }
}
