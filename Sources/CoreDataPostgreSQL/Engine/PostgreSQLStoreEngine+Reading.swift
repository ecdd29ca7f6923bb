import CoreData
import CoreDataModelSchema
import CoreDataPostgreSQLBinding
import CoreDataPredicateLanguage

// Fetches, faults and relationships.

extension PostgreSQLStoreEngine {
  func fetch(_ plan: FetchPlan) throws -> [StoredObject] {
    let (query, parameters) = try compiled(plan, .objects)
    return try reading("a fetch of \(plan.layout.entityName)") { connection in
      let result = try connection.run(query.sql, parameters)
      return plan.content == .identity
        ? try query.reader!.identities(result) : try query.reader!.objects(result)
    }
  }

  func count(_ plan: FetchPlan) throws -> Int {
    let (query, parameters) = try compiled(plan, .count)
    return try reading("a count of \(plan.layout.entityName)") { connection in
      let result = try connection.run(query.sql, parameters)
      return result.rowCount > 0 ? Int(clamping: result.int64(0, 0)) : 0
    }
  }

  /// The SQL of a fetch, compiled once per shape, with the parameters of this one.
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
    let binder = PostgreSQLBinder(spaces: spaces, entityName: plan.layout.entityName)
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
    return try reading("objects by key") { try rows(for: keys, on: $0) }
  }

  /// Rows for keys, read on the caller's connection: inside a save, with what it has written.
  func rows(for keys: [ObjectKey], on connection: PostgreSQLConnection) throws -> [Row?] {
    var result = [Row?](repeating: nil, count: keys.count)
    var byEntity: [Int: [Int]] = [:]
    for (index, key) in keys.enumerated() {
      byEntity[key.space.layout.entityNumber, default: []].append(index)
    }
    for (number, indices) in byEntity {
      let reader = familyReaders[number - 1]
      var parameters = PostgreSQLParameters()
      parameters.add(PostgreSQLArray(indices.lazy.map { keys[$0].reference }))
      let found = try connection.run(
        "SELECT \(reader.lists.values) FROM \(mapping.table(of: number).name) t0 WHERE t0.\"id\" = ANY($1::int8[])",
        parameters)
      var rows: [Int64: Row] = [:]
      rows.reserveCapacity(found.rowCount)
      for object in try reader.objects(found) { rows[object.key.reference] = object.row }
      for index in indices { result[index] = rows[keys[index].reference] }
    }
    return result
  }

  // MARK: Relationships

  func related(to owners: [ObjectKey], slot: Int) throws -> [[ObjectKey]] {
    guard let first = owners.first else { return [] }
    let layout = first.space.layout
    let relations = self.relations[layout.entityNumber - 1]
    guard relations.indices.contains(slot), let relation = relations[slot] else {
      // A transient one has no members until some are added.
      if layout.slots.indices.contains(slot), layout.slots[slot].isToMany, layout.slots[slot].isTransient {
        return Array(repeating: [], count: owners.count)
      }
      throw PostgreSQLStoreError.unstorable(
        entity: layout.entityName,
        property: layout.slots.indices.contains(slot) ? layout.slots[slot].name : "\(slot)",
        reason: "it is not a to-many relationship that the store holds")
    }
    var parameters = PostgreSQLParameters()
    parameters.add(PostgreSQLArray(owners.lazy.map(\.reference)))
    return try reading("members of \(layout.entityName).\(layout.slots[slot].name)") { connection in
      let found = try connection.run(relation.sql, parameters)
      var members: [Int64: [ObjectKey]] = [:]
      for row in 0..<found.rowCount {
        members[found.int64(row, 0), default: []].append(try relation.member(found, row, spaces))
      }
      return owners.map { members[$0.reference] ?? [] }
    }
  }
}
