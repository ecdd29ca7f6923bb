import CoreData
import CoreDataModelSchema
import CoreDataPostgreSQLBinding

// To-many relationships: pairs in join tables, hidden to-ones, and the order of members.

extension PostgreSQLSave {
  /// Writes all deltas: first removals, then additions, then the order of members.
  func writeToManys() throws {
    let changes = try changes.toManyChanges(
      insertedKeys: insertedKeys, layout: layout(of:), key: key(of:_:_:))
    guard !changes.isEmpty else { return }
    let pairs = try JoinedPairs(of: changes, mapping, key: _key)
    for (join, pairs) in pairs.removed.sorted(by: { $0.key < $1.key }) {
      let table = mapping.joins[join]
      try _run(
        """
        DELETE FROM \(table.name) j USING unnest($1::int8[], $2::int8[]) AS n(a, b) \
        WHERE j.\(table.first) = n.a AND j.\(table.second) = n.b
        """, pairs)
    }
    for (join, pairs) in pairs.added.sorted(by: { $0.key < $1.key }) {
      let table = mapping.joins[join]
      try _run(
        """
        INSERT INTO \(table.name) (\(table.first), \(table.second)) \
        SELECT a, b FROM unnest($1::int8[], $2::int8[]) AS n(a, b) ON CONFLICT DO NOTHING
        """, pairs)
    }
    for change in changes { try _writeHidden(change) }
    for change in changes { try _writeOrder(change) }
  }

  private func _key(_ member: NSManagedObjectID, _ change: ToManyChange) throws -> Int64 {
    try key(of: member, change.layout, change.slot)
  }

  // MARK: Pairs

  private func _run(_ sql: String, _ pairs: Set<JoinedPairs.Pair>) throws {
    let sorted = pairs.sorted()
    var parameters = PostgreSQLParameters()
    parameters.add(PostgreSQLArray(sorted.map(\.first)))
    parameters.add(PostgreSQLArray(sorted.map(\.second)))
    try connection.runLater(sql, parameters)
  }

  // MARK: Hidden to-ones

  /// Writes the to-one behind a to-many without inverse.
  private func _writeHidden(_ change: ToManyChange) throws {
    guard
      case .oneToMany(let destination, let inverse) = mapping.storage(
        of: change.slot, in: change.layout.entityNumber),
      mapping.layout.layout(numbered: destination).slots[inverse].isHidden,
      case .toOne(let key, let entity, _, _) = mapping.storage(of: inverse, in: destination)
    else { return }
    let table = mapping.table(of: destination)
    let name = table.columns[key].name
    let entityName = entity.map { table.columns[$0].name }
    let removed = try change.removed.map { try _key($0, change) }
    if !removed.isEmpty {
      var parameters = PostgreSQLParameters()
      parameters.add(change.owner)
      parameters.add(PostgreSQLArray(removed))
      let unset = "\(name) = NULL" + (entityName.map { ", \($0) = NULL" } ?? "")
      try connection.runLater(
        "UPDATE \(table.name) SET \(unset) WHERE \"id\" = ANY($2::int8[]) AND \(name) = $1::int8", parameters)
    }
    let added = try change.delta.added.map { try _key($0, change) }
    guard !added.isEmpty else { return }
    var parameters = PostgreSQLParameters()
    parameters.add(change.owner)
    parameters.add(PostgreSQLArray(added))
    let number = mapping.numbers.stored(for: change.layout.entityNumber)
    let set = "\(name) = $1::int8" + (entityName.map { ", \($0) = \(number)" } ?? "")
    try connection.runLater("UPDATE \(table.name) SET \(set) WHERE \"id\" = ANY($2::int8[])", parameters)
  }

  // MARK: Order

  private func _writeOrder(_ change: ToManyChange) throws {
    guard let table = MemberTable(slot: change.slot, in: change.layout, mapping),
      let position = table.position
    else { return }
    if table.isOfMembers {
      let removed = try change.removed.map { try _key($0, change) }
      if !removed.isEmpty {
        var parameters = PostgreSQLParameters()
        parameters.add(PostgreSQLArray(removed))
        try connection.runLater(
          """
          UPDATE \(table.name) SET \(position) = NULL WHERE "id" = ANY($1::int8[]) AND \(table.owner) IS NULL
          """, parameters)
      }
    }
    let present = try _present(change, table, position)
    let wanted = try change.order(over: present.map(\.0)) { try _key($0, change) }
    let numbers = Dictionary(present.compactMap { member, number in number.map { (member, $0) } }) {
      first, _ in
      first
    }
    let changed = MemberOrder.changes(for: wanted, present: numbers)
    guard !changed.isEmpty else { return }
    var parameters = PostgreSQLParameters()
    parameters.add(change.owner)
    parameters.add(PostgreSQLArray(changed.map(\.member)))
    parameters.add(PostgreSQLArray(changed.map(\.order)))
    try connection.runLater(
      """
      UPDATE \(table.name) t SET \(position) = n.o FROM unnest($2::int8[], $3::int8[]) AS n(m, o) \
      WHERE t.\(table.member) = n.m AND t.\(table.owner) = $1::int8
      """, parameters)
  }

  /// Returns the stored members with their positions, in that order.
  private func _present(_ change: ToManyChange, _ table: MemberTable, _ position: String) throws -> [(
    Int64, Int64?
  )] {
    var parameters = PostgreSQLParameters()
    parameters.add(change.owner)
    let found = try connection.run(
      "SELECT \(table.member), \(position) FROM \(table.name) WHERE \(table.owner) = $1::int8", parameters
    )
    return (0..<found.rowCount).map { row in
      (found.int64(row, 0), found.isNull(row, 1) ? nil : found.int64(row, 1))
    }.sorted { ($0.1 ?? Int64.max, $0.0) < ($1.1 ?? Int64.max, $1.0) }
  }
}
