import CoreData
import CoreDataModelSchema
import CoreDataPostgreSQLBinding

/// The stored links between rows, which delete rules read and clear inside a transaction.
struct PostgreSQLRowLinks {
  let engine: PostgreSQLStoreEngine
  let connection: PostgreSQLConnection

  private var _mapping: StoreMapping { engine.mapping }

  private func _run(_ sql: String, _ keys: [Int64]) throws -> PostgreSQLResult {
    var parameters = PostgreSQLParameters()
    parameters.add(PostgreSQLArray(keys))
    return try connection.run(sql, parameters)
  }

  /// Returns the members of a relationship of some rows. For a one-to-one whose other end is stored, these
  /// are the rows that point back: the owners' own rows may be deleted already.
  func members(of keys: [Int64], _ layout: PropertyLayout, _ slot: Int) throws -> [ObjectKey] {
    let number = layout.entityNumber
    if let relation = engine.relations[number - 1][slot] {
      let found = try _run(relation.sql(keys.count), keys)
      return try (0..<found.rowCount).map { try relation.member(found, $0, engine.spaces) }
    }
    guard let relationship = layout.slots[slot].relationship,
      case .toOne(let column, let entityColumn, _, let destination) = _mapping.storage(of: slot, in: number)
    else { return [] }
    if let inverse = relationship.inverseSlot, let column = _column(inverse, of: relationship.destination) {
      let table = _mapping.table(of: relationship.destination).name
      return _keys(
        try _run("SELECT \"id\", \"entity\" FROM \(table) WHERE \(column) = ANY($1::int8[])", keys))
    }
    let table = _mapping.table(of: number)
    let name = table.columns[column].name
    let entity = entityColumn.map { table.columns[$0].name } ?? "\(_mapping.numbers.stored(for: destination))"
    return _keys(
      try _run(
        "SELECT \(name), \(entity) FROM \(table.name) WHERE \(name) IS NOT NULL AND \"id\" = ANY($1::int8[])",
        keys))
  }

  /// Clears the to-one of rows that point at deleted ones.
  ///
  /// - Parameter written: Keys of rows that the same transaction has written, whose versions are incremented
  ///   already.
  /// - Returns: The rows, except those that are deleted as well.
  func clear(_ link: DeleteRules.Link, sparing rules: DeleteRules, written: [Int64] = []) throws
    -> [ObjectKey]
  {
    let number = link.entity.entityNumber
    guard
      case .toOne(let column, let entityColumn, let orderColumn, _) = _mapping.storage(
        of: link.inverse, in: number)
    else { return [] }
    let table = _mapping.table(of: number)
    let list = [column, entityColumn, orderColumn].compactMap {
      $0.map { "\(table.columns[$0].name) = NULL" }
    }
    .joined(separator: ", ")
    var parameters = PostgreSQLParameters()
    parameters.add(PostgreSQLArray(link.keys))
    parameters.add(PostgreSQLArray(written))
    return _keys(
      try connection.run(
        """
        UPDATE \(table.name) SET \(list), "version" = "version" + ("id" <> ALL($2::int8[]))::int \
        WHERE \(table.columns[column].name) = ANY($1::int8[]) RETURNING "id", "entity"
        """, parameters)
    ).filter { !rules.deletes($0) }
  }

  /// Deletes rows, their pairs in join tables and hidden references to them, regardless of their versions.
  ///
  /// - Returns: The number of deleted rows.
  func delete(_ rows: [(layout: PropertyLayout, keys: [Int64])]) throws -> Int {
    var count = 0
    for (layout, keys) in rows {
      for sql in engine.plans.cleanups[layout.entityNumber - 1] { _ = try _run(sql, keys) }
      count += try _run(
        "DELETE FROM \(_mapping.table(of: layout.entityNumber).name) WHERE \"id\" = ANY($1::int8[])", keys
      ).affectedCount
    }
    return count
  }

  private func _column(_ slot: Int, of entity: Int) -> String? {
    guard case .toOne(let column, _, _, _) = _mapping.storage(of: slot, in: entity) else { return nil }
    return _mapping.table(of: entity).columns[column].name
  }

  /// The keys in rows of an ID and the number of an entity.
  private func _keys(_ found: PostgreSQLResult) -> [ObjectKey] {
    (0..<found.rowCount).compactMap { row in
      guard let number = _mapping.numbers.number(forStored: found.int64(row, 1)) else { return nil }
      return ObjectKey(space: engine.spaces[number - 1], reference: found.int64(row, 0))
    }
  }
}
