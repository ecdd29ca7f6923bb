import CoreDataModelSchema
import CoreDataPredicateLanguage
import CoreDataSQLiteBinding

/// Fetches, faults and relationships.
extension SQLiteStoreEngine {
  /// Runs a fetch; the result is sorted, with limit and offset applied.
  ///
  /// - Throws: `UntranslatableQueryError`, `SQLiteStoreError`.
  func fetch(_ plan: FetchPlan) throws -> [StoredObject] {
    try SQLiteStoreError.translating { try pool.read { try fetch(plan, on: $0) } }
  }

  /// Runs a fetch on the caller's connection.
  func fetch(_ plan: FetchPlan, on connection: Connection) throws -> [StoredObject] {
    guard let order = packedOrder(plan) else { return try _fetch(plan, on: connection) }
    var found = try _fetch(plan.unsorted, on: connection)
    order.sort(&found)
    return found
  }

  /// Returns the order to apply in memory; nil if SQL sorts.
  func packedOrder(_ plan: FetchPlan) -> PackedOrder? {
    if plan.sort.isEmpty { return nil }
    let number = plan.layout.entityNumber
    return PackedOrder(plan, plan.includesSubentities ? familyReaders[number - 1] : exactReaders[number - 1])
  }

  private func _fetch(_ plan: FetchPlan, on connection: Connection) throws -> [StoredObject] {
    let (query, constants) = try compiled(plan, .objects)
    var result: [StoredObject] = []
    let reader = query.reader
    try _run(query.sql, query.parameters, plan, constants, on: connection) { statement, report in
      if plan.content != .identity {
        while try statement.step() {
          report?.record(statement)
          if let object = try reader.object(statement) { result.append(object) }
        }
      } else {
        while try statement.step() {
          report?.record(statement)
          if let key = try reader.key(statement) { result.append(StoredObject(key: key, row: nil)) }
        }
      }
    }
    return query.mayRepeat && result.count > 1 ? Self._once(result) : result
  }

  func forEachKey(of plan: FetchPlan, _ body: (ObjectKey) -> Void) throws {
    try SQLiteStoreError.translating { try pool.read { try forEachKey(of: plan, on: $0, body) } }
  }

  /// Iterates the keys of a fetch on the caller's connection.
  func forEachKey(of plan: FetchPlan, on connection: Connection, _ body: (ObjectKey) -> Void) throws {
    var plan = plan
    plan.content = .identity
    let (query, constants) = try compiled(plan, .objects)
    if query.mayRepeat { return try _fetch(plan, on: connection).forEach { body($0.key) } }
    try _run(query.sql, query.parameters, plan, constants, on: connection) { statement, report in
      while try statement.step() {
        report?.record(statement)
        if let key = try query.reader.key(statement) { body(key) }
      }
    }
  }

  /// Returns the keys of a fetch on the caller's connection.
  func keys(of plan: FetchPlan, on connection: Connection) throws -> [ObjectKey] {
    var keys: [ObjectKey] = []
    try forEachKey(of: plan, on: connection) { keys.append($0) }
    return keys
  }

  /// Binds the values of a query, lets `body` step through it, and logs it if logging is enabled.
  @inline(__always) private func _run<Result>(
    _ sql: SQLText, _ parameters: [QueryParameter], _ plan: FetchPlan, _ constants: [PredicateValue],
    on connection: Connection, _ body: (Statement, SQLReport?) throws -> Result
  ) throws -> Result {
    let statement = try connection.lend(sql)
    defer { connection.giveBack(statement) }
    let binder = QueryBinder(context)
    binder.bind(parameters, plan, constants, to: statement)
    let report = SQLReport.begin(sql, binder.bindings(parameters, plan, constants))
    defer { report?.end(connection) }
    return try body(statement, report)
  }

  /// Removes duplicate rows, keeping the first occurrence of each.
  private static func _once(_ found: [StoredObject]) -> [StoredObject] {
    var seen = Set<Int64>(minimumCapacity: found.count)
    // All rows belong to one table, so keys suffice.
    if found.allSatisfy({ seen.insert($0.key.reference).inserted }) { return found }
    seen.removeAll(keepingCapacity: true)
    return found.filter { seen.insert($0.key.reference).inserted }
  }

  /// Computes the columns of a dictionary fetch.
  ///
  /// - Throws: `UntranslatableQueryError`, `SQLiteStoreError`.
  func table(_ plan: DictionaryPlan) throws -> [[Value]] {
    try SQLiteStoreError.translating { try pool.read { try table(plan, on: $0) } }
  }

  func forEachRow(of plan: DictionaryPlan, _ body: ([Value]) -> Void) throws {
    try SQLiteStoreError.translating { try pool.read { try forEachRow(of: plan, on: $0, body) } }
  }

  /// Computes the columns of a dictionary fetch on the caller's connection.
  func table(_ plan: DictionaryPlan, on connection: Connection) throws -> [[Value]] {
    var result: [[Value]] = []
    try forEachRow(of: plan, on: connection) { row in result.append(row) }
    return result
  }

  /// Iterates the rows of a dictionary fetch on the caller's connection. Reuses one array if `body` retains
  /// none.
  func forEachRow(of plan: DictionaryPlan, on connection: Connection, _ body: ([Value]) -> Void) throws {
    let (query, constants) = try compiled(plan)
    try _run(query.sql, query.parameters, plan.rows, constants, on: connection) { statement, report in
      var row: [Value] = []
      while try statement.step() {
        report?.record(statement)
        do {
          row.removeAll(keepingCapacity: true)
          row.reserveCapacity(query.cells.count)
          for cell in query.cells { row.append(try cell.value(statement, context)) }
        } catch let error as CellError {
          let table = mapping.table(of: plan.rows.layout.entityNumber).name
          throw SQLiteStoreError.corruptRow(table: table, key: 0, reason: error.reason)
        }
        body(row)
      }
    }
  }

  /// Returns the SQL of a dictionary fetch, compiled once per shape, and its constants.
  ///
  /// - Throws: `UntranslatableQueryError`.
  func compiled(_ plan: DictionaryPlan) throws -> (query: CompiledTable, constants: [PredicateValue]) {
    let (shape, constants) = TableShape.taking(plan)
    let query = try tableQueries.query(shape) {
      try CompiledTable(plan, constants, mapping: mapping, context: context)
    }
    return (query, constants)
  }

  /// Returns the number of rows that `fetch` would return.
  func count(_ plan: FetchPlan) throws -> Int {
    try SQLiteStoreError.translating { try pool.read { try count(plan, on: $0) } }
  }

  /// Counts on the caller's connection.
  func count(_ plan: FetchPlan, on connection: Connection) throws -> Int {
    let (query, constants) = try compiled(plan, .count)
    return try _run(query.sql, query.parameters, plan, constants, on: connection) { statement, _ in
      try statement.step() ? Int(clamping: statement.int64(0)) : 0
    }
  }

  /// Returns the SQL of a fetch, compiled once per shape, and its constants.
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
      return try CompiledQuery(plan, constants, purpose: purpose, mapping: mapping, reader: reader)
    }
    return (query, constants)
  }

  func rows(for keys: [ObjectKey]) throws -> [Row?] {
    if keys.isEmpty { return [] }
    return try SQLiteStoreError.translating {
      try pool.read { connection in try rows(for: keys, on: connection) }
    }
  }

  func row(for key: ObjectKey) throws -> Row? {
    try SQLiteStoreError.translating {
      try pool.read { connection in try row(for: key, on: connection) }
    }
  }

  /// Returns rows for keys, read on the caller's connection: in a save, the writer.
  func rows(for keys: [ObjectKey], on connection: Connection) throws -> [Row?] {
    if keys.count == 1 { return [try row(for: keys[0], on: connection)] }
    var result = [Row?](repeating: nil, count: keys.count)
    // Usually all keys are of one entity, and one statement reads them all.
    let first = keys[0].space
    if keys.allSatisfy({ $0.space === first }) {
      try _read(keys, Array(keys.indices), first.layout.entityNumber, into: &result, on: connection)
      return result
    }
    var byEntity: [Int: [Int]] = [:]
    for (index, key) in keys.enumerated() {
      byEntity[key.space.layout.entityNumber, default: []].append(index)
    }
    for (number, indices) in byEntity { try _read(keys, indices, number, into: &result, on: connection) }
    return result
  }

  /// Reads the rows for some of the keys, all of one entity.
  private func _read(
    _ keys: [ObjectKey], _ indices: [Int], _ number: Int, into result: inout [Row?], on connection: Connection
  ) throws {
    let query = keyQueries[number - 1]
    // Sorted like SQLite's results, so that a parallel pass finds each row's position.
    let places = indices.map { (reference: keys[$0].reference, index: $0) }.sorted {
      $0.reference < $1.reference
    }
    try connection.withStatement(query.many) { statement in
      statement.bind(ValueArray(places.map(\.reference)), at: 1)
      let report = SQLReport.begin(query.many, [.values(places.map { .integer($0.reference) })])
      defer { report?.end(connection) }
      var next = 0
      while try statement.step() {
        report?.record(statement)
        guard let object = try query.reader.object(statement) else { continue }
        let reference = object.key.reference
        // The order is not guaranteed; for a row out of order the search restarts.
        if next > 0, places[next - 1].reference >= reference { next = 0 }
        while next < places.count, places[next].reference < reference { next += 1 }
        while next < places.count, places[next].reference == reference {
          result[places[next].index] = object.row
          next += 1
        }
      }
    }
  }

  /// Returns the row for one key; nil if it is missing.
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
    try SQLiteStoreError.translating { try pool.read { try related(to: owners, slot: slot, on: $0) } }
  }

  /// Returns the members of a to-many relationship, read on the caller's connection.
  func related(to owners: [ObjectKey], slot: Int, on connection: Connection) throws -> [[ObjectKey]] {
    guard let first = owners.first else { return [] }
    let number = first.space.layout.entityNumber
    guard relationQueries[number - 1].indices.contains(slot), let query = relationQueries[number - 1][slot]
    else {
      let layout = mapping.layout.layout(numbered: number)
      // A transient to-many has no members until the program adds them.
      if layout.slots.indices.contains(slot), layout.slots[slot].isToMany, layout.slots[slot].isTransient {
        return Array(repeating: [], count: owners.count)
      }
      throw SQLiteStoreError.unstorable(
        entity: layout.entityName,
        property: layout.slots.indices.contains(slot) ? layout.slots[slot].name : "\(slot)",
        reason: "it is not a to-many relationship that the store holds")
    }
    return owners.count == 1
      ? [try _members(of: first, query, connection)] : try _members(of: owners, query, connection)
  }

  /// Maximum number of members whose values are read along.
  private static let _membersReadAtOnce = 256

  /// Returns the members of a to-many, with their values unless there are too many members, or values that
  /// are costly to read.
  func members(of owner: ObjectKey, slot: Int) throws -> [StoredObject] {
    let number = owner.space.layout.entityNumber
    guard relationQueries[number - 1].indices.contains(slot), let query = relationQueries[number - 1][slot],
      let (whole, reader) = query.whole
    else { return try related(to: [owner], slot: slot)[0].map { StoredObject(key: $0, row: nil) } }
    return try SQLiteStoreError.translating {
      try pool.read { connection in
        var found: [StoredObject] = []
        let isAll = try connection.withStatement(whole) { statement in
          statement.bind(owner.reference, at: 1)
          let report = SQLReport.begin(whole, [.integer(owner.reference)])
          defer { report?.end(connection) }
          while try statement.step() {
            if found.count == Self._membersReadAtOnce { return false }
            report?.record(statement)
            if let object = try reader.object(statement) { found.append(object) }
          }
          return true
        }
        if isAll { return found }
        // For so many members, the caller may need only the count.
        let values = Dictionary(
          found.map { ($0.key.reference, $0.row) }, uniquingKeysWith: { first, _ in first })
        return try _members(of: owner, query, connection).map {
          StoredObject(key: $0, row: values[$0.reference] ?? nil)
        }
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
        report?.record(statement)
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
        report?.record(statement)
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
