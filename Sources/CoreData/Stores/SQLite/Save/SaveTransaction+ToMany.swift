import CoreDataModelSchema
import CoreDataSQLiteBinding

/// To-many relationships: pairs of join tables, hidden to-ones, and the order of members.
extension SaveTransaction {
  /// Writes all deltas: first removals, then additions, then the order of members.
  func writeToManys() throws {
    let changes = try changes.toManyChanges(
      insertedKeys: insertedKeys, layout: layout(of:),
      key: { id, layout, slot in try key(of: id, entity: layout.entityNumber, slot: slot) })
    guard !changes.isEmpty else { return }
    let pairs = try JoinedPairs(of: changes, mapping, key: _key)
    let planned = changes.map { change in
      (change, plans.entity(change.layout.entityNumber).toManys[change.slot])
    }
    for case (let change, let hidden?) in planned.lazy.map({ ($0, $1?.hidden) }) {
      for member in change.removed { try _run(hidden.remove, _key(member, change), change.owner) }
    }
    for (join, pairs) in pairs.removed { try _run(plans.joins[join].delete, pairs) }
    for (join, pairs) in pairs.added { try _run(plans.joins[join].insert, pairs) }
    for case (let change, let hidden?) in planned.lazy.map({ ($0, $1?.hidden) }) {
      for member in change.delta.added { try _addHidden(member, change, hidden) }
    }
    for case (let change, let order?) in planned.lazy.map({ ($0, $1?.order) }) {
      try _writeOrder(change, order)
    }
  }

  private func _key(_ member: NSManagedObjectID, _ change: ToManyChange) throws -> Int64 {
    try key(of: member, entity: change.layout.entityNumber, slot: change.slot)
  }

  // MARK: Pairs

  private func _run(_ sql: SQLText, _ pairs: Set<JoinedPairs.Pair>) throws {
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

  private func _addHidden(
    _ member: NSManagedObjectID, _ change: ToManyChange, _ hidden: ToManyPlan.Hidden
  ) throws {
    let key = try _key(member, change)
    if hidden.hasEntity {
      let entity = Int64(mapping.numbers.stored(for: change.layout.entityNumber))
      try _run(hidden.add, change.owner, entity, key)
    } else {
      try _run(hidden.add, change.owner, key)
    }
  }

  // MARK: Order

  private func _writeOrder(_ change: ToManyChange, _ order: ToManyPlan.Order) throws {
    if let forget = order.forget {
      for member in change.removed { try _run(forget, _key(member, change)) }
    }
    if try _appendToOrder(change, order) { return }
    let present = try _presentOrder(change, order)
    let wanted = try change.order(over: present.map(\.0)) { try _key($0, change) }
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
  private func _appendToOrder(_ change: ToManyChange, _ order: ToManyPlan.Order) throws -> Bool {
    let count = change.delta.appended
    guard count > 0, let members = change.delta.order, count < members.count else { return false }
    let last = try _key(members[members.count - count - 1], change)
    let number = try connection.withStatement(order.place) { statement -> Int64? in
      statement.bind(last, at: 1)
      statement.bind(change.owner, at: 2)
      return try statement.step() && !statement.isNull(0) ? statement.int64(0) : nil
    }
    guard let number, let numbers = MemberOrder.following(number, count: count) else { return false }
    for (member, number) in zip(members.suffix(count), numbers) {
      try _run(order.write, number, _key(member, change), change.owner)
    }
    return true
  }

  /// Returns the stored members with their numbers, in the stored order.
  private func _presentOrder(_ change: ToManyChange, _ order: ToManyPlan.Order) throws -> [(Int64, Int64?)] {
    try connection.withStatement(order.read) { statement in
      statement.bind(change.owner, at: 1)
      var result: [(Int64, Int64?)] = []
      while try statement.step() {
        result.append((statement.int64(0), statement.isNull(1) ? nil : statement.int64(1)))
      }
      return result.sorted { ($0.1 ?? Int64.max, $0.0) < ($1.1 ?? Int64.max, $1.0) }
    }
  }
}
