import CoreData
import CoreDataModelFiles
import CoreDataModelSchema
import CoreDataPostgreSQLBinding
import Foundation

/// The earlier versions of a store's model whose programs go on, and what the store has for them only.
///
/// A version that leaves out entities, attributes or relationships leaves them in the tables, hidden, until the programs
/// with earlier versions may no longer write. What is hidden follows from the versions and is noted nowhere.
struct PostgreSQLEarlierVersions {
  /// Their mappings, the newest first; without the present version.
  let mappings: [StoreMapping]

  /// - Throws: `PostgreSQLStoreError.noStore` for a version that cannot be read.
  init(_ connection: PostgreSQLConnection, schema: String) throws {
    guard let types = try PostgreSQLTypes(connection, schema: schema) else {
      mappings = []
      return
    }
    let found = try connection.run(
      """
      SELECT m."epoch", m."content" FROM \(PostgreSQLEpochs.models(schema)) m, \(PostgreSQLEpochs.table(schema)) e \
      WHERE m."epoch" >= e."writes_from" AND m."epoch" < e."current" ORDER BY m."epoch" DESC
      """, isRepeated: false)
    mappings = try (0..<found.rowCount).map { row in
      guard let version = try? CompiledModelReader.read(Data(found.bytes(row, 1)), path: schema) else {
        throw PostgreSQLStoreError.noStore(
          schema: schema,
          reason: "its table _model holds no model that can be read in epoch \(found.int64(row, 0))")
      }
      let layout = try ModelLayout(version)
      return try PostgreSQLMapping.mapping(
        for: layout, schema: schema, numbers: types.numbers(for: layout, schema: schema))
    }
  }

  /// Returns the first reason why programs with one of the versions could not go on beside a new one; nil if all can.
  func obstacle(to new: ModelSchema) -> String? {
    mappings.lazy.compactMap { SchemaExpansion.obstacle(from: $0.layout.schema, to: new) }.first
  }

  /// Returns what the store has for these versions and a version that takes over does not have.
  func hidden(beside present: StoreMapping) -> PostgreSQLHiddenParts {
    PostgreSQLHiddenParts(of: mappings, beside: present)
  }
}

/// Tables, columns and join tables of versions of a model that a newer one does not have. Names are quoted.
struct PostgreSQLHiddenParts {
  /// The columns, by the names of their tables, which the newer version has.
  private(set) var columns: [String: [String]] = [:]
  private(set) var tables: [String] = []
  private(set) var joins: [String] = []
  /// What is hidden as people name it: `Author`, `Book.pages`.
  private(set) var names: [String] = []

  init(of earlier: [StoreMapping], beside present: StoreMapping) {
    let known = Dictionary(
      present.tables.map { ($0.name, Set($0.columns.map(\.name))) }, uniquingKeysWith: { first, _ in first })
    let joinsThere = Set(present.joins.map(\.name))
    for mapping in earlier {
      for table in mapping.tables {
        guard let there = known[table.name] else {
          if !tables.contains(table.name) { tables.append(table.name) }
          continue
        }
        for column in table.columns.map(\.name)
        where !there.contains(column) && !(columns[table.name] ?? []).contains(column) {
          columns[table.name, default: []].append(column)
        }
      }
      for join in mapping.joins.map(\.name) where !joinsThere.contains(join) && !joins.contains(join) {
        joins.append(join)
      }
      for name in SchemaExpansion.removals(from: mapping.layout.schema, to: present.layout.schema)
      where !names.contains(name) {
        names.append(name)
      }
    }
  }

  /// Statements that drop all of it, with what depends on it: views, and what an owner has added.
  var removals: [String] {
    (joins.sorted() + tables.sorted()).map { "DROP TABLE \($0) CASCADE" }
      + columns.sorted { $0.key < $1.key }.map { table, columns in
        "ALTER TABLE \(table) \(columns.map { "DROP COLUMN \($0) CASCADE" }.joined(separator: ", "))"
      }
  }
}
