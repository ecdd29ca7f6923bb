import CoreDataModelSchema

/// The SQL that computes a migrated row's values from the columns of the old row.
package struct MigratedValues {
  let plan: MigrationPlan
  let database: any MigrationDatabase

  package init(plan: MigrationPlan, database: any MigrationDatabase) {
    self.plan = plan
    self.database = database
  }

  private var _old: StoreMapping { plan.old }
  private var _new: StoreMapping { plan.new }

  /// Returns the values of each column of a flow's new table, for each pair; null where an entity has none.
  package func columns(of flow: MigrationPlan.Flow) -> [[SQLPiece]] {
    let table = _new.table(of: flow.newRoot)
    var columns: [[SQLPiece]] = Array(
      repeating: Array(repeating: .null, count: flow.pairs.count), count: table.columns.count)
    for (number, pair) in flow.pairs.enumerated() {
      for slot in pair.new.slots.indices {
        switch _new.storage(of: slot, in: pair.new.entityNumber) {
        case .attribute(let column):
          columns[column][number] = _attribute(slot, pair, content: table.columns[column].content)
        case .composite(let leaves):
          for leaf in leaves { columns[leaf.column][number] = _element(leaf, slot, pair, table) }
        case .toOne(let key, let entity, let order, let destination):
          let pieces = _toOne(slot, pair, to: destination)
          columns[key][number] = pieces.key
          if let entity { columns[entity][number] = pieces.entity }
          if let order { columns[order][number] = pieces.order }
        case .none, .oneToMany, .manyToMany: break
        }
      }
    }
    return columns
  }

  /// Returns one value for the rows of all pairs.
  func chosen(_ pieces: [SQLPiece], in flow: MigrationPlan.Flow) -> SQLPiece {
    if Set(pieces).count == 1 { return pieces[0] }
    let cases = zip(flow.pairs, pieces).map {
      "WHEN \(_old.numbers.stored(for: $0.old.entityNumber)) THEN \($1.sql)"
    }.joined(separator: " ")
    return SQLPiece(sql: "CASE \(database.entityColumn) \(cases) END", values: pieces.flatMap(\.values))
  }

  /// Returns the new entity number of a row.
  func entity(in flow: MigrationPlan.Flow) -> String {
    "CASE \(database.entityColumn) \(_renumbered(flow)) END"
  }

  private func _renumbered(_ flow: MigrationPlan.Flow) -> String {
    flow.pairs.map {
      "WHEN \(_old.numbers.stored(for: $0.old.entityNumber)) THEN \(_new.numbers.stored(for: $0.new.entityNumber))"
    }.joined(separator: " ")
  }

  // MARK: Attributes

  private func _attribute(_ slot: Int, _ pair: MigrationPlan.Pair, content: ColumnContent) -> SQLPiece {
    guard let attribute = pair.new.slots[slot].attribute else { return .null }
    let fallback = _literal(attribute.migrationDefault, content)
    guard let source = plan.attributeSource(of: slot, in: pair),
      case .attribute(let column) = _old.storage(of: source, in: pair.old.entityNumber)
    else { return attribute.isDerived ? .null : fallback }
    let from = _old.column(column, of: pair.old.entityNumber)
    let conversion = NumericConversion(
      from: pair.old.slots[source].type ?? attribute.type, to: attribute.type)
    let piece = SQLPiece(
      sql: conversion.map { database.converted(from.name, by: $0) } ?? database.converted(from, to: content))
    // Now mandatory: missing values are replaced by the default.
    let wasOptional = pair.old.slots[source].isOptional
    guard wasOptional, !attribute.isOptional, fallback != .null else { return piece }
    return SQLPiece(sql: "COALESCE(\(piece.sql), \(fallback.sql))", values: piece.values + fallback.values)
  }

  private func _element(
    _ leaf: CompositeLeaf, _ slot: Int, _ pair: MigrationPlan.Pair, _ table: TableMapping
  ) -> SQLPiece {
    let content = table.columns[leaf.column].content
    guard let element = pair.new.element(leaf, in: slot) else { return .null }
    let fallback = _literal(element.migrationDefault, content)
    if let source = plan.attributeSource(of: slot, in: pair),
      case .composite(let leaves) = _old.storage(of: source, in: pair.old.entityNumber)
    {
      let found = leaves.first { $0.names == leaf.names }
      let piece =
        found.map { _element(from: $0, of: source, to: element, pair, content) }
        // A fallback is for objects without a value, and these have one in their other elements.
        ?? (element.isOptional ? _literal(element.defaultValue, content) : fallback)
      guard fallback != .null, pair.old.slots[source].isOptional,
        pair.new.slots[slot].attribute?.isOptional == false
      else { return piece }
      // Now mandatory: where all elements are missing, they are replaced by the default's.
      let isMissing = leaves.map { "\(_old.column($0.column, of: pair.old.entityNumber).name) IS NULL" }
      return SQLPiece(
        sql: "CASE WHEN \(isMissing.joined(separator: " AND ")) THEN \(fallback.sql) ELSE \(piece.sql) END",
        values: fallback.values + piece.values)
    }
    return fallback
  }

  private func _element(
    from leaf: CompositeLeaf, of source: Int, to element: AttributeSchema, _ pair: MigrationPlan.Pair,
    _ content: ColumnContent
  ) -> SQLPiece {
    let column = _old.column(leaf.column, of: pair.old.entityNumber)
    let conversion = pair.old.element(leaf, in: source).flatMap {
      NumericConversion(from: $0.type, to: element.type)
    }
    return SQLPiece(
      sql: conversion.map { database.converted(column.name, by: $0) }
        ?? database.converted(column, to: content))
  }

  private func _literal(_ literal: SchemaLiteral?, _ content: ColumnContent) -> SQLPiece {
    literal.flatMap { MigrationValue($0, content) }.map { SQLPiece($0) } ?? .null
  }

  // MARK: To-ones

  private func _toOne(
    _ slot: Int, _ pair: MigrationPlan.Pair, to destination: Int
  ) -> (key: SQLPiece, entity: SQLPiece, order: SQLPiece) {
    let nothing = (SQLPiece.null, SQLPiece.null, SQLPiece.null)
    guard let source = plan.relationshipSource(of: slot, in: pair),
      case .toOne(let key, let entity, let order, let was) = _old.storage(
        of: source, in: pair.old.entityNumber),
      let flow = plan.flow(from: was, to: destination)
    else { return nothing }
    func name(_ column: Int) -> String { _old.column(column, of: pair.old.entityNumber).name }
    return (
      SQLPiece(sql: flow.offset == 0 ? name(key) : "\(name(key)) + \(flow.offset)"),
      entity.map { SQLPiece(sql: _number(in: name($0), flow)) } ?? .null,
      order.map { SQLPiece(sql: name($0)) } ?? .null
    )
  }

  /// Returns the new entity number of a destination from the old one in a column.
  private func _number(in column: String, _ flow: MigrationPlan.Flow) -> String {
    let isSame = flow.pairs.allSatisfy {
      _old.numbers.stored(for: $0.old.entityNumber) == _new.numbers.stored(for: $0.new.entityNumber)
    }
    return isSame && flow.isWhole ? column : "CASE \(column) \(_renumbered(flow)) END"
  }
}
