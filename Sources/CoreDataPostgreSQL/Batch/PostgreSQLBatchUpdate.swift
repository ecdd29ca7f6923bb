import CoreData
import CoreDataModelSchema
import CoreDataPostgreSQLBinding
import CoreDataPredicateLanguage

/// One batch update inside a transaction: finds and locks the rows, then sets all of them with one UPDATE.
struct PostgreSQLBatchUpdate {
  private let _plan: BatchUpdatePlan
  private let _engine: PostgreSQLStoreEngine
  private let _connection: PostgreSQLConnection
  private let _entry: PostgreSQLHistoryEntry?

  init(
    _ plan: BatchUpdatePlan, engine: PostgreSQLStoreEngine, connection: PostgreSQLConnection,
    entry: PostgreSQLHistoryEntry?
  ) {
    _plan = plan
    _engine = engine
    _connection = connection
    _entry = entry
  }

  func run(needsKeys: Bool) throws -> BatchOutcome {
    let keys = try _engine.keys(_plan.rows, on: _connection)
    if keys.isEmpty { return BatchOutcome() }
    let layout = _plan.rows.layout
    let table = _engine.mapping.table(of: layout.entityNumber)
    var parameters = PostgreSQLParameters()
    parameters.add(PostgreSQLArray(keys.map(\.reference)))
    // All writers lock in the same order, which prevents deadlocks.
    try _connection.run(
      "SELECT \"id\" FROM \(table.name) WHERE \"id\" = ANY($1::int8[]) ORDER BY \"id\" FOR UPDATE", parameters
    )
    let (sets, constants) = try _assignments(layout, table)
    var list = sets
    list.append("\"version\" = b.\"version\" + 1")
    for constant in constants { constant(&parameters) }
    let count: Int
    do {
      count = try _connection.run(
        "UPDATE \(table.name) b SET \(list.joined(separator: ", ")) WHERE b.\"id\" = ANY($1::int8[])",
        parameters,
        isRepeated: false
      ).affectedCount
    } catch let error as PostgreSQLError where error.isUniqueViolation {
      throw _engine.batchError(layout, error)
    }
    let changed = SlotSet(_plan.assignments.map(\.slot))
    try _derive(keys, changed)
    for key in keys {
      _entry?.recordUpdate(of: key.reference, entity: key.space.layout.entityNumber, changed: changed)
    }
    return BatchOutcome(count: count, keys: needsKeys ? keys : [])
  }

  private static let _rowsAtATime = 10_000

  /// Recomputes the attributes that derive from the updated ones.
  private func _derive(_ keys: [ObjectKey], _ changed: SlotSet) throws {
    let save = PostgreSQLSave(nil, engine: _engine, connection: _connection)
    for (number, keys) in Dictionary(grouping: keys, by: \.space.layout.entityNumber).sorted(by: {
      $0.key < $1.key
    }) {
      guard let plan = _engine.plans.derived(of: changed, in: number) else { continue }
      let layout = _engine.mapping.layout.layout(numbered: number)
      for start in stride(from: 0, to: keys.count, by: Self._rowsAtATime) {
        let some = Array(keys[start..<min(start + Self._rowsAtATime, keys.count)])
        let rows = try zip(some, _engine.rows(for: some, on: _connection)).compactMap { key, row in
          row.map { (key.reference, $0) }
        }
        var parameters = PostgreSQLParameters()
        parameters.add(PostgreSQLArray(rows.map(\.0)))
        for column in plan.columns {
          parameters.add(try save.array(column, rows.lazy.map(\.1), count: rows.count, layout))
        }
        try _connection.run(plan.sql(rows.count), parameters)
      }
    }
  }

  private typealias Constant = (inout PostgreSQLParameters) -> Void

  /// Returns the SET list, and its parameters, numbered after the first one.
  private func _assignments(
    _ layout: PropertyLayout, _ table: TableMapping
  ) throws -> ([String], [Constant]) {
    var sets: [String] = []
    var constants: [Constant] = []
    let save = PostgreSQLSave(nil, engine: _engine, connection: _connection)
    for assignment in _plan.assignments {
      let columns = _engine.plans.update(SlotSet([assignment.slot]), of: layout.entityNumber).columns.filter {
        switch $0.cell {
        case .derived, .moment: false
        case .attribute, .element, .key, .entity: true
        }
      }
      guard !columns.isEmpty else {
        throw PostgreSQLStoreError.unstorable(
          entity: layout.entityName, property: layout.slots[assignment.slot].name,
          reason: "a batch update sets attributes and to-one relationships only")
      }
      switch assignment.source {
      case .value(let value):
        var row = Row(count: layout.slots.count, version: 0)
        row.set(value, at: assignment.slot)
        for column in columns {
          let array = try save.array(column, [row], count: 1, layout)
          constants.append { $0.add(array) }
          sets.append("\(column.name) = ($\(constants.count + 1)::\(column.type.name))[1]")
        }
        if case .toOne(_, _, let order?, _) = _engine.mapping.storage(
          of: assignment.slot, in: layout.entityNumber)
        {
          // The position in the old owner's order is meaningless in the new owner's.
          sets.append("\(table.columns[order].name) = NULL")
        }
      case .expression(let expression):
        sets.append(try _computed(expression, columns[0], layout, &constants))
      }
    }
    return (sets, constants)
  }

  private func _computed(
    _ expression: ExpressionTree, _ column: PostgreSQLWriteColumn, _ layout: PropertyLayout,
    _ constants: inout [Constant]
  ) throws -> String {
    let values = PredicateShape.taking(expression).constants
    var plan = FetchPlan(layout: layout)
    plan.includesSubentities = true
    var compiler = QueryCompiler(plan: plan, constants: values, mapping: _engine.mapping)
    let operand = try compiler.operand(expression)
    if case .object = operand {
      throw compiler.untranslatable(expression.outline, "an attribute cannot hold an object")
    }
    let value = try compiler.scalar(operand, operand.kind.conversion, expression.outline)
    try compiler.checkConstants()
    let from = compiler.source.text
    let cast =
      switch column.type {
      case .boolArray: "::int4::boolean"
      default: ""
      }
    let fragment: SQLFragment =
      "SELECT (\(value))\(sql: cast) FROM \(sql: from) WHERE t0.\"id\" = b.\"id\""
    let query = PostgreSQLQuery(fragment, values, reader: nil, from: constants.count + 1)
    let binder = PostgreSQLBinder(
      spaces: _engine.spaces, numbers: _engine.mapping.numbers, entityName: layout.entityName)
    for (parameter, type) in query.parameters {
      var single = PostgreSQLParameters()
      try binder.add(parameter, type, plan, values, to: &single)
      let bound = single
      constants.append { $0.append(bound) }
    }
    return "\(column.name) = (\(query.sql))"
  }
}
