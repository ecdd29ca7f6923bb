import CoreData
import CoreDataPostgreSQLBinding

// The required contents of a schema for a model, as lists to compare with the server's catalog.

extension PostgreSQLSchema {
  struct Column: Equatable {
    let relation: String
    let name: String
    let type: String
    /// Whether the column compares text by its bytes.
    let isText: Bool
  }

  /// Columns of all tables, the store's own included. Names are unquoted.
  var expectedColumns: [Column] {
    var result: [Column] = []
    func add(_ relation: String, _ name: String, _ declared: String) {
      let parts = declared.components(separatedBy: " COLLATE ")
      result.append(Column(relation: relation, name: name, type: parts[0], isText: parts.count > 1))
    }
    for table in ownTables {
      for column in table.columns { add(table.name, column.name, column.type) }
    }
    for table in mapping.tables {
      let relation = relation(table.name)
      add(relation, "id", "bigint")
      add(relation, "entity", "smallint")
      add(relation, "version", "bigint")
      for column in table.columns { add(relation, PostgreSQLNames.plain(column.name), column.declaredType) }
    }
    for join in mapping.joins {
      for column in [join.first, join.second, join.firstOrder, join.secondOrder].compactMap({ $0 }) {
        add(relation(join.name), PostgreSQLNames.plain(column), "bigint")
      }
    }
    return result
  }

  /// The model's tables, each with the columns whose combined values are unique.
  var expectedKeys: [(relation: String, columns: [String])] {
    var result: [(String, [String])] = []
    for table in mapping.tables { result.append((relation(table.name), ["id"])) }
    for join in mapping.joins {
      result.append((relation(join.name), [join.first, join.second].map(PostgreSQLNames.plain)))
    }
    for constraint in uniqueColumns {
      result.append((relation(constraint.table), constraint.columns.map(PostgreSQLNames.plain)))
    }
    return result
  }

  var expectedSequences: [String] { mapping.tables.map { relation(PostgreSQLKeys.sequence(of: $0)) } }

  /// Rights that a role needs to read and write objects, by table.
  var expectedRights: [(relation: String, rights: [PostgreSQLRight])] {
    ownTables.map { ($0.name, $0.rights) }
      + mapping.tables.map { (relation($0.name), [.select, .insert, .update, .delete]) }
      + mapping.joins.map { (relation($0.name), [.select, .insert, .update, .delete]) }
  }

  /// Rights to grant a role: those, and further ones without which a program leaves something out.
  var grantedRights: [(relation: String, rights: [PostgreSQLRight])] {
    let wished = Dictionary(uniqueKeysWithValues: ownTables.map { ($0.name, $0.wishedRights) })
    return expectedRights.map { ($0.relation, $0.rights + (wished[$0.relation] ?? [])) }
  }

  /// Returns the name of a table or sequence without the schema and quotes.
  func relation(_ name: String) -> String {
    PostgreSQLNames.parts(name).name
  }
}
