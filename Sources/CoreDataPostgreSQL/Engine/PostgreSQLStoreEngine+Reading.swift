import CoreData
import CoreDataModelSchema
import CoreDataPostgreSQLBinding
import CoreDataPredicateLanguage

// Fetches, faults and relationships. Methods with a connection read what that connection sees: the latest
// state, a save's own writes, or a generation.

extension PostgreSQLStoreEngine {
  func fetch(_ plan: FetchPlan) throws -> [StoredObject] {
    try readingObjects("a fetch of \(plan.layout.entityName)") { try fetch(plan, on: $0) }
  }

  func fetch(_ plan: FetchPlan, on connection: PostgreSQLConnection) throws -> [StoredObject] {
    let (query, parameters) = try compiled(plan, .objects)
    let result = try connection.run(query.sql, parameters)
    return plan.content == .identity
      ? try query.reader!.identities(result) : try query.reader!.objects(result)
  }

  func count(_ plan: FetchPlan) throws -> Int {
    try readingObjects("a count of \(plan.layout.entityName)") { try count(plan, on: $0) }
  }

  func count(_ plan: FetchPlan, on connection: PostgreSQLConnection) throws -> Int {
    let (query, parameters) = try compiled(plan, .count)
    let result = try connection.run(query.sql, parameters)
    return result.rowCount > 0 ? Int(clamping: result.int64(0, 0)) : 0
  }

  /// Returns the SQL of a fetch, compiled once per shape, with this fetch's parameters.
  ///
  /// - Throws: `UntranslatableQueryError`.
  func compiled(
    _ plan: FetchPlan, _ purpose: QueryShape.Purpose
  ) throws -> (query: PostgreSQLQuery, parameters: PostgreSQLParameters) {
    let (shape, constants) = QueryShape.taking(plan, purpose)
    let query = try queries.query(PostgreSQLQueryKey(shape, constants)) {
      let reader = _reader(plan)
      let text = try QueryCompiler.compile(
        plan, constants, purpose: purpose, mapping: mapping, lists: reader.lists)
      return PostgreSQLQuery(text.fragment, constants, reader: reader)
    }
    let binder = PostgreSQLBinder(
      spaces: spaces, numbers: mapping.numbers, entityName: plan.layout.entityName)
    return (query, try binder.parameters(for: query, plan, constants))
  }

  private func _reader(_ plan: FetchPlan) -> PostgreSQLRowReader {
    let number = plan.layout.entityNumber
    if case .slots(let slots) = plan.content {
      return PostgreSQLRowReader(
        entity: number, includesSubentities: plan.includesSubentities, part: RowPart(SlotSet(slots)),
        mapping: mapping, spaces: spaces)
    }
    return plan.includesSubentities ? familyReaders[number - 1] : exactReaders[number - 1]
  }

  // MARK: By key

  func rows(for keys: [ObjectKey]) throws -> [Row?] {
    if keys.isEmpty { return [] }
    return try readingObjects("objects by key") { try rows(for: keys, on: $0) }
  }

  /// Returns the rows for keys, read on the given connection; inside a save this includes its own writes.
  func rows(for keys: [ObjectKey], on connection: PostgreSQLConnection) throws -> [Row?] {
    var result = [Row?](repeating: nil, count: keys.count)
    guard let first = keys.first else { return result }
    // Almost always all keys are of one entity, and one statement reads them.
    if keys.allSatisfy({ $0.space === first.space }) {
      try _read(keys, Array(keys.indices), first.space.layout.entityNumber, into: &result, connection)
      return result
    }
    var byEntity: [Int: [Int]] = [:]
    for (index, key) in keys.enumerated() {
      byEntity[key.space.layout.entityNumber, default: []].append(index)
    }
    for (number, indices) in byEntity { try _read(keys, indices, number, into: &result, connection) }
    return result
  }

  /// Minimum number of keys for which the server replans the statement.
  private static let _fewestPlanned = 1000

  /// Reads the rows for some of the keys, all of one entity.
  private func _read(
    _ keys: [ObjectKey], _ indices: [Int], _ number: Int, into result: inout [Row?],
    _ connection: PostgreSQLConnection
  ) throws {
    let reader = familyReaders[number - 1]
    guard indices.count > 1 else {
      var parameters = PostgreSQLParameters()
      parameters.add(keys[indices[0]].reference)
      let found = try connection.run(reader.sqlForKey, parameters)
      if found.rowCount > 0 { result[indices[0]] = try reader.object(found, 0)?.row }
      return
    }
    let places = KeyPlaces(indices.map { keys[$0].reference })
    var parameters = PostgreSQLParameters()
    parameters.add(PostgreSQLArray(indices.map { keys[$0].reference }))
    // A generic plan looks up each key; a plan for these keys may scan the table.
    let found = try connection.run(
      reader.sqlForKeys, parameters, isRepeated: indices.count < Self._fewestPlanned)
    for row in 0..<found.rowCount {
      guard let object = try reader.object(found, row) else { continue }
      places.forEach(of: object.key.reference) { result[indices[$0]] = object.row }
    }
  }

  // MARK: Relationships

  func related(to owners: [ObjectKey], slot: Int) throws -> [[ObjectKey]] {
    guard let layout = owners.first?.space.layout else { return [] }
    let name = layout.slots.indices.contains(slot) ? layout.slots[slot].name : "\(slot)"
    return try readingObjects("members of \(layout.entityName).\(name)") {
      try related(to: owners, slot: slot, on: $0)
    }
  }

  /// Returns the members of a to-many relationship, read on the given connection.
  func related(
    to owners: [ObjectKey], slot: Int, on connection: PostgreSQLConnection
  ) throws -> [[ObjectKey]] {
    guard let first = owners.first else { return [] }
    let layout = first.space.layout
    let relations = self.relations[layout.entityNumber - 1]
    guard relations.indices.contains(slot), let relation = relations[slot] else {
      // A transient relationship has no stored members.
      if layout.slots.indices.contains(slot), layout.slots[slot].isToMany, layout.slots[slot].isTransient {
        return Array(repeating: [], count: owners.count)
      }
      throw PostgreSQLStoreError.unstorable(
        entity: layout.entityName,
        property: layout.slots.indices.contains(slot) ? layout.slots[slot].name : "\(slot)",
        reason: "it is not a to-many relationship that the store holds")
    }
    var parameters = PostgreSQLParameters()
    parameters.add(PostgreSQLArray(owners.map(\.reference)))
    let found = try connection.run(relation.sql(owners.count), parameters)
    if owners.count == 1 {
      return [try (0..<found.rowCount).map { try relation.member(found, $0, spaces) }]
    }
    var members: [Int64: [ObjectKey]] = [:]
    members.reserveCapacity(owners.count)
    for row in 0..<found.rowCount {
      members[found.int64(row, 0), default: []].append(try relation.member(found, row, spaces))
    }
    return owners.map { members[$0.reference] ?? [] }
  }
}
