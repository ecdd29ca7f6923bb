import CoreDataModelSchema

extension TableMigration {
  /// Moves the rows of an old table to a new one, slice by slice: attributes, and to-ones whose storage has not
  /// changed. In a table that is kept, only the values of added columns are set.
  package func moveRows(_ flow: MigrationPlan.Flow, _ slices: [String], _ progress: MigrationProgress) throws
  {
    let statement = kept.additions(toRoot: flow.oldRoot).map { _update(flow, $0) } ?? _copy(flow)
    for slice in slices {
      if let statement {
        try database.run(SQLPiece(sql: "\(statement.sql) AND \(slice)", values: statement.values))
      }
      try progress.advance()
    }
  }

  /// Whether the rows of a flow are copied, or get values one by one.
  package func writesRows(_ flow: MigrationPlan.Flow) -> Bool {
    kept.additions(toRoot: flow.oldRoot).map { _update(flow, $0) != nil } ?? true
  }

  private func _copy(_ flow: MigrationPlan.Flow) -> SQLPiece? {
    let table = new.table(of: flow.newRoot)
    let values = MigratedValues(plan: plan, database: database)
    let pieces = values.columns(of: flow).map { values.chosen($0, in: flow) }
    let names = [keyColumn, entityColumn, versionColumn] + table.columns.map(\.name)
    let selected =
      ["\(keyColumn) + \(flow.offset)", values.entity(in: flow), versionColumn] + pieces.map(\.sql)
    return SQLPiece(
      sql: "INSERT INTO \(table.name) (\(names.joined(separator: ", "))) "
        + "SELECT \(selected.joined(separator: ", ")) FROM \(away(of: flow.oldRoot)) WHERE \(_isOf(flow))",
      values: pieces.flatMap(\.values))
  }

  /// Nil if added columns are null and the entities keep their numbers.
  private func _update(_ flow: MigrationPlan.Flow, _ additions: [KeptTables.Addition]) -> SQLPiece? {
    let set = additions.filter { $0.value != .null }
    var assignments = set.map { "\($0.column.name) = \($0.value.sql)" }
    let isRenumbered = flow.pairs.contains {
      old.numbers.stored(for: $0.old.entityNumber) != new.numbers.stored(for: $0.new.entityNumber)
    }
    if isRenumbered {
      let values = MigratedValues(plan: plan, database: database)
      assignments.append("\(entityColumn) = \(values.entity(in: flow))")
    }
    if assignments.isEmpty { return nil }
    return SQLPiece(
      sql: "UPDATE \(new.table(of: flow.newRoot).name) SET \(assignments.joined(separator: ", ")) "
        + "WHERE \(_isOf(flow))", values: set.flatMap(\.value.values))
  }

  /// A condition that is true for rows of the flow's entities.
  private func _isOf(_ flow: MigrationPlan.Flow) -> String {
    let numbers = flow.pairs.map { String(old.numbers.stored(for: $0.old.entityNumber)) }
    return "\(entityColumn) IN (\(numbers.joined(separator: ", ")))"
  }
}
