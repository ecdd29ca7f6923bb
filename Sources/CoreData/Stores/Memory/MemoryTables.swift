import CoreDataModelSchema

/// The contents of a memory store: rows by root entity and key, members of many-to-many and ordered
/// relationships by owner.
struct MemoryTables {
  struct Record {
    let entityNumber: Int
    let row: Row
  }

  private struct Table {
    var records: [Int64: Record] = [:]
    /// Ascending keys, including deleted ones until the next cleanup.
    var order: [Int64] = []
    var lastKey: Int64 = 0
    /// By slot, keys by value; built on demand.
    var indexes: [Int: [EqualityKey: [Int64]]] = [:]
  }

  /// One relationship of one owner.
  private struct Members: Hashable {
    /// Entity that declares the relationship.
    let declaring: Int
    let slot: Int
    let owner: Int64
  }

  private var _tables: [Int: Table] = [:]
  /// Ordered members of many-to-many relationships.
  private var _manyToMany: [Members: [ObjectKey]] = [:]
  /// Order of the members of ordered one-to-many relationships.
  private var _orders: [Members: [Int64]] = [:]

  // MARK: Reading

  func record(root: Int, _ key: Int64) -> Record? { _tables[root]?.records[key] }

  /// Returns the records that may match a predicate, by ascending key.
  mutating func candidates(root: Int, pin: PendingMatcher.Pin?) -> [(key: Int64, record: Record)] {
    guard let table = _tables[root] else { return [] }
    let keys = pin.map { _keys(root: root, slot: $0.slot, $0.key).sorted() } ?? table.order
    return keys.compactMap { key in table.records[key].map { (key, $0) } }
  }

  private mutating func _keys(root: Int, slot: Int, _ value: EqualityKey) -> [Int64] {
    if _tables[root]!.indexes[slot] == nil {
      var index: [EqualityKey: [Int64]] = [:]
      for (key, record) in _tables[root]!.records where slot < record.row.count {
        if let value = EqualityKey(record.row[slot]) { index[value, default: []].append(key) }
      }
      _tables[root]!.indexes[slot] = index
    }
    return _tables[root]!.indexes[slot]![value] ?? []
  }

  func members(of owner: ObjectKey, slot: Int, spaces: [ObjectIDSpace]) -> [ObjectKey] {
    let layout = owner.space.layout
    guard let relationship = layout.slots[slot].relationship else { return [] }
    let place = Members(declaring: layout.slots[slot].owner, slot: slot, owner: owner.reference)
    if relationship.isManyToMany { return _manyToMany[place] ?? [] }
    guard let inverse = relationship.inverseSlot else { return [] }
    let destination = spaces[relationship.destination - 1].layout
    let found = rows(pointingAt: [owner], through: inverse, of: destination, spaces: spaces)
    guard relationship.isOrdered, let order = _orders[place] else { return found }
    let places = Dictionary(order.enumerated().map { ($1, $0) }, uniquingKeysWith: { first, _ in first })
    func rank(_ key: ObjectKey) -> (Int, Int64) { (places[key.reference] ?? .max, key.reference) }
    return found.sorted { rank($0) < rank($1) }
  }

  /// Returns the rows of an entity whose to-one points at one of the targets, by ascending key.
  func rows(
    pointingAt targets: Set<ObjectKey>, through slot: Int, of entity: PropertyLayout,
    spaces: [ObjectIDSpace]
  ) -> [ObjectKey] {
    guard let table = _tables[entity.rootNumber] else { return [] }
    return table.order.compactMap { key in
      guard let record = table.records[key], slot < record.row.count, let target = record.row[slot].key,
        targets.contains(target), entity.family.contains(record.entityNumber)
      else { return nil }
      return ObjectKey(space: spaces[record.entityNumber - 1], reference: key)
    }
  }

  /// Returns the cell, or the cell of a composite's element, at the end of a path of to-one relationships.
  func cell(_ path: [String], _ record: Record, _ model: ModelLayout) -> Value {
    var record = record
    for (index, step) in path.enumerated() {
      let layout = model.layout(numbered: record.entityNumber)
      guard let slot = layout.slot(named: step) else { return .null }
      if index == path.count - 1 { return RowOrdering.orderable(record.row[slot]) }
      if case .attribute(let attribute) = layout.slots[slot].kind {
        return record.row[slot].element(at: path[(index + 1)...], of: attribute)
      }
      guard let key = record.row[slot].key,
        let next = self.record(root: key.space.layout.rootNumber, key.reference)
      else { return .null }
      record = next
    }
    return .null
  }

  // MARK: Writing

  mutating func reserve(_ count: Int, root: Int) -> [Int64] {
    let last = _tables[root, default: Table()].lastKey
    _tables[root, default: Table()].lastKey = last + Int64(count)
    return Array((last + 1)..<(last + 1 + Int64(count)))
  }

  /// Returns rows whose version differs from the one that a save expects.
  func conflicts(in changes: ChangeSet) -> [VersionConflict] {
    func conflict(_ id: NSManagedObjectID, _ base: Row) -> VersionConflict? {
      guard let key = id.key else { return nil }
      let stored = record(root: key.space.layout.rootNumber, key.reference)?.row
      return stored?.version == base.version ? nil : VersionConflict(id: id, base: base, persisted: stored)
    }
    // Of those that insert a row again which another context has deleted, only the first inserts it.
    func conflict(_ insertion: ChangeSet.Insertion) -> VersionConflict? {
      guard let key = insertion.id.key,
        let stored = record(root: key.space.layout.rootNumber, key.reference)?.row
      else { return nil }
      return VersionConflict(id: insertion.id, base: insertion.row, persisted: stored)
    }
    return changes.inserted.compactMap { conflict($0) }
      + changes.updated.compactMap { conflict($0.id, $0.base) }
      + changes.deleted.compactMap { conflict($0.id, $0.base) }
      + changes.locked.compactMap { conflict($0.id, $0.base) }
  }

  /// Writes a save. All inserted objects must have keys.
  mutating func write(_ changes: ChangeSet) {
    for insertion in changes.inserted { put(insertion.row, insertion.id.key!, isNew: true) }
    for update in changes.updated { put(_current(update), update.id.key!, isNew: false) }
    for deletion in changes.deleted { remove(deletion.id.key!) }
    for insertion in changes.inserted { _relate(insertion.id.key!, insertion.row) }
    for update in changes.updated { _relate(update.id.key!, update.row, changed: update.changed) }
  }

  /// Returns the stored row with an update's changes applied: the update's other cells may be stale.
  private func _current(_ update: ChangeSet.Update) -> Row {
    let key = update.id.key!
    guard let stored = record(root: key.space.layout.rootNumber, key.reference)?.row,
      !(stored === update.base)
    else { return update.row }
    return update.row.laid(over: stored, update.changed, key.space.layout, version: update.row.version)
  }

  mutating func put(_ row: Row, _ key: ObjectKey, isNew: Bool) {
    let root = key.space.layout.rootNumber
    if _tables[root] == nil { _tables[root] = Table() }
    let old = _tables[root]!.records[key.reference]
    for slot in _tables[root]!.indexes.keys where slot < row.count {
      let before = old.flatMap { EqualityKey($0.row[slot]) }
      let after = EqualityKey(row[slot])
      guard before != after else { continue }
      if let before { _tables[root]!.indexes[slot]![before]?.removeAll { $0 == key.reference } }
      if let after { _tables[root]!.indexes[slot]![after, default: []].append(key.reference) }
    }
    _tables[root]!.records[key.reference] = Record(entityNumber: key.space.layout.entityNumber, row: row)
    guard old == nil else { return }
    if let last = _tables[root]!.order.last, last >= key.reference {
      let place = _tables[root]!.order.firstIndex { $0 >= key.reference }!
      // A row deleted and written again may still be listed.
      if _tables[root]!.order[place] != key.reference {
        _tables[root]!.order.insert(key.reference, at: place)
      }
    } else {
      _tables[root]!.order.append(key.reference)
    }
  }

  mutating func remove(_ key: ObjectKey) {
    let root = key.space.layout.rootNumber
    guard let old = _tables[root]?.records.removeValue(forKey: key.reference) else { return }
    for slot in _tables[root]!.indexes.keys where slot < old.row.count {
      if let value = EqualityKey(old.row[slot]) {
        _tables[root]!.indexes[slot]![value]?.removeAll { $0 == key.reference }
      }
    }
    if _tables[root]!.order.count > 2 * _tables[root]!.records.count + 16 {
      let records = _tables[root]!.records
      _tables[root]!.order.removeAll { records[$0] == nil }
    }
    for slot in key.space.layout.toManySlots where key.space.layout.slots[slot].relationship!.isManyToMany {
      let place = Members(declaring: key.space.layout.slots[slot].owner, slot: slot, owner: key.reference)
      for member in _manyToMany.removeValue(forKey: place) ?? [] {
        _dropPair(member, key.space.layout.slots[slot].relationship!.inverseSlot!, key)
      }
    }
  }

  /// Applies the to-many changes in a row. Both ends of a pair may report it.
  ///
  /// - Parameter changed: The slots that an update changed: the row may also carry changes of an older save.
  private mutating func _relate(_ owner: ObjectKey, _ row: Row, changed: SlotSet? = nil) {
    let layout = owner.space.layout
    for slot in layout.toManySlots where changed?.contains(slot) ?? true {
      guard case .toMany(let delta) = row[slot] else { continue }
      let relationship = layout.slots[slot].relationship!
      let place = Members(declaring: layout.slots[slot].owner, slot: slot, owner: owner.reference)
      if relationship.isManyToMany {
        for member in delta.removed.compactMap(\.key) {
          _dropPair(owner, slot, member)
          if let inverse = relationship.inverseSlot { _dropPair(member, inverse, owner) }
        }
        for member in delta.added.compactMap(\.key) {
          _addPair(owner, slot, member)
          if let inverse = relationship.inverseSlot { _addPair(member, inverse, owner) }
        }
        if relationship.isOrdered, let order = delta.order {
          // Members that others have added meanwhile come last.
          let present = _manyToMany[place] ?? []
          let wanted = order.compactMap(\.key)
          let (isPresent, isWanted) = (Set(present), Set(wanted))
          _manyToMany[place] = wanted.filter(isPresent.contains) + present.filter { !isWanted.contains($0) }
        }
      } else if relationship.isOrdered {
        if let order = delta.order {
          _orders[place] = order.compactMap { $0.key?.reference }
        } else {
          _orders[place, default: []] += delta.added.compactMap { $0.key?.reference }
        }
      }
    }
  }

  private mutating func _addPair(_ owner: ObjectKey, _ slot: Int, _ member: ObjectKey) {
    let place = Members(declaring: owner.space.layout.slots[slot].owner, slot: slot, owner: owner.reference)
    if !(_manyToMany[place]?.contains(member) ?? false) { _manyToMany[place, default: []].append(member) }
  }

  private mutating func _dropPair(_ owner: ObjectKey, _ slot: Int, _ member: ObjectKey) {
    let place = Members(declaring: owner.space.layout.slots[slot].owner, slot: slot, owner: owner.reference)
    _manyToMany[place]?.removeAll { $0 == member }
  }
}
