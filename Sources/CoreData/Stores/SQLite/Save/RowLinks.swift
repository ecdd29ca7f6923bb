import CoreDataModelSchema
import CoreDataSQLiteBinding

/// The stored links between rows, which delete rules read and clear inside a transaction.
struct RowLinks {
  let engine: SQLiteStoreEngine
  let connection: Connection

  private var _mapping: StoreMapping { engine.mapping }

  /// Returns the members of a relationship of some rows. For a one-to-one whose other end is stored, these
  /// are the rows that point back: the owners' own rows may be deleted already.
  func members(of keys: [Int64], _ layout: PropertyLayout, _ slot: Int) throws -> [ObjectKey] {
    let number = layout.entityNumber
    if let query = engine.relationQueries[number - 1][slot] {
      return try connection.withStatement(query.many) { statement in
        statement.bind(ValueArray(keys), at: 1)
        var result: [ObjectKey] = []
        while try statement.step() { result.append(try query.member(statement, engine.context)) }
        return result
      }
    }
    guard let relationship = layout.slots[slot].relationship,
      case .toOne(let column, let entityColumn, _, let destination) = _mapping.storage(of: slot, in: number)
    else { return [] }
    if let inverse = relationship.inverseSlot, let query = _plan(inverse, of: relationship.destination) {
      return try _rows(pointingAt: keys, query)
    }
    let table = _mapping.table(of: number)
    let name = table.columns[column].name
    let entity = entityColumn.map { ", \(table.columns[$0].name)" } ?? ""
    return try _keys(
      "SELECT \(name)\(entity) FROM \(table.name) WHERE \(name) IS NOT NULL AND Z_PK IN \(ValueArray.members)",
      keys, hasEntity: entityColumn != nil, destination)
  }

  /// Returns the remaining rows that point at deleted ones.
  func rows(through link: DeleteRules.Link, sparing rules: DeleteRules) throws -> [ObjectKey] {
    guard let plan = _plan(link.inverse, of: link.entity.entityNumber) else { return [] }
    return try _rows(pointingAt: link.keys, plan).filter { !rules.deletes($0) }
  }

  /// Clears the to-one of all rows that point at deleted ones, and increments their versions.
  ///
  /// - Parameter only: Keys of rows that the same transaction has written: clears only their to-ones, since
  ///   their versions are incremented already.
  func clear(_ link: DeleteRules.Link, only: [Int64]? = nil) throws {
    guard let plan = _plan(link.inverse, of: link.entity.entityNumber) else { return }
    try connection.withStatement(only == nil ? plan.clear : plan.clearUnversioned) { statement in
      statement.bind(ValueArray(only ?? link.keys), at: 1)
      try statement.run()
    }
  }

  /// Deletes rows, their pairs in join tables and hidden references to them, regardless of their versions.
  ///
  /// - Parameters:
  ///   - entry: Preserves values of the rows.
  ///   - files: Receives the external data files that the rows reference.
  /// - Returns: The number of deleted rows.
  func delete(
    _ rows: [(layout: PropertyLayout, keys: [Int64])], recordingIn entry: HistoryEntry?, files: inout [String]
  ) throws -> Int {
    var count = 0
    for (layout, keys) in rows {
      let plan = engine.writePlans.entity(layout.entityNumber).delete
      for key in keys {
        try entry?.willDelete(key, entity: layout.entityNumber)
        if let query = plan.files { files += try externalFiles(query, key) }
      }
      for cleanup in plan.cleanups + [plan.unversioned] {
        try connection.withStatement(cleanup) { statement in
          statement.bind(ValueArray(keys), at: 1)
          try statement.run()
        }
      }
      count += connection.changes
    }
    return count
  }

  /// Returns the external data files that a row references.
  func externalFiles(_ query: SQLText, _ key: Int64) throws -> [String] {
    try connection.withStatement(query) { statement in
      statement.bind(key, at: 1)
      guard try statement.step() else { return [] }
      return (0..<statement.columnCount).compactMap { column in
        statement.withBytes(Int32(column)) { ExternalDataDirectory.file(named: $0) }
      }
    }
  }

  private func _plan(_ slot: Int, of entity: Int) -> LinkPlan? {
    engine.writePlans.entity(entity).links[slot]
  }

  private func _rows(pointingAt keys: [Int64], _ plan: LinkPlan) throws -> [ObjectKey] {
    try connection.withStatement(plan.find) { statement in
      statement.bind(ValueArray(keys), at: 1)
      return try _keys(statement, hasEntity: plan.hasEntity, plan.entity)
    }
  }

  private func _keys(_ sql: String, _ keys: [Int64], hasEntity: Bool, _ entity: Int) throws -> [ObjectKey] {
    let statement = try connection.prepare(sql)
    statement.bind(ValueArray(keys), at: 1)
    return try _keys(statement, hasEntity: hasEntity, entity)
  }

  private func _keys(_ statement: Statement, hasEntity: Bool, _ entity: Int) throws -> [ObjectKey] {
    var result: [ObjectKey] = []
    while try statement.step() {
      guard let number = hasEntity ? _mapping.numbers.number(forStored: statement.int64(1)) : entity else {
        continue
      }
      result.append(ObjectKey(space: engine.spaces[number - 1], reference: statement.int64(0)))
    }
    return result
  }
}
