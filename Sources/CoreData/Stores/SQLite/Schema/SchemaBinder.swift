import CoreDataModelSchema
import CoreDataSQLiteBinding

/// Finds the tables and columns of a mapping in an existing file, by name and regardless of their order.
///
/// Names of which a part is a guess, such as the number at the end of a name that several columns would have,
/// are those of the file.
struct SchemaBinder {
  private let _connection: Connection
  private let _path: String

  init(_ connection: Connection, path: String) {
    _connection = connection
    _path = path
  }

  /// Reads the file's entity numbers.
  ///
  /// - Throws: `StoreOpenError.incompatible` if an entity of the model is not in the file.
  func numbers(for layout: ModelLayout) throws -> EntityNumbers {
    var byName: [String: Int] = [:]
    try ForeignSchema.expectTable("Z_PRIMARYKEY", _connection, path: _path)
    try _connection.query("SELECT Z_ENT, Z_NAME FROM Z_PRIMARYKEY") { row in
      // Higher numbers belong to the history.
      guard let number = Int(exactly: row.int64(0)), (1..<16000).contains(number) else { return }
      byName[row.string(1)] = number
    }
    let stored = try layout.layouts.map { entity in
      guard let number = byName[entity.entityName] ?? _formerNumber(of: entity, layout, byName) else {
        throw StoreOpenError.incompatible(
          path: _path, reason: "the store has no entity '\(entity.entityName)' (no row in Z_PRIMARYKEY)")
      }
      return number
    }
    guard Set(stored).count == stored.count else {
      throw StoreOpenError.incompatible(
        path: _path, reason: "two entities have the same number in Z_PRIMARYKEY")
    }
    return EntityNumbers(stored: stored)
  }

  /// Returns the number of a renamed entity: Core Data's migration leaves its old name in Z_PRIMARYKEY.
  private func _formerNumber(of entity: PropertyLayout, _ layout: ModelLayout, _ byName: [String: Int])
    -> Int?
  {
    let schema = layout.schema.entities.first { $0.name == entity.entityName }
    guard let former = schema?.renamingIdentifier, layout.layoutsByName[former] == nil else { return nil }
    return byName[former]
  }

  /// Returns the mapping with the names of the file.
  ///
  /// - Throws: `StoreOpenError.incompatible`, naming the first table or column that is missing.
  func bind(_ mapping: StoreMapping) throws -> StoreMapping {
    let tables = try mapping.tables.map { try _bind($0, mapping) }
    var joins = JoinBinding(mapping, _connection, path: _path, columns: _names)
    return mapping.with(tables, try joins.bind())
  }

  private func _bind(_ table: TableMapping, _ mapping: StoreMapping) throws -> TableMapping {
    try ForeignSchema.expectTable(StoreVocabulary.plain(table.name), _connection, path: _path)
    let present = Set(try _names(of: table.name))
    guard !present.isEmpty else {
      let entity = mapping.layout.layout(numbered: table.rootNumber).entityName
      throw StoreOpenError.incompatible(
        path: _path, reason: "the table \(table.name) of entity '\(entity)' is missing")
    }
    let fixed = [StoreVocabulary.primaryKey, StoreVocabulary.entity, StoreVocabulary.version]
    for column in fixed where !present.contains(column) { throw missing(column, in: table.name) }
    let isBound = table.columns.allSatisfy { present.contains(StoreVocabulary.plain($0.name)) }
    if table.numbered.isEmpty, isBound { return table }
    return try ColumnBinding(table, mapping, _columns(of: table.name), self).bind()
  }

  func missing(_ column: String, in table: String) -> StoreOpenError {
    .incompatible(
      path: _path, reason: "the table \(table) has no column \(column); the store needs to be migrated")
  }

  /// Whether a query has a row. One that a damaged page stops has none: what is damaged is for reading to
  /// report, not for opening.
  func finds(_ sql: String) throws -> Bool {
    do {
      return try _connection.firstValue(sql) != nil
    } catch let error as SQLiteError where error.isCorrupt {
      return false
    }
  }

  /// Returns which of the numbers that a query selects are not zero in its only row.
  func flags(_ sql: String, count: Int) throws -> [Bool] {
    var flags = Array(repeating: false, count: count)
    do {
      try _connection.query(sql) { row in
        for index in 0..<count { flags[index] = row.int64(Int32(index)) > 0 }
      }
    } catch let error as SQLiteError where error.isCorrupt {}
    return flags
  }

  /// Returns a table's columns with their declared types.
  private func _columns(of table: String) throws -> [String: String] {
    try _connection.withStatement(Self._columnNames) { statement in
      statement.bind(StoreVocabulary.plain(table), at: 1)
      var result: [String: String] = [:]
      while try statement.step() { result[statement.string(0)] = statement.string(1) }
      return result
    }
  }

  /// Returns the names of a table's columns, in their order.
  private func _names(of table: String) throws -> [String] {
    try _connection.withStatement(Self._columnNames) { statement in
      statement.bind(StoreVocabulary.plain(table), at: 1)
      var result: [String] = []
      while try statement.step() { result.append(statement.string(0)) }
      return result
    }
  }

  /// Prepared once: there is a table for each entity.
  private static let _columnNames = SQLText("SELECT name, type FROM pragma_table_info(?)")
}
