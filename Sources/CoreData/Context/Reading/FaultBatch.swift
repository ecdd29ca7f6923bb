/// Faults created one after the other without values. Filling one reads its neighbours in the same statement.
struct FaultBatch {
  /// Maximum number of faults read together.
  static let size = 128

  private var _keys: [ObjectKey] = []
  /// Start indices of the groups among the keys, in order.
  private var _starts: [Int] = []
  /// Index of the last key found; objects are usually accessed in order.
  private var _last = 0
  /// Indices by key, built on the first access out of order among many.
  private var _positions: [IdentityKey: Int]?
  /// Fetches with their own batch size, and other large groups; latest last.
  private var _fetches: [FetchPages] = []
  private var _ahead = ReadAhead()

  /// Adds a fetch whose faults load in batches of its own size.
  mutating func add(_ pages: FetchPages) {
    _fetches.append(pages)
    if _fetches.count > 16 { _fetches.removeFirst() }
  }

  /// Adds faults created together, by a fetch or as members of a relationship; they are not read along with
  /// others.
  mutating func add(_ keys: [ObjectKey]) {
    if keys.isEmpty { return }
    guard keys.count <= Self.size else { return add(KeyList(keys), batchSize: 0) }
    if _starts.last != _keys.count { _starts.append(_keys.count) }
    for key in keys { add(key) }
  }

  mutating func add(_ object: NSManagedObject) {
    if let key = object._key { add(key) }
  }

  /// Adds the faults of a fetch, as its batch size says or as many as are read together.
  mutating func add(_ keys: KeyList, batchSize: Int) {
    if batchSize > 0 { return add(FetchPages(keys, size: batchSize)) }
    if keys.count > Self.size { return add(FetchPages(keys, size: Self.size, readsAhead: true)) }
    add((0..<keys.count).map { keys[$0] })
  }

  mutating func add(_ key: ObjectKey) {
    _positions?[IdentityKey(key)] = _keys.count
    _keys.append(key)
    // Only keys are kept; the registry decides on reading which of them are still faults in use.
    guard _keys.count > FaultBatch.size * 512 else { return }
    let dropped = FaultBatch.size * 256
    _last = 0
    _positions = nil
    _ahead = ReadAhead()
    _keys.removeFirst(dropped)
    _starts = _starts.compactMap { $0 >= dropped ? $0 - dropped : nil }
  }

  /// Returns the keys of faults created around `key`, from the same table.
  ///
  /// - Parameter isRemote: Whether a server is read, where sequential access reads ahead.
  mutating func neighbours(of key: ObjectKey, isRemote: Bool = false) -> ArraySlice<ObjectKey> {
    for pages in _fetches.reversed() {
      if let page = pages.page(of: key, isRemote: isRemote) { return page[...] }
    }
    let near = min(_last, _keys.count)..<min(_last + (isRemote ? ReadAhead.most : Self.size) + 1, _keys.count)
    guard let position = near.first(where: { _keys[$0] == key }) ?? _position(of: key) else { return [] }
    _last = position
    let next = _starts.firstIndex { $0 > position } ?? _starts.endIndex
    let begin = next > 0 ? _starts[next - 1] : 0
    let end = next < _starts.endIndex ? _starts[next] : _keys.count
    let start = position - (position - begin) % FaultBatch.size
    let count = isRemote ? _ahead.count(from: start, size: FaultBatch.size) : FaultBatch.size
    return _keys[start..<min(start + count, end)]
  }

  private mutating func _position(of key: ObjectKey) -> Int? {
    if _keys.count <= 4 * Self.size { return _keys.lastIndex(of: key) }
    if _positions == nil {
      var positions = [IdentityKey: Int](minimumCapacity: _keys.count)
      for (position, key) in _keys.enumerated() { positions[IdentityKey(key)] = position }
      _positions = positions
    }
    return _positions?[IdentityKey(key)]
  }

  /// Forgets all groups.
  mutating func clearAll() { self = FaultBatch() }
}
