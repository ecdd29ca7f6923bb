import CoreDataModelSchema
import CoreDataSQLiteBinding

/// A batch insertion inside a transaction: inserts rows as they arrive, with one prepared statement.
final class BatchInsertion {
  private let _plan: BatchInsertPlan
  private let _engine: SQLiteStoreEngine
  private let _connection: Connection
  private let _entry: HistoryEntry?
  private let _needsKeys: Bool
  private let _binder: SaveTransaction
  private let _number: Int
  private let _root: Int
  /// Slots that a stored row adopts from a conflicting row.
  private let _values: SlotSet
  @exclusivity(unchecked) private(set) var outcome = BatchOutcome()
  /// The first of the consecutive keys that were inserted last and are not in the history yet.
  @exclusivity(unchecked) private var _unrecorded: Int64?

  init(
    _ plan: BatchInsertPlan, engine: SQLiteStoreEngine, connection: Connection, entry: HistoryEntry?,
    needsKeys: Bool
  ) {
    _plan = plan
    _engine = engine
    _connection = connection
    _entry = entry
    _needsKeys = needsKeys
    _number = plan.layout.entityNumber
    _root = plan.layout.rootNumber
    // Binds values in the same way as saves.
    _binder = SaveTransaction(ChangeSet(), engine: engine, connection: connection, isCareful: false)
    let slots = plan.layout.slots
    _values = SlotSet(
      slots.indices.filter {
        slots[$0].isAttribute && !slots[$0].isTransient && !slots[$0].isDerived
      })
  }

  /// External data files written so far.
  var writtenFiles: [String] { _binder.writtenFiles }
  /// External data files that no row references once the transaction is committed.
  var replacedFiles: [String] { _binder.replacedFiles }

  private static let _keysAtATime = 512

  func run(_ next: () throws -> Row?) throws {
    let plan = _engine.writePlans.entity(_number).insert
    let entity = Int64(_engine.mapping.numbers.stored(for: _number))
    let statement = try _connection.lend(plan.sql)
    defer { _connection.giveBack(statement) }
    var key: Int64 = 0
    var last: Int64 = -1
    while let row = try next() {
      if key > last || last < 0 {
        key = try _engine.allocate(Self._keysAtATime, ofRoot: _root, atLeast: 0, on: _connection)
        last = key + Int64(Self._keysAtATime) - 1
      }
      statement.bind(key, at: 1)
      statement.bind(entity, at: 2)
      statement.bind(Int64(1), at: 3)
      _ = try _binder.bind(row, plan.cells, entity: _number, to: statement, from: 4)
      do {
        try statement.run()
        statement.reset()
        _record(key)
        if _unrecorded == nil { _unrecorded = key }
        key += 1
      } catch let error as SQLiteError where error.isUniqueViolation {
        statement.reset()
        try _recordInsertions(before: key)
        try _collide(row, error)
      }
      if key > last { try _recordInsertions(before: key) }
    }
    try _recordInsertions(before: key)
    guard last >= 0 else { return }
    // Return unused keys.
    try _connection.withStatement(_engine.writePlans.keys(ofRoot: _root).store) { statement in
      statement.bind(Int64(_engine.mapping.numbers.stored(for: _root)), at: 1)
      statement.bind(key - 1, at: 2)
      try statement.run()
    }
  }

  /// Records the rows inserted since the last call in the history, while SQLite has them in memory.
  private func _recordInsertions(before key: Int64) throws {
    guard let first = _unrecorded else { return }
    _unrecorded = nil
    try _entry?.recordInsertions(of: first...(key - 1), entity: _number)
  }

  private func _record(_ key: Int64) {
    outcome.count += 1
    if _needsKeys { outcome.keys.append(ObjectKey(space: _engine.spaces[_number - 1], reference: key)) }
  }

  // MARK: Conflicting rows

  private func _collide(_ row: Row, _ error: SQLiteError) throws {
    switch _plan.collision {
    case .fail: throw _constraintError(error)
    case .skip: return
    case .update: break
    }
    guard let (key, version) = try _rowInTheWay(of: row) else { throw _constraintError(error) }
    let plan = _engine.writePlans.update(_values, of: _number)
    try _binder.recordFiles(plan.files, key)
    do {
      try _connection.withStatement(plan.sql) { statement in
        let index = try _binder.bind(row, plan.cells, entity: _number, to: statement, from: 1)
        statement.bind(version.next, at: index)
        statement.bind(key, at: index + 1)
        statement.bind(version, at: index + 2)
        try statement.run()
      }
    } catch let error as SQLiteError where error.isUniqueViolation {
      // Two stored rows conflict, through two constraints.
      throw _constraintError(error)
    }
    try _entry?.recordUpdate(of: key, entity: _number, changed: _values)
    _record(key)
  }

  private func _constraintError(_ error: SQLiteError) -> any Error {
    BatchConstraintError(
      entity: _plan.layout.entityName, constraints: _engine.constraintNames(of: _plan.layout),
      reason: "\(error)")
  }

  /// Returns key and version of the stored row of the same entity with equal values under some constraint.
  private func _rowInTheWay(of row: Row) throws -> (Int64, Int64)? {
    let table = _engine.mapping.table(of: _number)
    for slots in _plan.layout.uniquenessConstraints where !slots.contains(where: { row[$0].isNull }) {
      var conditions: [String] = []
      var cells: [WriteCell] = []
      for slot in slots {
        guard case .attribute(let column) = _engine.mapping.storage(of: slot, in: _number) else { break }
        conditions.append("\(table.columns[column].name) = ?")
        cells.append(.attribute(slot: slot, table.columns[column].content))
      }
      guard cells.count == slots.count else { continue }
      conditions.append("Z_ENT = ?")
      let statement = try _connection.prepare(
        "SELECT Z_PK, IFNULL(Z_OPT, 0) FROM \(table.name) WHERE \(conditions.joined(separator: " AND "))")
      let index = try _binder.bind(row, cells, entity: _number, to: statement, from: 1)
      statement.bind(Int64(_engine.mapping.numbers.stored(for: _number)), at: index)
      if try statement.step() { return (statement.int64(0), statement.int64(1)) }
    }
    return nil
  }
}
