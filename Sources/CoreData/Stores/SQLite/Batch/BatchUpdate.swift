import CoreDataModelSchema
import CoreDataPredicateLanguage
import CoreDataSQLiteBinding
import Foundation

/// A batch update inside a transaction: one UPDATE for all rows.
///
/// Queries the rows first only if their identities are needed: by the caller, by history, or to replace
/// values in external files.
struct BatchUpdate {
  private let _plan: BatchUpdatePlan
  private let _engine: SQLiteStoreEngine
  private let _connection: Connection
  private let _entry: HistoryEntry?

  init(_ plan: BatchUpdatePlan, engine: SQLiteStoreEngine, connection: Connection, entry: HistoryEntry?) {
    _plan = plan
    _engine = engine
    _connection = connection
    _entry = entry
  }

  func run(needsKeys: Bool) throws -> (BatchOutcome, [String]) {
    let fileColumns = _externalColumns()
    guard needsKeys || _entry != nil || !fileColumns.isEmpty else {
      return (BatchOutcome(count: try _update(keys: nil)), [])
    }
    let keys = try _engine.keys(of: _plan.rows, on: _connection)
    if keys.isEmpty { return (BatchOutcome(), []) }
    let files = try _files(of: keys, fileColumns)
    let count = try _update(keys: keys.map(\.reference))
    let changed = SlotSet(_plan.assignments.map(\.slot))
    for key in keys {
      try _entry?.recordUpdate(of: key.reference, entity: key.space.layout.entityNumber, changed: changed)
    }
    return (BatchOutcome(count: count, keys: needsKeys ? keys : []), files)
  }

  private func _update(keys: [Int64]?) throws -> Int {
    let compiled = try QueryCompiler.compile(_plan, byKeys: keys != nil, mapping: _engine.mapping)
    let statement = try _connection.prepare(compiled.sql)
    QueryBinder(_engine.context).bind(compiled.parameters, _plan.rows, compiled.constants, to: statement)
    if let keys { statement.bind(ValueArray(keys), at: Int32(compiled.parameters.count + 1)) }
    do {
      try statement.run()
    } catch let error as SQLiteError where error.isUniqueViolation {
      throw BatchConstraintError(
        entity: _plan.rows.layout.entityName, constraints: _engine.constraintNames(of: _plan.rows.layout),
        reason: "\(error)")
    }
    return _connection.changes
  }

  /// Columns to set whose values may be in files.
  private func _externalColumns() -> [String] {
    let number = _plan.rows.layout.entityNumber
    let columns = _engine.mapping.table(of: number).columns
    return _plan.assignments.compactMap { assignment in
      guard case .attribute(let column) = _engine.mapping.storage(of: assignment.slot, in: number),
        columns[column].content == .externalData
      else { return nil }
      return columns[column].name
    }
  }

  private func _files(of keys: [ObjectKey], _ columns: [String]) throws -> [String] {
    guard !columns.isEmpty else { return [] }
    let table = _engine.mapping.table(of: _plan.rows.layout.entityNumber).name
    let statement = try _connection.prepare(
      "SELECT \(columns.joined(separator: ", ")) FROM \(table) WHERE Z_PK IN \(ValueArray.members)")
    statement.bind(ValueArray(keys.map(\.reference)), at: 1)
    var result: [String] = []
    while try statement.step() {
      for column in columns.indices {
        if let name = statement.withBytes(Int32(column), { ExternalDataDirectory.file(named: $0) }) {
          result.append(name)
        }
      }
    }
    return result
  }
}

/// The SQL of a batch update.
struct CompiledUpdate {
  let sql: String
  let parameters: [QueryParameter]
  let constants: [PredicateValue]
}

extension BatchUpdatePlan {
  /// Returns the constants to bind, from left to right: the values, then the condition's constants if it is
  /// included.
  func constants(byKeys: Bool, mapping: StoreMapping) throws -> [PredicateValue] {
    var result: [PredicateValue] = []
    for assignment in assignments {
      switch assignment.source {
      case .value(let value): result += try columns(for: assignment.slot, value, mapping).map(\.constant)
      case .expression(let expression): result += PredicateShape.taking(expression).constants
      }
    }
    if !byKeys, let predicate = rows.predicate { result += PredicateShape.taking(predicate).constants }
    return result
  }

  /// Returns the columns of a slot and their new values.
  func columns(
    for slot: Int, _ value: Value, _ mapping: StoreMapping
  ) throws -> [(name: String, constant: PredicateValue, conversion: ConstantConversion)] {
    let number = rows.layout.entityNumber
    let columns = mapping.table(of: number).columns
    switch mapping.storage(of: slot, in: number) {
    case .attribute(let column):
      let isPrefixed = columns[column].content == .externalData
      return [(columns[column].name, try _constant(value, slot, isPrefixed: isPrefixed), .natural)]
    case .toOne(let column, let entityColumn, let orderColumn, let destination):
      var constants: (PredicateValue, PredicateValue) = (.null, .null)
      if case .reference(let key) = value {
        constants = (.object(PredicateObject(NSManagedObjectID(key))), .string(key.space.layout.entityName))
      }
      let root = mapping.layout.layout(numbered: destination).rootNumber
      let isNull = constants.0 == .null
      var result: [(name: String, constant: PredicateValue, conversion: ConstantConversion)] = [
        (columns[column].name, constants.0, isNull ? .natural : .key(root: root))
      ]
      if let entityColumn {
        result.append((columns[entityColumn].name, constants.1, isNull ? .natural : .entity))
      }
      // The position in the old owner's order is meaningless in the new one's.
      if let orderColumn { result.append((columns[orderColumn].name, .null, .natural)) }
      return result
    case .none, .oneToMany, .manyToMany, .composite:
      throw SQLiteStoreError.unstorable(
        entity: rows.layout.entityName, property: rows.layout.slots[slot].name,
        reason: "a batch update sets attributes and to-one relationships only")
    }
  }

  private func _constant(_ value: Value, _ slot: Int, isPrefixed: Bool) throws -> PredicateValue {
    func bytes(_ data: Data) -> PredicateValue {
      .data(isPrefixed ? Data([ExternalDataDirectory.inline]) + data : data)
    }
    switch value {
    case .null: return .null
    case .int(let number): return .int(number)
    case .double(let number): return .double(number)
    case .string(let text): return .string(text)
    case .data(let data): return bytes(data)
    case .uuid(let uuid): return .uuid(uuid)
    case .decimal(let box): return .decimal(box.decimal)
    case .transformable(let box):
      if let data = box.data { return bytes(data) }
    case .reference, .pending, .toMany, .composite: break
    }
    throw SQLiteStoreError.unstorable(
      entity: rows.layout.entityName, property: rows.layout.slots[slot].name,
      reason: "the value is not one that a column can hold")
  }
}
