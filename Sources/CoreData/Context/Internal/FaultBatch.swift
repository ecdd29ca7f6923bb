/// Faults made one after the other without values; when one is filled, its neighbours are read in the same
/// statement.
struct FaultBatch {
  /// Most faults that are read together.
  static let size = 128

  private var _keys: [ObjectKey] = []
  /// Where groups begin among the keys, in order.
  private var _starts: [Int] = []
  /// Where the last key was found; objects are mostly touched in order.
  private var _last = 0
  /// Fetches with a batch size of their own, and other large groups, the latest last.
  private var _fetches: [FetchPages] = []
  private var _ahead = ReadAhead()

  /// Notes a fetch whose faults load in batches of its own size.
  mutating func add(_ pages: FetchPages) {
    _fetches.append(pages)
    if _fetches.count > 16 { _fetches.removeFirst() }
  }

  /// Notes faults that were made together, by a fetch or as members of a relationship: they are not read
  /// along with others.
  mutating func add(_ keys: [ObjectKey]) {
    if keys.isEmpty { return }
    guard keys.count <= Self.size else { return add(FetchPages(keys, size: Self.size, readsAhead: true)) }
    if _starts.last != _keys.count { _starts.append(_keys.count) }
    for key in keys { add(key) }
  }

  mutating func add(_ object: NSManagedObject) {
    if let key = object._key { add(key) }
  }

  mutating func add(_ key: ObjectKey) {
    _keys.append(key)
    // Only keys are kept: the registry decides at reading time which of them are still faults in use.
    guard _keys.count > FaultBatch.size * 512 else { return }
    let dropped = FaultBatch.size * 256
    _last = 0
    _ahead = ReadAhead()
    _keys.removeFirst(dropped)
    _starts = _starts.compactMap { $0 >= dropped ? $0 - dropped : nil }
  }

  /// Keys of faults made around `key`, of the same table.
  ///
  /// - Parameter isRemote: Whether they are read from a server: then more of them are, while all are asked for in turn.
  mutating func neighbours(of key: ObjectKey, isRemote: Bool = false) -> ArraySlice<ObjectKey> {
    for pages in _fetches.reversed() {
      if let page = pages.page(of: key, isRemote: isRemote) { return page[...] }
    }
    let near = min(_last, _keys.count)..<min(_last + (isRemote ? ReadAhead.most : Self.size) + 1, _keys.count)
    guard let position = near.first(where: { _keys[$0] == key }) ?? _keys.lastIndex(of: key) else {
      return []
    }
    _last = position
    let next = _starts.firstIndex { $0 > position } ?? _starts.endIndex
    let begin = next > 0 ? _starts[next - 1] : 0
    let end = next < _starts.endIndex ? _starts[next] : _keys.count
    let start = position - (position - begin) % FaultBatch.size
    let count = isRemote ? _ahead.count(from: start, size: FaultBatch.size) : FaultBatch.size
    return _keys[start..<min(start + count, end)]
  }

  /// Forgets which faults were made together.
  mutating func clearAll() { self = FaultBatch() }
}
