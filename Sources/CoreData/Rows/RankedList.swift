/// Elements by the rank of one of their cells, each with the number of its addition.
///
/// What is added is sorted in when it is looked for and there is enough of it, so that neither an addition nor a
/// look-up moves the whole list.
struct RankedList<Element> {
  private struct Item {
    let rank: CellRank
    let number: Int
    let element: Element
  }

  private var _sorted: [Item] = []
  private var _added: [Item] = []

  var count: Int { _sorted.count + _added.count }

  mutating func add(_ element: Element, _ rank: CellRank) {
    _added.append(Item(rank: rank, number: count, element: element))
  }

  /// Returns the elements with a rank in a range, in the order of their addition; nil if they are so many that
  /// looking at all is no more work.
  mutating func elements(in range: CellRange) -> [Element]? {
    if _added.count > 32, _added.count * _added.count > _sorted.count { _sort() }
    let first = _firstIndex { range.least <= $0 }
    let end = _firstIndex { range.greatest < $0 }
    // A range may be empty: `a > 5 AND a < 3`.
    var items = first < end ? Array(_sorted[first..<end]) : []
    if items.count > 64, items.count * 4 > count { return nil }
    items += _added.lazy.filter { range.contains($0.rank) }
    items.sort { $0.number < $1.number }
    return items.map(\.element)
  }

  /// Returns the index of the first sorted item whose rank satisfies a predicate, as do all after it.
  private func _firstIndex(where predicate: (CellRank) -> Bool) -> Int {
    var (low, high) = (0, _sorted.count)
    while low < high {
      let middle = (low + high) / 2
      if predicate(_sorted[middle].rank) { high = middle } else { low = middle + 1 }
    }
    return low
  }

  /// Whether an element with a rank satisfies a predicate, for tests.
  func contains(_ rank: CellRank, where predicate: (Element) -> Bool) -> Bool {
    _sorted[_firstIndex { rank <= $0 }..<_firstIndex { rank < $0 }].contains { predicate($0.element) }
      || _added.contains { $0.rank == rank && predicate($0.element) }
  }

  mutating func removeAll() {
    _sorted.removeAll(keepingCapacity: _sorted.count <= 4096)
    _added.removeAll(keepingCapacity: true)
  }

  private mutating func _sort() {
    _added.sort { $0.rank < $1.rank }
    guard !_sorted.isEmpty else { return swap(&_sorted, &_added) }
    var merged: [Item] = []
    merged.reserveCapacity(count)
    var added = _added[...]
    for item in _sorted {
      while let next = added.first, next.rank < item.rank { merged.append(added.removeFirst()) }
      merged.append(item)
    }
    merged += added
    _sorted = merged
    _added.removeAll(keepingCapacity: true)
  }
}
