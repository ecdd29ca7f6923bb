import ModelSchema
import PredicateLanguage
import SQLiteBinding

/// Fetches, faults and relationships.
extension SQLiteStoreEngine {
  /// Runs a fetch; limit and offset applied, sorted.
  ///
  /// - Throws: `UntranslatableQueryError`, `SQLiteStoreError`.
  func fetch(_ plan: FetchPlan) throws -> [StoredObject] {
    let (query, constants) = try compiled(plan, .objects)
    return try SQLiteStoreError.translating {
      try pool.read { connection in
        let statement = try connection.lend(query.sql)
        defer { connection.giveBack(statement) }
        let binder = QueryBinder(context)
        binder.bind(query.parameters, plan, constants, to: statement)
        let report = SQLReport.begin(query.sql, binder.bindings(query.parameters, plan, constants))
        defer { report?.end(connection) }
        var result: [StoredObject] = []
        let reader = query.reader
        if plan.content != .identity {
          while try statement.step() {
            report?.note(statement)
            if let object = try reader.object(statement) { result.append(object) }
          }
        } else {
          while try statement.step() {
            report?.note(statement)
            if let object = try reader.identity(statement) { result.append(object) }
          }
        }
        return result
      }
    }
  }

  /// Computes the columns of a dictionary fetch.
  ///
  /// - Throws: `UntranslatableQueryError`, `SQLiteStoreError`.
  func table(_ plan: DictionaryPlan) throws -> [[Value]] {
    let (query, constants) = try compiled(plan)
    return try SQLiteStoreError.translating {
      try pool.read { connection in
        let statement = try connection.lend(query.sql)
        defer { connection.giveBack(statement) }
        let binder = QueryBinder(context)
        binder.bind(query.parameters, plan.rows, constants, to: statement)
        let report = SQLReport.begin(query.sql, binder.bindings(query.parameters, plan.rows, constants))
        defer { report?.end(connection) }
        var result: [[Value]] = []
        while try statement.step() {
          report?.note(statement)
          do {
            result.append(try query.cells.map { try $0.value(statement, context) })
          } catch let error as CellError {
            let table = mapping.table(of: plan.rows.layout.entityNumber).name
            throw SQLiteStoreError.corruptRow(table: table, key: 0, reason: error.reason)
          }
        }
        return result
      }
    }
  }

  /// The SQL of a dictionary fetch, compiled once per shape, and its constants.
  ///
  /// - Throws: `UntranslatableQueryError`.
  func compiled(_ plan: DictionaryPlan) throws -> (query: CompiledTable, constants: [PredicateValue]) {
    let (shape, constants) = TableShape.taking(plan)
    let query = try tableQueries.query(shape) {
      try QueryCompiler.compile(plan, constants, mapping: mapping, context: context)
    }
    return (query, constants)
  }

  /// Number of rows that `fetch` would return.
  func count(_ plan: FetchPlan) throws -> Int {
    let (query, constants) = try compiled(plan, .count)
    return try SQLiteStoreError.translating {
      try pool.read { connection in
        let statement = try connection.lend(query.sql)
        defer { connection.giveBack(statement) }
        let binder = QueryBinder(context)
        binder.bind(query.parameters, plan, constants, to: statement)
        let report = SQLReport.begin(query.sql, binder.bindings(query.parameters, plan, constants))
        defer { report?.end(connection) }
        return try statement.step() ? Int(clamping: statement.int64(0)) : 0
      }
    }
  }

  /// The SQL of a fetch, compiled once per shape, and its constants.
  ///
  /// - Throws: `UntranslatableQueryError`.
  func compiled(
    _ plan: FetchPlan, _ purpose: QueryShape.Purpose
  ) throws -> (query: CompiledQuery, constants: [PredicateValue]) {
    let (shape, constants) = QueryShape.taking(plan, purpose)
    let query = try queries.query(shape) {
      let number = plan.layout.entityNumber
      var reader = plan.includesSubentities ? familyReaders[number - 1] : exactReaders[number - 1]
      if case .slots(let slots) = plan.content {
        reader = RowReader(
          entity: number, includesSubentities: plan.includesSubentities, part: RowPart(SlotSet(slots)),
          context: context)
      }
      return try QueryCompiler.compile(plan, constants, purpose: purpose, mapping: mapping, reader: reader)
    }
    return (query, constants)
  }

  func rows(for keys: [ObjectKey]) throws -> [Row?] {
    if keys.isEmpty { return [] }
    return try SQLiteStoreError.translating {
      try pool.read { connection in try rows(for: keys, on: connection) }
    }
  }

  /// Rows for keys, read on the caller's connection: inside a save, on the writer.
  func rows(for keys: [ObjectKey], on connection: Connection) throws -> [Row?] {
    if keys.count == 1 { return [try row(for: keys[0], on: connection)] }
    var result = [Row?](repeating: nil, count: keys.count)
    // Nearly always all keys are of one entity; then one statement reads them all.
    var byEntity: [Int: [Int]] = [:]
    for (index, key) in keys.enumerated() {
      byEntity[key.space.layout.entityNumber, default: []].append(index)
    }
    for (number, indices) in byEntity {
      var places: [Int64: Int] = [:]
      places.reserveCapacity(indices.count)
      var repeated: [Int] = []
      for index in indices where places.updateValue(index, forKey: keys[index].reference) != nil {
        repeated.append(index)
      }
      let query = keyQueries[number - 1]
      try connection.withStatement(query.many) { statement in
        statement.bind(ValueArray(places.keys), at: 1)
        let report = SQLReport.begin(query.many, [.values(places.keys.map { .integer($0) })])
        defer { report?.end(connection) }
        while try statement.step() {
          report?.note(statement)
          guard let object = try query.reader.object(statement), let place = places[object.key.reference]
          else { continue }
          result[place] = object.row
        }
      }
      if !repeated.isEmpty {
        for index in indices { result[index] = places[keys[index].reference].flatMap { result[$0] } }
      }
    }
    return result
  }

  /// The row for one key; nil if there is none.
  func row(for key: ObjectKey, on connection: Connection) throws -> Row? {
    let query = keyQueries[key.space.layout.entityNumber - 1]
    return try connection.withStatement(query.one) { statement in
      statement.bind(key.reference, at: 1)
      let report = SQLReport.begin(query.one, [.integer(key.reference)])
      defer { report?.end(connection) }
      return try statement.step() ? try query.reader.object(statement)?.row : nil
    }
  }

  func related(to owners: [ObjectKey], slot: Int) throws -> [[ObjectKey]] {
    guard let first = owners.first else { return [] }
    let number = first.space.layout.entityNumber
    guard relationQueries[number - 1].indices.contains(slot), let query = relationQueries[number - 1][slot]
    else {
      let layout = mapping.layout.layout(numbered: number)
      // A transient one has no members until somebody adds them.
      if layout.slots.indices.contains(slot), layout.slots[slot].isToMany, layout.slots[slot].isTransient {
        return Array(repeating: [], count: owners.count)
      }
      throw SQLiteStoreError.unstorable(
        entity: layout.entityName,
        property: layout.slots.indices.contains(slot) ? layout.slots[slot].name : "\(slot)",
        reason: "it is not a to-many relationship that the store holds")
    }
    return try SQLiteStoreError.translating {
      try pool.read { connection in
        owners.count == 1
          ? [try _members(of: first, query, connection)] : try _members(of: owners, query, connection)
      }
    }
  }

  private func _members(of owner: ObjectKey, _ query: RelationQuery, _ connection: Connection) throws
    -> [ObjectKey]
  {
    try connection.withStatement(query.one) { statement in
      statement.bind(owner.reference, at: 1)
      let report = SQLReport.begin(query.one, [.integer(owner.reference)])
      defer { report?.end(connection) }
      var result: [ObjectKey] = []
      while try statement.step() {
        report?.note(statement)
        result.append(try query.member(statement, context))
      }
      return result
    }
  }

  private func _members(
    of owners: [ObjectKey], _ query: RelationQuery, _ connection: Connection
  ) throws -> [[ObjectKey]] {
    var places: [Int64: Int] = [:]
    places.reserveCapacity(owners.count)
    for (index, owner) in owners.enumerated() where places[owner.reference] == nil {
      places[owner.reference] = index
    }
    var result = [[ObjectKey]](repeating: [], count: owners.count)
    try connection.withStatement(query.many) { statement in
      statement.bind(ValueArray(places.keys), at: 1)
      let report = SQLReport.begin(query.many, [.values(places.keys.map { .integer($0) })])
      defer { report?.end(connection) }
      while try statement.step() {
        report?.note(statement)
        guard let place = places[statement.int64(0)] else { continue }
        result[place].append(try query.member(statement, context))
      }
    }
    if places.count < owners.count {
      for index in owners.indices { result[index] = result[places[owners[index].reference]!] }
    }
    return result
  }
}
