import CoreDataModelSchema
import CoreDataPredicateLanguage
import CoreDataSQLiteBinding

// Compiles batch updates for SQLite.

extension QueryCompiler {
  /// Compiles a batch update.
  ///
  /// - Parameter byKeys: Whether the update selects rows by the keys bound last instead of by the condition.
  /// - Throws: `UntranslatableQueryError`, `SQLiteStoreError`.
  static func compile(_ plan: BatchUpdatePlan, byKeys: Bool, mapping: StoreMapping) throws -> CompiledUpdate {
    let constants = try plan.constants(byKeys: byKeys, mapping: mapping)
    var compiler = QueryCompiler(plan: plan.rows, constants: constants, mapping: mapping)
    let table = mapping.table(of: plan.rows.layout.entityNumber).name
    let alone = compiler.source.text
    let values = try plan.assignments.flatMap { try compiler._assigned($0, plan) }
    let isJoined = compiler.source.text != alone
    // A value from other tables is a subquery per row, in which the updated row has another alias.
    let row = isJoined ? "b0" : "t0"
    var list = values.map { value -> SQLFragment in
      guard isJoined, value.isComputed else { return "\(sql: value.column) = \(value.fragment)" }
      let from = "FROM \(compiler.source.text) WHERE t0.Z_PK = \(row).Z_PK"
      return "\(sql: value.column) = (SELECT \(value.fragment) \(sql: from))"
    }
    list.append("Z_OPT = IFNULL(\(sql: row).Z_OPT, 0) + 1")
    let condition: SQLFragment
    if byKeys {
      condition = " WHERE \(sql: row).Z_PK IN \(sql: ValueArray.members)"
    } else {
      let plain = try compiler.whereClause(plan.rows)
      condition =
        compiler.source.text == alone
        ? plain : " WHERE \(sql: row).Z_PK IN (SELECT t0.Z_PK FROM \(sql: compiler.source.text)\(plain))"
    }
    try compiler.checkConstants()
    let fragment: SQLFragment =
      "UPDATE \(sql: table) AS \(sql: row) SET \(SQLFragment.list(list))\(condition)"
    return CompiledUpdate(sql: fragment.text, parameters: fragment.parameters, constants: constants)
  }

  private mutating func _assigned(
    _ assignment: BatchUpdatePlan.Assignment, _ plan: BatchUpdatePlan
  ) throws -> [(column: String, fragment: SQLFragment, isComputed: Bool)] {
    switch assignment.source {
    case .value(let value):
      return try plan.columns(for: assignment.slot, value, mapping).map { column in
        (column.name, SQLFragment(.constant(try consumeConstant(column.constant), column.conversion)), false)
      }
    case .expression(let expression):
      let columns = try plan.columns(for: assignment.slot, .null, mapping)
      let operand = try self.operand(expression)
      guard columns.count == 1, plan.rows.layout.slots[assignment.slot].isAttribute else {
        throw untranslatable(expression.outline, "only attributes can be computed in a batch update")
      }
      if case .object = operand {
        throw untranslatable(expression.outline, "an attribute cannot hold an object")
      }
      return [(columns[0].name, try scalar(operand, operand.kind.conversion, expression.outline), true)]
    }
  }
}
