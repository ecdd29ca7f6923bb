/// The identities that one fetch with a batch size found: filling one of its faults brings the rest of its
/// batch.
final class FetchPages {
  let size: Int
  private let _keys: [ObjectKey]
  /// Where the last key was found; objects are mostly touched in order.
  private var _last = 0
  /// Places by key, made when they are first touched out of order.
  private var _places: [ObjectKey: Int]?

  init(_ keys: [ObjectKey], size: Int) {
    _keys = keys
    self.size = max(1, size)
  }

  /// Keys of the batch that holds `key`; nil if this fetch did not find it.
  func page(of key: ObjectKey) -> ArraySlice<ObjectKey>? {
    guard _keys.first?.space.number == key.space.number, let place = _place(of: key) else { return nil }
    let start = place - place % size
    return _keys[start..<min(start + size, _keys.count)]
  }

  private func _place(of key: ObjectKey) -> Int? {
    let near = _last..<min(_last + size + 1, _keys.count)
    if let found = near.first(where: { _keys[$0] == key }) {
      _last = found
      return found
    }
    if _places == nil {
      _places = Dictionary(_keys.enumerated().map { ($1, $0) }, uniquingKeysWith: { first, _ in first })
    }
    guard let found = _places?[key] else { return nil }
    _last = found
    return found
  }
}
