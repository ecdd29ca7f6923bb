/// The IDs found by a fetch with a batch size. Filling one of its faults loads its whole batch.
///
/// A list keeps one for as long as it is shown, so an ID takes one word, plus four bytes once faults are
/// accessed out of order.
final class FetchPages {
  let size: Int
  /// Reads ahead of sequential access; nil if the request set the batch size.
  private var _ahead: ReadAhead?
  /// Primary keys in fetch order.
  private let _references: [Int64]
  /// The ID spaces of the keys: a single one if all keys share it, otherwise one per key.
  private let _spaces: [ObjectIDSpace]
  /// Index of the last key found; objects are usually accessed in order.
  private var _last = 0
  /// Indices sorted by primary key, built on the first access out of order.
  private var _sorted: [Int32]?

  init(_ keys: [ObjectKey], size: Int, readsAhead: Bool = false) {
    _ahead = readsAhead ? ReadAhead() : nil
    _references = keys.map(\.reference)
    let first = keys.first?.space
    _spaces = keys.allSatisfy { $0.space === first } ? first.map { [$0] } ?? [] : keys.map(\.space)
    self.size = max(1, size)
  }

  /// Returns the keys of the batch that contains `key`; nil if this fetch did not find it.
  ///
  /// - Parameter isRemote: Whether a server is read, where sequential access also loads later batches.
  func page(of key: ObjectKey, isRemote: Bool = false) -> [ObjectKey]? {
    guard _spaces.first?.number == key.space.number, let place = _place(of: key.reference) else { return nil }
    let start = place - place % size
    let count = isRemote ? _ahead?.count(from: start, size: size) ?? size : size
    return (start..<min(start + count, _references.count)).map {
      ObjectKey(space: _spaces.count == 1 ? _spaces[0] : _spaces[$0], reference: _references[$0])
    }
  }

  private func _place(of reference: Int64) -> Int? {
    let near = _last..<min(_last + size + 1, _references.count)
    if let found = near.first(where: { _references[$0] == reference }) {
      _last = found
      return found
    }
    let sorted = _sorted ?? _sort()
    var range = sorted.indices
    while !range.isEmpty {
      let middle = range.lowerBound + range.count / 2
      if _references[Int(sorted[middle])] < reference {
        range = (middle + 1)..<range.upperBound
      } else {
        range = range.lowerBound..<middle
      }
    }
    guard range.lowerBound < sorted.count else { return nil }
    let found = Int(sorted[range.lowerBound])
    guard _references[found] == reference else { return nil }
    _last = found
    return found
  }

  private func _sort() -> [Int32] {
    let sorted = (0..<Int32(_references.count)).sorted { _references[Int($0)] < _references[Int($1)] }
    _sorted = sorted
    return sorted
  }
}
