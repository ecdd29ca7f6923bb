import CoreDataModelSchema
import CoreDataSQLiteBinding

/// To-many relationships: pairs of join tables, hidden to-ones, and the order of members.
extension SaveTransaction {
  /// A row of a join table.
  private struct Pair: Hashable, Comparable {
    let first: Int64
    let second: Int64

    static func < (left: Pair, right: Pair) -> Bool {
      (left.first, left.second) < (right.first, right.second)
    }
  }

  /// A change of one relationship of one object.
  private struct Change {
    let owner: Int64
    let ownerEntity: Int
    let slot: Int
    let delta: ToManyDelta
    let plan: ToManyPlan

    /// Unsaved members are not stored, so they need no removal.
    var removed: [NSManagedObjectID] { delta.removed.filter(\.isPermanent) }
  }

  /// Writes all deltas: first removals, then additions, then the order of members.
  func writeToManys() throws {
    let changes = try _toManyChanges()
    guard !changes.isEmpty else { return }
    var removed: [Int: Set<Pair>] = [:]
    var added: [Int: Set<Pair>] = [:]
    for change in changes {
      switch change.plan.kind {
      case .inverse: break
      case .pairs(let join, let ownerIsFirst):
        try _collect(change.removed, change, join, ownerIsFirst, &removed)
        try _collect(change.delta.added, change, join, ownerIsFirst, &added)
      case .hidden(_, let remove, _):
        for member in change.removed {
          try _run(remove, try key(of: member, entity: change.ownerEntity, slot: change.slot), change.owner)
        }
      }
    }
    for (join, pairs) in removed { try _run(plans.joins[join].delete, pairs) }
    // Both ends report a pair; the set contains it once.
    for (join, pairs) in added { try _run(plans.joins[join].insert, pairs) }
    for change in changes {
      guard case .hidden(let add, _, let hasEntity) = change.plan.kind else { continue }
      for member in change.delta.added { try _addHidden(member, change, add, hasEntity) }
    }
    for change in changes where change.plan.order != nil { try _writeOrder(change) }
  }

  private func _toManyChanges() throws -> [Change] {
    var result: [Change] = []
    for update in changes.updated {
      let layout = try layout(of: update.id)
      for slot in layout.toManySlots where update.changed.contains(slot) {
        guard slot < update.row.count, case .toMany(let delta) = update.row[slot],
          let plan = plans.entity(layout.entityNumber).toManys[slot]
        else { continue }
        let key = try key(of: update.id, entity: layout.entityNumber, slot: slot)
        result.append(
          Change(owner: key, ownerEntity: layout.entityNumber, slot: slot, delta: delta, plan: plan))
      }
    }
    for (index, insertion) in changes.inserted.enumerated() {
      let layout = insertion.id.space.layout
      for slot in layout.toManySlots {
        guard slot < insertion.row.count, case .toMany(let delta) = insertion.row[slot],
          let plan = plans.entity(layout.entityNumber).toManys[slot]
        else { continue }
        result.append(
          Change(
            owner: insertedKeys[index], ownerEntity: layout.entityNumber, slot: slot, delta: delta, plan: plan
          ))
      }
    }
    return result
  }

  // MARK: Pairs

  private func _collect(
    _ members: [NSManagedObjectID], _ change: Change, _ join: Int, _ ownerIsFirst: Bool,
    _ pairs: inout [Int: Set<Pair>]
  ) throws {
    for member in members {
      let key = try key(of: member, entity: change.ownerEntity, slot: change.slot)
      let pair =
        ownerIsFirst ? Pair(first: change.owner, second: key) : Pair(first: key, second: change.owner)
      pairs[join, default: []].insert(pair)
      if mapping.joins[join].isReflexive { pairs[join]!.insert(Pair(first: pair.second, second: pair.first)) }
    }
  }

  private func _run(_ sql: SQLText, _ pairs: Set<Pair>) throws {
    try connection.withStatement(sql) { statement in
      // In the order of the table's key, so that neighbouring pages are written together.
      for pair in pairs.sorted() {
        statement.bind(pair.first, at: 1)
        statement.bind(pair.second, at: 2)
        try statement.run()
        statement.reset()
      }
    }
  }

  private func _run(_ sql: SQLText, _ values: Int64...) throws {
    try connection.withStatement(sql) { statement in
      for (index, value) in values.enumerated() { statement.bind(value, at: Int32(index + 1)) }
      try statement.run()
    }
  }

  private func _addHidden(_ member: NSManagedObjectID, _ change: Change, _ add: SQLText, _ hasEntity: Bool)
    throws
  {
    let key = try key(of: member, entity: change.ownerEntity, slot: change.slot)
    if hasEntity {
      try _run(add, change.owner, Int64(mapping.numbers.stored(for: change.ownerEntity)), key)
    } else {
      try _run(add, change.owner, key)
    }
  }

  // MARK: Order

  private func _writeOrder(_ change: Change) throws {
    guard let order = change.plan.order else { return }
    if let forget = order.forget {
      for member in change.removed {
        try _run(forget, try key(of: member, entity: change.ownerEntity, slot: change.slot))
      }
    }
    if try _appendToOrder(change, order) { return }
    let present = try _presentOrder(change, order)
    let wanted = try _wantedOrder(change, present)
    let numbers = Dictionary(present.compactMap { member, number in number.map { (member, $0) } }) {
      first, _ in first
    }
    for (member, number) in MemberOrder.changes(for: wanted, present: numbers) {
      try _run(order.write, number, member, change.owner)
    }
  }

  /// Numbers members that were only appended, without reading those before them.
  ///
  /// - Returns: False if the order must be compared with the stored one.
  private func _appendToOrder(_ change: Change, _ order: ToManyPlan.Order) throws -> Bool {
    let count = change.delta.appended
    guard count > 0, let members = change.delta.order, count < members.count else { return false }
    func key(_ member: NSManagedObjectID) throws -> Int64 {
      try self.key(of: member, entity: change.ownerEntity, slot: change.slot)
    }
    let last = try key(members[members.count - count - 1])
    let number = try connection.withStatement(order.place) { statement -> Int64? in
      statement.bind(last, at: 1)
      statement.bind(change.owner, at: 2)
      return try statement.step() && !statement.isNull(0) ? statement.int64(0) : nil
    }
    guard let number, let numbers = MemberOrder.following(number, count: count) else { return false }
    for (member, number) in zip(members.suffix(count), numbers) {
      try _run(order.write, number, key(member), change.owner)
    }
    return true
  }

  /// Returns the stored members with their numbers, in the stored order.
  private func _presentOrder(_ change: Change, _ order: ToManyPlan.Order) throws -> [(Int64, Int64?)] {
    try connection.withStatement(order.read) { statement in
      statement.bind(change.owner, at: 1)
      var result: [(Int64, Int64?)] = []
      while try statement.step() {
        result.append((statement.int64(0), statement.isNull(1) ? nil : statement.int64(1)))
      }
      return result.sorted { ($0.1 ?? Int64.max, $0.0) < ($1.1 ?? Int64.max, $1.0) }
    }
  }

  /// Returns the target order: the save's, followed by members that others have added meanwhile, in their
  /// stored order.
  private func _wantedOrder(_ change: Change, _ present: [(Int64, Int64?)]) throws -> [Int64] {
    let stored = Set(present.map(\.0))
    guard let order = change.delta.order else { return present.map(\.0) }
    var seen: Set<Int64> = []
    var result: [Int64] = []
    for member in order {
      let key = try key(of: member, entity: change.ownerEntity, slot: change.slot)
      if stored.contains(key), seen.insert(key).inserted { result.append(key) }
    }
    result += present.map(\.0).filter { !seen.contains($0) }
    return result
  }
}
