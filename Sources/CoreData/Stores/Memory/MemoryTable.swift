import CoreDataModelSchema

/// The rows of one root entity in a memory store, with an index of each slot by which rows have been looked up.
struct MemoryTable {
  struct Record {
    let entityNumber: Int
    let row: Row
  }

  private struct Index {
    let slot: Int
    var keys: [EqualityKey: KeySet] = [:]

    mutating func add(_ value: EqualityKey, _ key: Int64) {
      if keys[value]?.insert(key) == nil { keys[value] = .one(key) }
    }

    mutating func remove(_ value: EqualityKey, _ key: Int64) {
      if keys[value]?.remove(key) == true { keys[value] = nil }
    }
  }

  private(set) var records: [Int64: Record] = [:]
  /// Ascending keys, including deleted ones until the next cleanup.
  private var _order: [Int64] = []
  private var _lastKey: Int64 = 0
  private var _indexes: [Index] = []

  // MARK: Reading

  /// All records by ascending key.
  var all: [(key: Int64, record: Record)] {
    _order.compactMap { key in records[key].map { (key, $0) } }
  }

  /// Returns the keys of rows whose cell has one of these values; nil if the slot has no index.
  func keys(slot: Int, in values: some Sequence<EqualityKey>) -> [Int64]? {
    guard let index = _indexes.first(where: { $0.slot == slot }) else { return nil }
    return values.flatMap { index.keys[$0]?.keys ?? [] }
  }

  /// Returns the value by which a cell is indexed: a to-one's is the key of its row.
  static func key(of cell: Value) -> EqualityKey? {
    cell.key.map { .int($0.reference) } ?? EqualityKey(cell)
  }

  // MARK: Writing

  /// Indexes a slot, if it is not indexed yet.
  mutating func index(_ slot: Int) {
    if _indexes.contains(where: { $0.slot == slot }) { return }
    var index = Index(slot: slot)
    for (key, record) in records where slot < record.row.count {
      if let value = Self.key(of: record.row[slot]) { index.add(value, key) }
    }
    _indexes.append(index)
  }

  mutating func reserve(_ count: Int) -> [Int64] {
    let first = _lastKey + 1
    _lastKey += Int64(count)
    return Array(first..<(first + Int64(count)))
  }

  mutating func put(_ record: Record, _ key: Int64) {
    let old = records.updateValue(record, forKey: key)
    for index in _indexes.indices {
      let slot = _indexes[index].slot
      guard slot < record.row.count else { continue }
      let before = old.flatMap { slot < $0.row.count ? Self.key(of: $0.row[slot]) : nil }
      let after = Self.key(of: record.row[slot])
      guard before != after else { continue }
      if let before { _indexes[index].remove(before, key) }
      if let after { _indexes[index].add(after, key) }
    }
    if old == nil { _list(key) }
  }

  /// Removes a row. Returns whether there was one.
  mutating func remove(_ key: Int64) -> Bool {
    guard let old = records.removeValue(forKey: key) else { return false }
    for index in _indexes.indices where _indexes[index].slot < old.row.count {
      if let value = Self.key(of: old.row[_indexes[index].slot]) { _indexes[index].remove(value, key) }
    }
    if _order.count > 2 * records.count + 16 { _order.removeAll { records[$0] == nil } }
    return true
  }

  /// What contradicts itself in the table, for tests.
  var inconsistencies: [String] {
    var found: [String] = []
    if Set(all.map(\.key)) != Set(records.keys) || all.count != records.count {
      found.append("\(records.count) rows, of which \(all.count) are listed")
    }
    for index in _indexes {
      var expected: [EqualityKey: Set<Int64>] = [:]
      for (key, record) in records where index.slot < record.row.count {
        if let value = Self.key(of: record.row[index.slot]) { expected[value, default: []].insert(key) }
      }
      if index.keys.mapValues({ Set($0.keys) }) != expected {
        found.append("the index of slot \(index.slot) differs from the rows")
      }
    }
    return found
  }

  private mutating func _list(_ key: Int64) {
    guard let last = _order.last, last >= key else { return _order.append(key) }
    var (low, high) = (0, _order.count)
    while low < high {
      let middle = (low + high) / 2
      if _order[middle] < key { low = middle + 1 } else { high = middle }
    }
    // A row deleted and written again may still be listed.
    if _order[low] != key { _order.insert(key, at: low) }
  }
}
