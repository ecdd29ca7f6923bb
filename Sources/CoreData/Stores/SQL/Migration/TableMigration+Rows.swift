import CoreDataModelSchema

extension TableMigration {
  /// Copies rows of an old table to a new one, slice by slice: attributes, and to-ones whose storage has not
  /// changed.
  package func copyRows(_ flow: MigrationPlan.Flow, _ slices: [String], _ progress: MigrationProgress) throws
  {
    let table = new.table(of: flow.newRoot)
    var columns: [[SQLPiece]] = Array(
      repeating: Array(repeating: .null, count: flow.pairs.count), count: table.columns.count)
    for (number, pair) in flow.pairs.enumerated() {
      for slot in pair.new.slots.indices {
        switch new.storage(of: slot, in: pair.new.entityNumber) {
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
    let numbers = flow.pairs.map { old.numbers.stored(for: $0.old.entityNumber) }
    func chosen(_ pieces: [SQLPiece]) -> SQLPiece {
      if Set(pieces).count == 1 { return pieces[0] }
      let cases = zip(numbers, pieces).map { "WHEN \($0) THEN \($1.sql)" }.joined(separator: " ")
      return SQLPiece(sql: "CASE \(entityColumn) \(cases) END", values: pieces.flatMap(\.values))
    }
    let entity = zip(numbers, flow.pairs).map {
      "WHEN \($0) THEN \(new.numbers.stored(for: $1.new.entityNumber))"
    }.joined(separator: " ")
    let pieces = columns.map(chosen)
    let names = [keyColumn, entityColumn, versionColumn] + table.columns.map(\.name)
    let values =
      ["\(keyColumn) + \(flow.offset)", "CASE \(entityColumn) \(entity) END", versionColumn]
      + pieces.map(\.sql)
    for slice in slices {
      try database.run(
        SQLPiece(
          sql:
            "INSERT INTO \(table.name) (\(names.joined(separator: ", "))) SELECT \(values.joined(separator: ", ")) "
            + "FROM \(away(of: flow.oldRoot)) WHERE \(entityColumn) IN (\(numbers.map(String.init).joined(separator: ", "))) "
            + "AND \(slice)", values: pieces.flatMap(\.values)))
      try progress.advance()
    }
  }

  // MARK: Attributes

  private func _attribute(_ slot: Int, _ pair: MigrationPlan.Pair, content: ColumnContent) -> SQLPiece {
    guard let attribute = pair.new.slots[slot].attribute else { return .null }
    let fallback = _literal(attribute.defaultValue, content)
    guard let source = plan.attributeSource(of: slot, in: pair),
      case .attribute(let column) = old.storage(of: source, in: pair.old.entityNumber)
    else { return attribute.isDerived ? .null : fallback }
    let from = old.column(column, of: pair.old.entityNumber)
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
    if let source = plan.attributeSource(of: slot, in: pair),
      case .composite(let leaves) = old.storage(of: source, in: pair.old.entityNumber),
      let found = leaves.first(where: { $0.names == leaf.names })
    {
      let column = old.column(found.column, of: pair.old.entityNumber)
      if let type = pair.new.element(leaf, in: slot)?.type,
        let before = pair.old.element(found, in: source)?.type,
        let conversion = NumericConversion(from: before, to: type)
      {
        return SQLPiece(sql: database.converted(column.name, by: conversion))
      }
      return SQLPiece(sql: database.converted(column, to: content))
    }
    return _literal(pair.new.element(leaf, in: slot)?.defaultValue, content)
  }

  private func _literal(_ literal: SchemaLiteral?, _ content: ColumnContent) -> SQLPiece {
    literal.flatMap { MigrationValue($0, content) }.map { SQLPiece(sql: "?", values: [$0]) } ?? .null
  }

  // MARK: To-ones

  private func _toOne(
    _ slot: Int, _ pair: MigrationPlan.Pair, to destination: Int
  ) -> (key: SQLPiece, entity: SQLPiece, order: SQLPiece) {
    let nothing = (SQLPiece.null, SQLPiece.null, SQLPiece.null)
    guard let source = plan.relationshipSource(of: slot, in: pair),
      case .toOne(let key, let entity, let order, let was) = old.storage(
        of: source, in: pair.old.entityNumber),
      let flow = plan.flow(from: was, to: destination)
    else { return nothing }
    func name(_ column: Int) -> String { old.column(column, of: pair.old.entityNumber).name }
    let cases = flow.pairs.map {
      "WHEN \(old.numbers.stored(for: $0.old.entityNumber)) THEN \(new.numbers.stored(for: $0.new.entityNumber))"
    }.joined(separator: " ")
    return (
      SQLPiece(sql: flow.offset == 0 ? name(key) : "\(name(key)) + \(flow.offset)"),
      entity.map { SQLPiece(sql: "CASE \(name($0)) \(cases) END") } ?? .null,
      order.map { SQLPiece(sql: name($0)) } ?? .null
    )
  }
}
