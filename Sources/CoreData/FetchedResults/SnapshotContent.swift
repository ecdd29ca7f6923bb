/// Sections of items in order, each with an identifier: the value behind a snapshot.
struct SnapshotContent {
  private(set) var sections: [AnyHashable] = []
  private var _items: [AnyHashable: [AnyHashable]] = [:]
  var reloadedSections: [AnyHashable] = []
  var reloadedItems: [AnyHashable] = []
  var reconfiguredItems: [AnyHashable] = []
  /// Section of each item, built on demand.
  private var _homes: [AnyHashable: AnyHashable]?

  // MARK: Reading

  var items: [AnyHashable] { sections.flatMap { _items[$0] ?? [] } }

  var itemCount: Int { sections.reduce(0) { $0 + (_items[$1]?.count ?? 0) } }

  func has(section: AnyHashable) -> Bool { _items[section] != nil }

  func items(in section: AnyHashable) -> [AnyHashable] { _items[section] ?? [] }

  mutating func home(of item: AnyHashable) -> AnyHashable? {
    if _homes == nil {
      var homes: [AnyHashable: AnyHashable] = [:]
      for section in sections { for item in _items[section] ?? [] { homes[item] = section } }
      _homes = homes
    }
    return _homes![item]
  }

  // MARK: Changing

  mutating func append(section: AnyHashable, _ items: [AnyHashable] = []) {
    insert(sections: [section], at: sections.count)
    _items[section] = items
    _homes = nil
  }

  mutating func insert(sections new: [AnyHashable], at position: Int) {
    sections.insert(contentsOf: new, at: position)
    for section in new { _items[section] = [] }
  }

  mutating func insert(_ new: [AnyHashable], in section: AnyHashable, at position: Int) {
    _items[section]?.insert(contentsOf: new, at: position)
    _homes = nil
  }

  mutating func remove(sections gone: Set<AnyHashable>) {
    sections.removeAll { gone.contains($0) }
    for section in gone { _items[section] = nil }
    _homes = nil
  }

  mutating func remove(items gone: Set<AnyHashable>) {
    for section in Set(gone.compactMap { home(of: $0) }) { _items[section]?.removeAll { gone.contains($0) } }
    _homes = nil
  }

  mutating func move(section: AnyHashable, to position: (Int, [AnyHashable]) -> Int) {
    guard let old = sections.firstIndex(of: section) else { return }
    sections.remove(at: old)
    sections.insert(section, at: position(old, sections))
  }
}
