import CoreDataModelSchema
import CoreDataSQLiteBinding
import Foundation

/// A piece of SQL with the values of its parameters.
struct SQLPiece: Hashable {
  let sql: String
  var values: [Binding] = []

  static let null = SQLPiece(sql: "NULL")
}

extension StoreMigration {
  /// Copies the rows of an old table that go to a new one, slice by slice: attributes, and to-ones that are
  /// stored as they were.
  func copyRows(_ flow: MigrationPlan.Flow, _ slices: [String], _ progress: MigrationProgress) throws {
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
      return SQLPiece(sql: "CASE Z_ENT \(cases) END", values: pieces.flatMap(\.values))
    }
    let entity = zip(numbers, flow.pairs).map {
      "WHEN \($0) THEN \(new.numbers.stored(for: $1.new.entityNumber))"
    }.joined(separator: " ")
    let pieces = columns.map(chosen)
    let names = ["Z_PK", "Z_ENT", "Z_OPT"] + table.columns.map(\.name)
    let values = ["Z_PK + \(flow.offset)", "CASE Z_ENT \(entity) END", "Z_OPT"] + pieces.map(\.sql)
    for slice in slices {
      try connection.query(
        "INSERT INTO \(table.name) (\(names.joined(separator: ", "))) SELECT \(values.joined(separator: ", ")) "
          + "FROM \(away(of: flow.oldRoot)) WHERE Z_ENT IN (\(numbers.map(String.init).joined(separator: ", "))) "
          + "AND \(slice)",
        pieces.flatMap(\.values))
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
    let piece = conversion.map { SQLPiece($0, of: from.name) } ?? _converted(from, to: content)
    // Made required: where there is no value, the default is put.
    let wasOptional = pair.old.slots[source].isOptional
    guard wasOptional, !attribute.isOptional, fallback != .null else { return piece }
    return SQLPiece(sql: "IFNULL(\(piece.sql), \(fallback.sql))", values: piece.values + fallback.values)
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
        return SQLPiece(conversion, of: column.name)
      }
      return _converted(column, to: content)
    }
    return _literal(pair.new.element(leaf, in: slot)?.defaultValue, content)
  }

  /// The value of a column of the same type as the new column keeps it.
  private func _converted(_ column: TableColumn, to content: ColumnContent) -> SQLPiece {
    switch (column.content, content) {
    case (.data, .externalData):
      return SQLPiece(
        sql: "CASE WHEN \(column.name) IS NULL THEN NULL ELSE CAST(x'01' || \(column.name) AS BLOB) END")
    case (.externalData, .data):
      // What lies in a file of its own is read afterwards.
      return SQLPiece(sql: "SUBSTR(\(column.name), 2)")
    default: return SQLPiece(sql: column.name)
    }
  }

  private func _literal(_ literal: SchemaLiteral?, _ content: ColumnContent) -> SQLPiece {
    let value: Binding? =
      switch literal {
      case nil: nil
      case .integer(let number)?: content == .double ? .double(Double(number)) : .int(number)
      case .double(let number)?, .date(let number)?: .double(number)
      case .boolean(let flag)?: .int(flag ? 1 : 0)
      case .string(let text)?, .uri(let text)?: .text(text)
      case .decimal(let text)?: Decimal(string: text).map(StoredDecimal.binding)
      case .uuid(let text)?:
        UUID(uuidString: text).map { uuid in .blob(withUnsafeBytes(of: uuid.uuid) { Array($0) }) }
      case .data(let bytes)?: .blob(content == .externalData ? [1] + bytes : bytes)
      }
    return value.map { SQLPiece(sql: "?", values: [$0]) } ?? .null
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
