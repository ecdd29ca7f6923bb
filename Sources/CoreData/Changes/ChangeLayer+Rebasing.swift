import CoreDataModelSchema

// Composition of one object's unsaved changes with each other and with stored rows.

extension ChangeLayer {
  /// Applies `newer` on top of `older`, both for the same object.
  ///
  /// - Parameter withMembers: Whether to compose to-many changes as well, which takes time proportional to
  ///   their size.
  static func composed(_ older: Entry, _ newer: Entry, withMembers: Bool = true) -> Entry {
    if newer.isWhole { return newer }
    switch (older.kind, newer.kind) {
    case (.inserted, .deleted), (.insertedThenDeleted, _), (.inserted, .insertedThenDeleted):
      return Entry(
        kind: .insertedThenDeleted, id: older.id, base: nil, row: nil, changed: SlotSet(),
        isWhole: older.isWhole)
    case (_, .deleted):
      return Entry(
        kind: .deleted, id: older.id, base: older.base ?? newer.base, row: nil, changed: SlotSet(),
        isWhole: older.isWhole)
    case (.deleted, _):
      return older
    default:
      return Entry(
        kind: older.kind, id: older.id, base: older.base, row: _row(older, newer, withMembers),
        changed: older.changed.union(newer.changed), isWhole: older.isWhole)
    }
  }

  /// Composes several entries for the same object, newest first. Visits each to-many change once.
  static func composed(_ entries: [Entry], withMembers: Bool) -> Entry {
    let isOrdinary = entries.allSatisfy { $0.row != nil && ($0.kind == .inserted || $0.kind == .updated) }
    let result = entries.dropFirst().reduce(entries[0]) { newer, older in
      composed(older, newer, withMembers: withMembers && !isOrdinary)
    }
    let slots = result.id.space.layout.recordedToManySlots.filter { result.changed.contains($0) }
    guard withMembers, isOrdinary, !slots.isEmpty, let found = result.row else { return result }
    var row = Row(copying: found, version: found.version)
    for slot in slots {
      let deltas = entries.compactMap { entry -> ToManyDelta? in
        guard entry.changed.contains(slot), case .toMany(let delta)? = entry.row?[slot] else { return nil }
        return delta
      }
      if !deltas.isEmpty { row.set(.toMany(ToManyDelta.composed(deltas)), at: slot) }
    }
    return Entry(
      kind: result.kind, id: result.id, base: result.base, row: row, changed: result.changed,
      isWhole: result.isWhole)
  }

  private static func _row(_ older: Entry, _ newer: Entry, _ withMembers: Bool) -> Row? {
    guard let old = older.row, let new = newer.row else { return newer.row ?? older.row }
    if !newer.definesCells { return old }
    // Saved by the context that saved the older change, or by one that had read it.
    let isOnTop = newer.base === old
    let members =
      withMembers ? older.id.space.layout.recordedToManySlots.filter { older.changed.contains($0) } : []
    if isOnTop, members.isEmpty { return new }
    var row =
      isOnTop
      ? Row(copying: new, version: old.version) : new.rebased(onto: old, newer.changed, older.id.space.layout)
    guard withMembers else { return row }
    for slot in older.id.space.layout.recordedToManySlots {
      switch (older.changed.contains(slot), newer.changed.contains(slot)) {
      case (true, true):
        if case .toMany(let first) = old[slot], case .toMany(let second) = new[slot] {
          row.set(.toMany(first.followed(by: second)), at: slot)
        }
      case (true, false): row.set(slot, from: old)
      case (false, true): row.set(slot, from: new)
      case (false, false): break
      }
    }
    return row
  }
}

extension Row? {
  /// Whether both are the same Row.
  static func === (left: Row?, right: Row) -> Bool { left.map { $0 === right } ?? false }
}

extension ChangeLayer.Entry {
  /// Returns the object's row after applying this change to `below`, its newest known row.
  ///
  /// - Returns: Nil if the change is a deletion. If nothing newer is known, the row of the context that made
  ///   the change.
  func row(over below: Row?) -> Row? {
    guard kind == .updated, let below, !(base === below) else { return row }
    if !definesCells { return below }
    return _rebased(onto: below, version: below.version)
  }

  /// Returns the change rebased on a stored row, in the form that a store writes.
  func written(over stored: Row) -> ChangeLayer.Entry {
    ChangeLayer.Entry(
      kind: .updated, id: id, base: stored, row: _rebased(onto: stored, version: stored.version.next),
      changed: changed,
      isWhole: isWhole)
  }

  private func _rebased(onto below: Row, version: Int64) -> Row? {
    guard let row else { return nil }
    var rebased = row.rebased(onto: below, changed, id.space.layout, version: version)
    for slot in id.space.layout.toManySlots {
      rebased.set(changed.contains(slot) ? row[slot] : .null, at: slot)
    }
    return rebased
  }
}
