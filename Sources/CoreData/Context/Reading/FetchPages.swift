/// The IDs found by a fetch with a batch size. Filling one of its faults loads its whole batch.
///
/// A list keeps one for as long as it is shown, so an ID takes one word, plus four bytes once faults are
/// accessed out of order.
final class FetchPages {
  let size: Int
  /// Reads ahead of sequential access to a server; nil if the request set the batch size.
  private var _ahead: ReadAhead?
  private var _scatter = ScatteredAccess()
  /// In fetch order.
  private let _keys: KeyList
  /// Index of the last key found; objects are usually accessed in order.
  private var _last = 0
  /// Indices sorted by primary key, built on the first access out of order.
  private var _sorted: [Int32]?

  init(_ keys: KeyList, size: Int, readsAhead: Bool = false) {
    _ahead = readsAhead ? ReadAhead() : nil
    _keys = keys
    self.size = max(1, size)
  }

  /// Returns the keys of the batch that contains `key`; nil if this fetch did not find it.
  ///
  /// - Parameter isRemote: Whether a server is read, where sequential access also loads later batches.
  func page(of key: ObjectKey, isRemote: Bool = false) -> [ObjectKey]? {
    guard !_keys.isEmpty, _keys[0].space.number == key.space.number, let place = _place(of: key.reference)
    else { return nil }
    let size = _ahead == nil ? size : _scatter.size(at: place, of: _keys.count, most: size)
    let start = place - place % size
    let count = isRemote ? _ahead?.count(from: start, size: size) ?? size : size
    return (start..<min(start + count, _keys.count)).map { _keys[$0] }
  }

  private func _place(of reference: Int64) -> Int? {
    let near = _last..<min(_last + size + 1, _keys.references.count)
    if let found = near.first(where: { _keys.references[$0] == reference }) {
      _last = found
      return found
    }
    let sorted = _sorted ?? _sort()
    var range = sorted.indices
    while !range.isEmpty {
      let middle = range.lowerBound + range.count / 2
      if _keys.references[Int(sorted[middle])] < reference {
        range = (middle + 1)..<range.upperBound
      } else {
        range = range.lowerBound..<middle
      }
    }
    guard range.lowerBound < sorted.count else { return nil }
    let found = Int(sorted[range.lowerBound])
    guard _keys.references[found] == reference else { return nil }
    _last = found
    return found
  }

  private func _sort() -> [Int32] {
    let sorted = (0..<Int32(_keys.references.count)).sorted {
      _keys.references[Int($0)] < _keys.references[Int($1)]
    }
    _sorted = sorted
    return sorted
  }
}
