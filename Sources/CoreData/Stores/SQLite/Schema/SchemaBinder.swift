import CoreDataModelSchema
import CoreDataSQLiteBinding

/// Finds the tables and columns of a mapping in an existing file, by name and regardless of their order.
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

  /// Returns the mapping with the file's join table names.
  ///
  /// - Throws: `StoreOpenError.incompatible`, naming the first table or column that is missing.
  func bind(_ mapping: StoreMapping) throws -> StoreMapping {
    for table in mapping.tables {
      try ForeignSchema.expectTable(StoreVocabulary.plain(table.name), _connection, path: _path)
      let present = try _columns(of: table.name)
      guard !present.isEmpty else {
        let entity = mapping.layout.layout(numbered: table.rootNumber).entityName
        throw StoreOpenError.incompatible(
          path: _path, reason: "the table \(table.name) of entity '\(entity)' is missing")
      }
      let fixed = [StoreVocabulary.primaryKey, StoreVocabulary.entity, StoreVocabulary.version]
      for column in fixed + table.columns.map(\.name) where !present.contains(StoreVocabulary.plain(column)) {
        throw StoreOpenError.incompatible(
          path: _path,
          reason: "the table \(table.name) has no column \(column); the store needs to be migrated")
      }
    }
    return mapping.withJoins(try mapping.joins.map(_bind))
  }

  private func _bind(_ join: JoinTable) throws -> JoinTable {
    let wanted = [join.first, join.second] + [join.firstOrder, join.secondOrder].compactMap { $0 }
    for name in join.names {
      try ForeignSchema.expectTable(StoreVocabulary.plain(name), _connection, path: _path)
      let present = try _columns(of: name)
      guard wanted.allSatisfy({ present.contains(StoreVocabulary.plain($0)) }) else { continue }
      var bound = join
      bound.names = [name]
      return bound
    }
    throw StoreOpenError.incompatible(
      path: _path,
      reason:
        "no table \(join.names.joined(separator: " or ")) with the columns \(wanted.joined(separator: ", "))")
  }

  private func _columns(of table: String) throws -> Set<String> {
    try _connection.withStatement(Self._columnNames) { statement in
      statement.bind(StoreVocabulary.plain(table), at: 1)
      var result: Set<String> = []
      while try statement.step() { result.insert(statement.string(0)) }
      return result
    }
  }

  /// Prepared once: there is a table for each entity.
  private static let _columnNames = SQLText("SELECT name FROM pragma_table_info(?)")
}
