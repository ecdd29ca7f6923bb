import CoreDataModelSchema

/// Maps the entity numbers of a model to those stored in a file's rows.
///
/// A file created with this model has the same numbers. A file that Core Data numbered differently is still
/// read correctly, since columns and tables carry the file's numbers in their names.
package struct EntityNumbers: Sendable, Hashable {
  /// By entity number - 1.
  package let stored: [Int]
  private let _numbers: [Int: Int]

  /// Creates the numbers of a new file, equal to the model's.
  package init(count: Int) { self.init(stored: Array(1...max(1, count)).prefix(count).map { $0 }) }

  package init(stored: [Int]) {
    self.stored = stored
    _numbers = Dictionary(
      stored.enumerated().map { ($0.element, $0.offset + 1) }, uniquingKeysWith: { first, _ in first })
  }

  /// Returns the stored number of a model entity.
  package func stored(for number: Int) -> Int { stored[number - 1] }

  /// Returns the model entity with this stored number; nil for an unknown number.
  package func number(forStored stored: Int64) -> Int? {
    guard let stored = Int(exactly: stored) else { return nil }
    // Nearly every file has the model's own numbers.
    if stored >= 1, stored <= self.stored.count, self.stored[stored - 1] == stored { return stored }
    return _numbers[stored]
  }
}
