import CoreDataModelSchema
import CoreDataPredicateLanguage

/// The contents of a memory store: rows by root entity and key, members of many-to-many and ordered
/// relationships by owner.
struct MemoryTables {
  typealias Record = MemoryTable.Record

  /// One relationship of one owner.
  private struct Members: Hashable {
    /// Entity that declares the relationship.
    let declaring: Int
    let slot: Int
    let owner: Int64
  }

  private var _tables: [Int: MemoryTable] = [:]
  /// Ordered members of many-to-many relationships.
  private var _manyToMany: [Members: MemberList] = [:]
  /// Order of the members of ordered one-to-many relationships.
  private var _orders: [Members: [Int64]] = [:]

  // MARK: Reading

  func record(root: Int, _ key: Int64) -> Record? { _tables[root]?.records[key] }

  /// Returns the records that may match a predicate, by ascending key.
  mutating func candidates(root: Int, pin: RowPin?) -> [(key: Int64, record: Record)] {
    guard let table = _tables[root] else { return [] }
    let keys: [Int64]
    switch pin {
    case nil: return table.all
    case .keys(let wanted): keys = Array(Set(wanted))
    case .cells(let slot, let values):
      _tables[root]!.index(slot)
      keys = _tables[root]!.keys(slot: slot, in: Set(values))!
    }
    return keys.sorted().compactMap { key in table.records[key].map { (key, $0) } }
  }

  /// What contradicts itself in the tables, for tests.
  var inconsistencies: [String] { _tables.values.flatMap(\.inconsistencies) }

  /// Makes the indexes by which members of a relationship are found.
  mutating func indexMembers(of layout: PropertyLayout, slot: Int, _ spaces: [ObjectIDSpace]) {
    guard let relationship = layout.slots[slot].relationship, !relationship.isManyToMany,
      let inverse = relationship.inverseSlot
    else { return }
    index(inverse, of: spaces[relationship.destination - 1].layout)
  }

  /// Makes the indexes by which the evaluation of a predicate finds members of to-manys.
  mutating func indexMembers(namedIn predicate: PredicateTree, _ spaces: [ObjectIDSpace]) {
    var names: Set<String> = []
    predicate.forEachExpression {
      switch $0 {
      case .keyPath(let path), .keyPathOf(_, let path): names.formUnion(path)
      default: break
      }
    }
    for layout in spaces.map(\.layout) {
      for slot in layout.toManySlots where names.contains(layout.slots[slot].name) {
        indexMembers(of: layout, slot: slot, spaces)
      }
    }
  }

  /// Indexes a slot of an entity, if it has rows.
  mutating func index(_ slot: Int, of entity: PropertyLayout) { _tables[entity.rootNumber]?.index(slot) }

  func members(of owner: ObjectKey, slot: Int, spaces: [ObjectIDSpace]) -> [ObjectKey] {
    let layout = owner.space.layout
    guard let relationship = layout.slots[slot].relationship else { return [] }
    let place = Members(declaring: layout.slots[slot].owner, slot: slot, owner: owner.reference)
    if relationship.isManyToMany { return _manyToMany[place]?.members ?? [] }
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
    let keys = table.keys(slot: slot, in: Set(targets.map { .int($0.reference) }))
    let candidates = keys.map { $0.sorted().compactMap { key in table.records[key].map { (key, $0) } } }
    return (candidates ?? table.all).compactMap { key, record in
      guard slot < record.row.count, let target = record.row[slot].key, targets.contains(target),
        entity.family.contains(record.entityNumber)
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
    _tables[root, default: MemoryTable()].reserve(count)
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
    for insertion in changes.inserted { put(insertion.row, insertion.id.key!) }
    for update in changes.updated { put(_current(update), update.id.key!) }
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
    return update.row.rebased(onto: stored, update.changed, key.space.layout, version: update.row.version)
  }

  mutating func put(_ row: Row, _ key: ObjectKey) {
    let record = Record(entityNumber: key.space.layout.entityNumber, row: row)
    _tables[key.space.layout.rootNumber, default: MemoryTable()].put(record, key.reference)
  }

  mutating func remove(_ key: ObjectKey) {
    guard _tables[key.space.layout.rootNumber]?.remove(key.reference) == true else { return }
    for slot in key.space.layout.toManySlots where key.space.layout.slots[slot].relationship!.isManyToMany {
      let place = Members(declaring: key.space.layout.slots[slot].owner, slot: slot, owner: key.reference)
      for member in _manyToMany.removeValue(forKey: place)?.members ?? [] {
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
          let present = _manyToMany[place]?.members ?? []
          let wanted = order.compactMap(\.key)
          let (isPresent, isWanted) = (Set(present), Set(wanted))
          _manyToMany[place] = MemberList(
            wanted.filter(isPresent.contains) + present.filter { !isWanted.contains($0) })
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
    _manyToMany[place, default: MemberList()].append(member)
  }

  private mutating func _dropPair(_ owner: ObjectKey, _ slot: Int, _ member: ObjectKey) {
    let place = Members(declaring: owner.space.layout.slots[slot].owner, slot: slot, owner: owner.reference)
    _manyToMany[place]?.remove(member)
  }
}
