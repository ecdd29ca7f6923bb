import CoreData
import CoreDataSQLiteBinding

/// Invalid rows of a table, as an SQL condition by which they are counted, listed and repaired.
struct RowCondition: Sendable {
  /// The table as in a FROM clause, with the alias `t0`.
  let from: String
  let table: String
  /// The row's own number in the table.
  let key: String
  let condition: String

  /// Rows of an entity's table.
  init(_ table: StoreTableLayout.Table, _ condition: String) {
    from = "\(table.name) t0"
    self.table = table.name
    key = "t0.Z_PK"
    self.condition = condition
  }

  /// Rows of any other table.
  init(table: String, key: String = "t0.rowid", _ condition: String) {
    from = "\(table) t0"
    self.table = table
    self.key = key
    self.condition = condition
  }

  /// Returns the number of rows, and the first of their keys.
  func rows(_ connection: Connection, listing limit: Int) throws -> (keys: [Int64], count: Int) {
    var keys: [Int64] = []
    var count = 0
    try connection.query("SELECT \(key) FROM \(from) WHERE \(condition) ORDER BY 1") { row in
      if keys.count < limit { keys.append(row.int64(0)) }
      count += 1
    }
    return (keys, count)
  }
}

extension StoreTableLayout {
  /// The condition that a row belongs to an entity or one of its subentities; empty if all rows of the table
  /// do.
  func isKind(of entity: Int, alias: String = "t0") -> String {
    let table = table(of: entity)
    guard table.root != entity else { return "" }
    return " AND \(alias).Z_ENT IN (\(storedFamily(of: entity)))"
  }

  /// Z_ENT of an entity and its subentities, separated by commas.
  func storedFamily(of entity: Int) -> String {
    layout.layout(numbered: entity).family.map { String(storedNumber(of: $0)) }.joined(separator: ", ")
  }

  /// The name of an entity for users.
  func name(of entity: Int) -> String { layout.layout(numbered: entity).entityName }
}
