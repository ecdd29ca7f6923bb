import CoreDataModelSchema

extension TableMigration {
  // MARK: To-ones

  /// Sets the to-ones whose storage has changed, and fixes the positions and dangling references of all.
  package func linkToOnes() throws {
    for flow in plan.flows {
      for pair in flow.pairs {
        for slot in pair.new.slots.indices {
          guard
            case .toOne(let key, _, _, let destination) = new.storage(of: slot, in: pair.new.entityNumber),
            let source = plan.relationshipSource(of: slot, in: pair),
            let links = _links(source, pair), let there = plan.flow(from: links.destination, to: destination)
          else { continue }
          if case .toOne = old.storage(of: source, in: pair.old.entityNumber) { continue }
          let table = new.table(of: flow.newRoot)
          // Of several members, the first is kept.
          try database.execute(
            "UPDATE \(table.name) SET \(table.columns[key].name) = link.member FROM (SELECT owner + \(flow.offset) AS owner, "
              + "MIN(member) + \(there.offset) AS member FROM (\(links.sql)) AS l GROUP BY 1) AS link "
              + "WHERE link.owner = \(table.name).\(keyColumn)")
        }
      }
    }
    var finished: Set<[Int]> = []
    for layout in new.layout.layouts {
      for slot in layout.slots.indices where layout.slots[slot].owner == layout.entityNumber {
        guard
          case .toOne(let key, let entity, let order, let destination) = new.storage(
            of: slot, in: layout.entityNumber),
          finished.insert([layout.rootNumber, key]).inserted
        else { continue }
        let table = new.table(of: layout.entityNumber)
        // Columns that a kept table already had are correct.
        func added(_ column: Int?) -> Int? {
          column.flatMap { kept.keeps(table.columns[$0].name, ofNewRoot: layout.rootNumber, plan) ? nil : $0 }
        }
        try _finishToOne(table, key, added(entity), added(order), destination)
      }
    }
  }

  private func _finishToOne(
    _ table: TableMapping, _ key: Int, _ entity: Int?, _ order: Int?, _ destination: Int
  ) throws {
    let (name, key) = (table.name, table.columns[key].name)
    let theirs = new.table(of: destination).name
    if _losesRows(destination) {
      try database.execute(
        "UPDATE \(name) SET \(key) = NULL WHERE \(key) IS NOT NULL AND \(key) NOT IN (SELECT \(keyColumn) FROM \(theirs))"
      )
    }
    if let entity {
      let column = table.columns[entity].name
      try database.execute(
        "UPDATE \(name) SET \(column) = (SELECT \(entityColumn) FROM \(theirs) AS there WHERE there.\(keyColumn) = \(name).\(key)) "
          + "WHERE (\(key) IS NULL) <> (\(column) IS NULL)")
    }
    if let order {
      let column = table.columns[order].name
      try database.execute(
        "UPDATE \(name) SET \(column) = place.position FROM (SELECT \(keyColumn) AS member, \(_position(in: key, by: keyColumn)) AS position "
          + "FROM \(name) WHERE \(key) IS NOT NULL AND \(column) IS NULL) AS place WHERE place.member = \(name).\(keyColumn)"
      )
    }
  }

  /// Returns the SQL that numbers each owner's members, for members without a position.
  private func _position(in owner: String, by member: String) -> String {
    "\(MemberOrder.first) + \(MemberOrder.step) * "
      + "(ROW_NUMBER() OVER (PARTITION BY \(owner) ORDER BY \(member)) - 1)"
  }

  /// Whether some rows that links may refer to, in the table of a new entity, were not copied.
  private func _losesRows(_ destination: Int) -> Bool {
    let root = new.layout.layout(numbered: destination).rootNumber
    return plan.flows.contains { $0.newRoot == root && !$0.isWhole }
  }

  // MARK: Join tables

  /// Fills the join tables from the old storage of the links.
  package func fillJoins() throws {
    for (number, join) in new.joins.enumerated() {
      if kept.keeps(newJoin: number) {
        try _removeLost(join)
        continue
      }
      for pair in plan.flows.flatMap(\.pairs) {
        for slot in pair.new.slots.indices {
          guard
            case .manyToMany(number, true, let destination) = new.storage(of: slot, in: pair.new.entityNumber)
          else {
            continue
          }
          try _fill(join, slot, pair, to: destination)
        }
      }
      try _finish(join)
    }
  }

  private func _fill(_ join: JoinTable, _ slot: Int, _ pair: MigrationPlan.Pair, to destination: Int) throws {
    guard let source = plan.relationshipSource(of: slot, in: pair), let links = _links(source, pair),
      let here = plan.flow(from: pair.old.entityNumber, to: pair.new.entityNumber),
      let there = plan.flow(from: links.destination, to: destination)
    else { return }
    var columns = [join.first, join.second]
    var values = ["owner + \(here.offset)", "member + \(there.offset)"]
    if let order = join.secondOrder {
      columns.append(order)
      values.append("place")
    }
    if let order = join.firstOrder {
      columns.append(order)
      values.append("back")
    }
    func insert(_ columns: [String]) throws {
      try database.execute(
        "INSERT INTO \(join.name) (\(columns.joined(separator: ", "))) "
          + "SELECT \(values.joined(separator: ", ")) FROM (\(links.sql)) AS l WHERE true ON CONFLICT DO NOTHING"
      )
    }
    try insert(columns)
    // A relationship that is its own inverse is stored in both directions.
    if join.isReflexive { try insert([join.second, join.first] + columns.dropFirst(2)) }
  }

  /// Deletes links to rows that were not copied.
  private func _removeLost(_ join: JoinTable) throws {
    for (column, entity) in [(join.first, join.firstEntity), (join.second, join.secondEntity)]
    where _losesRows(entity) {
      try database.execute(
        "DELETE FROM \(join.name) WHERE \(column) NOT IN (SELECT \(keyColumn) FROM \(new.table(of: entity).name))"
      )
    }
  }

  private func _finish(_ join: JoinTable) throws {
    try _removeLost(join)
    for (order, owner, member) in [
      (join.secondOrder, join.first, join.second), (join.firstOrder, join.second, join.first),
    ] {
      guard let order else { continue }
      try database.execute(
        "UPDATE \(join.name) SET \(order) = place.position FROM (SELECT \(owner) AS a, \(member) AS b, "
          + "\(_position(in: owner, by: member)) AS position FROM \(join.name) WHERE \(order) IS NULL) AS place "
          + "WHERE place.a = \(join.name).\(owner) AND place.b = \(join.name).\(member)"
      )
    }
  }

  // MARK: Old links

  /// A null position, with the type of positions.
  private static let _none = "CAST(NULL AS bigint)"

  /// Returns the links of an old relationship as a query of `owner`, `member`, the member's `place` among the
  /// owner's members, and the owner's place among the member's (`back`), for owners of exactly this entity.
  private func _links(_ slot: Int, _ pair: MigrationPlan.Pair) -> (sql: String, destination: Int)? {
    let entity = pair.old.entityNumber
    let (owners, number) = (away(of: entity), storedNumber(of: pair))
    switch old.storage(of: slot, in: entity) {
    case .toOne(let key, _, let order, let destination):
      let column = old.column(key, of: entity).name
      let back = order.map { old.column($0, of: entity).name } ?? Self._none
      return (
        "SELECT \(keyColumn) AS owner, \(column) AS member, \(Self._none) AS place, \(back) AS back FROM \(owners) "
          + "WHERE \(entityColumn) = \(number) AND \(column) IS NOT NULL", destination
      )
    case .oneToMany(let destination, let inverse):
      guard case .toOne(let key, _, let order, _) = old.storage(of: inverse, in: destination) else {
        return nil
      }
      let column = old.column(key, of: destination).name
      let place = order.map { "m." + old.column($0, of: destination).name } ?? Self._none
      return (
        "SELECT o.\(keyColumn) AS owner, m.\(keyColumn) AS member, \(place) AS place, \(Self._none) AS back FROM \(owners) AS o "
          + "JOIN \(away(of: destination)) AS m ON m.\(column) = o.\(keyColumn) WHERE o.\(entityColumn) = \(number)",
        destination
      )
    case .manyToMany(let join, let ownerIsFirst, let destination):
      let ends = old.joins[join].ends(ownerIsFirst: ownerIsFirst)
      let place = ends.order.map { "j." + $0 } ?? Self._none
      let back = old.joins[join].ends(ownerIsFirst: !ownerIsFirst).order.map { "j." + $0 } ?? Self._none
      return (
        "SELECT o.\(keyColumn) AS owner, j.\(ends.member) AS member, \(place) AS place, \(back) AS back FROM \(owners) AS o "
          + "JOIN \(away(join: join)) AS j ON j.\(ends.owner) = o.\(keyColumn) WHERE o.\(entityColumn) = \(number)",
        destination
      )
    case .none, .attribute, .composite: return nil
    }
  }
}
