import CoreDataModelSchema

/// How the entity numbers of a model and those of a store, which stand in its rows, correspond.
///
/// A file made by this model has the same numbers. One that Core Data numbered otherwise is still read right,
/// since columns and tables carry the file's numbers in their names.
package struct EntityNumbers: Sendable, Hashable {
  /// By entity number - 1.
  package let stored: [Int]
  private let _numbers: [Int: Int]

  /// The model's own numbers: those of a new file.
  package init(count: Int) { self.init(stored: Array(1...max(1, count)).prefix(count).map { $0 }) }

  package init(stored: [Int]) {
    self.stored = stored
    _numbers = Dictionary(
      stored.enumerated().map { ($0.element, $0.offset + 1) }, uniquingKeysWith: { first, _ in first })
  }

  /// Stored number of an entity of the model.
  package func stored(for number: Int) -> Int { stored[number - 1] }

  /// Entity of the model with this stored number; nil for a number the model does not know.
  package func number(forStored stored: Int64) -> Int? {
    guard let stored = Int(exactly: stored) else { return nil }
    // Nearly every file has the model's own numbers.
    if stored >= 1, stored <= self.stored.count, self.stored[stored - 1] == stored { return stored }
    return _numbers[stored]
  }
}
