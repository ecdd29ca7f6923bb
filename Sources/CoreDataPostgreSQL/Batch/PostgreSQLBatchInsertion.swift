import CoreData
import CoreDataModelSchema
import CoreDataPostgreSQLBinding

/// One batch insertion inside a transaction: inserts rows as the caller produces them, a thousand per
/// statement.
final class PostgreSQLBatchInsertion {
  private static let _rowsAtATime = 1000

  private let _plan: BatchInsertPlan
  private let _engine: PostgreSQLStoreEngine
  private let _connection: PostgreSQLConnection
  private let _entry: PostgreSQLHistoryEntry?
  private let _needsKeys: Bool
  /// Encodes rows into column arrays, as for saves.
  private let _save: PostgreSQLSave
  private let _number: Int
  /// Slots that a stored row takes from a new row that conflicts with it.
  private let _values: SlotSet
  private(set) var outcome = BatchOutcome()

  init(
    _ plan: BatchInsertPlan, engine: PostgreSQLStoreEngine, connection: PostgreSQLConnection,
    entry: PostgreSQLHistoryEntry?, needsKeys: Bool
  ) {
    _plan = plan
    _engine = engine
    _connection = connection
    _entry = entry
    _needsKeys = needsKeys
    _save = PostgreSQLSave(nil, engine: engine, connection: connection)
    _number = plan.layout.entityNumber
    let slots = plan.layout.slots
    _values = SlotSet(slots.indices.filter { slots[$0].isAttribute && !slots[$0].isTransient })
  }

  func run() throws {
    var rows: [Row] = []
    while let row = try _plan.next() {
      rows.append(row)
      if rows.count == Self._rowsAtATime {
        try _write(rows)
        rows.removeAll(keepingCapacity: true)
      }
    }
    if !rows.isEmpty { try _write(rows) }
  }

  private func _write(_ rows: [Row]) throws {
    guard _plan.collision != .fail, !_plan.layout.uniquenessConstraints.isEmpty else {
      return try _insert(rows).forEach(_record)
    }
    // Rows that conflict: stored ones, and earlier ones of the batch.
    var stored: [[String: StoredObject]] = []
    for slots in _plan.layout.uniquenessConstraints {
      let complete = rows.filter { !$0.hasNull(at: slots) }
      stored.append(
        try complete.isEmpty ? [:] : _save.stored(with: slots, complete, except: [], _plan.layout))
    }
    var fresh: [Row] = []
    var places: [[String: Int]] = Array(repeating: [:], count: stored.count)
    var updates: [Int64: (version: Int64, row: Row)] = [:]
    var order: [Int64] = []
    // The outcome for each row, in row order.
    var results: [Result] = []
    for row in rows {
      var inStore: StoredObject?
      var inBatch: Int?
      var texts: [String?] = []
      for (index, slots) in _plan.layout.uniquenessConstraints.enumerated() {
        let text = row.hasNull(at: slots) ? nil : try _save.text(of: slots, in: row, _plan.layout)
        texts.append(text)
        guard let text else { continue }
        inStore = inStore ?? stored[index][text]
        inBatch = inBatch ?? places[index][text]
      }
      if inStore == nil, inBatch == nil {
        for (index, text) in texts.enumerated() { if let text { places[index][text] = fresh.count } }
        results.append(.fresh(fresh.count))
        fresh.append(row)
      } else if _plan.collision == .update {
        if let inStore, inStore.key.space.layout.entityNumber == _number {
          let key = inStore.key.reference
          if updates[key] == nil { order.append(key) }
          updates[key] = (inStore.row?.version ?? 0, row)
          results.append(.stored(key))
        } else if let inBatch {
          fresh[inBatch] = row
          results.append(.fresh(inBatch))
        }
      }
    }
    let keys = try _insert(fresh)
    try _update(order, updates)
    for result in results {
      switch result {
      case .fresh(let place): _record(keys[place])
      case .stored(let key): _record(key)
      }
    }
  }

  /// The row that has the given values: a new one, or the one it conflicted with.
  private enum Result {
    case fresh(Int)
    case stored(Int64)
  }

  /// Inserts rows and returns their keys.
  private func _insert(_ rows: [Row]) throws -> [Int64] {
    guard !rows.isEmpty else { return [] }
    let keys = try _engine.keys.acquire(rows.count, root: _plan.layout.rootNumber, on: _connection)
    do {
      try _save.insert(zip(keys, rows).lazy.map { ($0, $1) }, count: rows.count, entity: _number)
      try _connection.runPending()
    } catch let error as PostgreSQLError where error.isUniqueViolation {
      throw _engine.batchError(_plan.layout, error)
    }
    for key in keys { _entry?.recordInsertion(of: key, entity: _number) }
    return keys
  }

  private func _update(_ order: [Int64], _ updates: [Int64: (version: Int64, row: Row)]) throws {
    guard !order.isEmpty else { return }
    let plan = _engine.plans.update(_values, of: _number)
    let all = order.map { updates[$0]! }
    var parameters = PostgreSQLParameters()
    parameters.add(PostgreSQLArray(order))
    let versions = all.map { PostgreSQLVersion.stored($0.version, on: _connection.timeline) }
    parameters.add(PostgreSQLArray(versions))
    parameters.add(PostgreSQLArray(versions.map(\.next)))
    for column in plan.columns {
      parameters.add(try _save.array(column, all.lazy.map(\.row), count: all.count, _plan.layout))
    }
    do {
      try _connection.run(plan.sql(all.count), parameters)
    } catch let error as PostgreSQLError where error.isUniqueViolation {
      // The row conflicts with two stored rows, by two constraints.
      throw _engine.batchError(_plan.layout, error)
    }
    for key in order { _entry?.recordUpdate(of: key, entity: _number, changed: _values) }
  }

  private func _record(_ key: Int64) {
    outcome.count += 1
    if _needsKeys { outcome.keys.append(ObjectKey(space: _engine.spaces[_number - 1], reference: key)) }
  }
}
