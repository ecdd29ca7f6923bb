import CoreData
import CoreDataModelSchema
import CoreDataPostgreSQLBinding

// To-many relationships: pairs in join tables, hidden to-ones, and the order of members.

extension PostgreSQLSave {
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
    let layout: PropertyLayout
    let slot: Int
    let delta: ToManyDelta
  }

  /// Writes all deltas: first removals, then additions, then the order of members.
  func writeToManys() throws {
    let changes = try _changes()
    guard !changes.isEmpty else { return }
    var removed: [Int: Set<Pair>] = [:]
    var added: [Int: Set<Pair>] = [:]
    for change in changes {
      guard
        case .manyToMany(let join, let ownerIsFirst, _) = mapping.storage(
          of: change.slot, in: change.layout.entityNumber)
      else { continue }
      // Members without a permanent ID were never stored, so there is nothing to remove.
      try _collect(change.delta.removed.filter(\.isPermanent), change, join, ownerIsFirst, &removed)
      try _collect(change.delta.added, change, join, ownerIsFirst, &added)
    }
    for (join, pairs) in removed.sorted(by: { $0.key < $1.key }) {
      let table = mapping.joins[join]
      try _run(
        """
        DELETE FROM \(table.name) j USING unnest($1::int8[], $2::int8[]) AS n(a, b) \
        WHERE j.\(table.first) = n.a AND j.\(table.second) = n.b
        """, pairs)
    }
    for (join, pairs) in added.sorted(by: { $0.key < $1.key }) {
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

  private func _changes() throws -> [Change] {
    var result: [Change] = []
    for update in changes.updated {
      let layout = try layout(of: update.id)
      for slot in layout.toManySlots where update.changed.contains(slot) {
        guard slot < update.row.count, case .toMany(let delta) = update.row[slot] else { continue }
        result.append(Change(owner: update.id.key!.reference, layout: layout, slot: slot, delta: delta))
      }
    }
    for (index, insertion) in changes.inserted.enumerated() {
      let layout = try layout(of: insertion.id)
      for slot in layout.toManySlots {
        guard slot < insertion.row.count, case .toMany(let delta) = insertion.row[slot] else { continue }
        result.append(Change(owner: insertedKeys[index], layout: layout, slot: slot, delta: delta))
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
      let key = try key(of: member, change.layout, change.slot)
      let pair =
        ownerIsFirst ? Pair(first: change.owner, second: key) : Pair(first: key, second: change.owner)
      pairs[join, default: []].insert(pair)
      if mapping.joins[join].isReflexive { pairs[join]!.insert(Pair(first: pair.second, second: pair.first)) }
    }
  }

  private func _run(_ sql: String, _ pairs: Set<Pair>) throws {
    let sorted = pairs.sorted()
    var parameters = PostgreSQLParameters()
    parameters.add(PostgreSQLArray(sorted.map(\.first)))
    parameters.add(PostgreSQLArray(sorted.map(\.second)))
    try connection.runLater(sql, parameters)
  }

  // MARK: Hidden to-ones

  /// Writes the to-one behind a to-many without inverse.
  private func _writeHidden(_ change: Change) throws {
    guard
      case .oneToMany(let destination, let inverse) = mapping.storage(
        of: change.slot, in: change.layout.entityNumber),
      mapping.layout.layout(numbered: destination).slots[inverse].isHidden,
      case .toOne(let key, let entity, _, _) = mapping.storage(of: inverse, in: destination)
    else { return }
    let table = mapping.table(of: destination)
    let name = table.columns[key].name
    let entityName = entity.map { table.columns[$0].name }
    let removed = try change.delta.removed.filter(\.isPermanent).map {
      try self.key(of: $0, change.layout, change.slot)
    }
    if !removed.isEmpty {
      var parameters = PostgreSQLParameters()
      parameters.add(change.owner)
      parameters.add(PostgreSQLArray(removed))
      let unset = "\(name) = NULL" + (entityName.map { ", \($0) = NULL" } ?? "")
      try connection.runLater(
        "UPDATE \(table.name) SET \(unset) WHERE \"id\" = ANY($2::int8[]) AND \(name) = $1::int8", parameters)
    }
    let added = try change.delta.added.map { try self.key(of: $0, change.layout, change.slot) }
    guard !added.isEmpty else { return }
    var parameters = PostgreSQLParameters()
    parameters.add(change.owner)
    parameters.add(PostgreSQLArray(added))
    let number = mapping.numbers.stored(for: change.layout.entityNumber)
    let set = "\(name) = $1::int8" + (entityName.map { ", \($0) = \(number)" } ?? "")
    try connection.runLater("UPDATE \(table.name) SET \(set) WHERE \"id\" = ANY($2::int8[])", parameters)
  }

  // MARK: Order

  /// Where the order of a relationship's members is stored.
  private struct Place {
    let table: String
    let owner: String
    let member: String
    let order: String
    let isJoin: Bool
  }

  private func _place(_ change: Change) -> Place? {
    switch mapping.storage(of: change.slot, in: change.layout.entityNumber) {
    case .manyToMany(let index, let ownerIsFirst, _):
      let join = mapping.joins[index]
      let ends = join.ends(ownerIsFirst: ownerIsFirst)
      return ends.order.map {
        Place(table: join.name, owner: ends.owner, member: ends.member, order: $0, isJoin: true)
      }
    case .oneToMany(let destination, let inverse):
      guard case .toOne(let key, _, let order?, _) = mapping.storage(of: inverse, in: destination) else {
        return nil
      }
      let table = mapping.table(of: destination)
      return Place(
        table: table.name, owner: table.columns[key].name, member: "\"id\"", order: table.columns[order].name,
        isJoin: false)
    case .none, .attribute, .toOne, .composite: return nil
    }
  }

  private func _writeOrder(_ change: Change) throws {
    guard let place = _place(change) else { return }
    if !place.isJoin {
      let removed = try change.delta.removed.filter(\.isPermanent).map {
        try key(of: $0, change.layout, change.slot)
      }
      if !removed.isEmpty {
        var parameters = PostgreSQLParameters()
        parameters.add(PostgreSQLArray(removed))
        try connection.runLater(
          """
          UPDATE \(place.table) SET \(place.order) = NULL WHERE "id" = ANY($1::int8[]) AND \(place.owner) IS NULL
          """, parameters)
      }
    }
    let present = try _present(change, place)
    let wanted = try _wanted(change, present)
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
      UPDATE \(place.table) t SET \(place.order) = n.o FROM unnest($2::int8[], $3::int8[]) AS n(m, o) \
      WHERE t.\(place.member) = n.m AND t.\(place.owner) = $1::int8
      """, parameters)
  }

  /// Returns the stored members with their positions, in that order.
  private func _present(_ change: Change, _ place: Place) throws -> [(Int64, Int64?)] {
    var parameters = PostgreSQLParameters()
    parameters.add(change.owner)
    let found = try connection.run(
      "SELECT \(place.member), \(place.order) FROM \(place.table) WHERE \(place.owner) = $1::int8", parameters
    )
    return (0..<found.rowCount).map { row in
      (found.int64(row, 0), found.isNull(row, 1) ? nil : found.int64(row, 1))
    }.sorted { ($0.1 ?? Int64.max, $0.0) < ($1.1 ?? Int64.max, $1.0) }
  }

  /// Returns the order to store: the save's own, followed by members that others have added meanwhile, in
  /// their order.
  private func _wanted(_ change: Change, _ present: [(Int64, Int64?)]) throws -> [Int64] {
    guard let order = change.delta.order else { return present.map(\.0) }
    let stored = Set(present.map(\.0))
    var seen: Set<Int64> = []
    var result: [Int64] = []
    for member in order {
      let key = try key(of: member, change.layout, change.slot)
      if stored.contains(key), seen.insert(key).inserted { result.append(key) }
    }
    return result + present.map(\.0).filter { !seen.contains($0) }
  }
}
