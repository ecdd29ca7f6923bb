import CoreData
import CoreDataModelSchema
import CoreDataPostgreSQLBinding
import Foundation

/// A migration that only adds to a store, inside the caller's transaction: new tables, and new columns of
/// present ones, which the server adds without writing a row.
///
/// Programs with the older version of the model go on reading and writing: rows that they insert have the
/// defaults of the new attributes, which are the columns' defaults, and the server applies the delete rules that
/// they do not know to what they delete; see `PostgreSQLDeletionTriggers`.
struct PostgreSQLExpansion {
  private let _connection: PostgreSQLConnection
  private let _schemaName: String
  private let _old: PostgreSQLSchema
  private let _new: PostgreSQLSchema

  /// Returns nil if the new version does more than add; see `SchemaExpansion`.
  init?(
    _ connection: PostgreSQLConnection, schema: String, from old: StoreMapping, to new: StoreMapping
  ) throws {
    guard SchemaExpansion.obstacle(from: old.layout.schema, to: new.layout.schema) == nil else { return nil }
    _connection = connection
    _schemaName = schema
    _old = PostgreSQLSchema(old, try PostgreSQLDerivations(old.layout), schema: schema)
    _new = PostgreSQLSchema(new, try PostgreSQLDerivations(new.layout), schema: schema)
    // A new property may take the column's name that an old one had, and push it to a longer one.
    guard Set(_old.names).isSubset(of: _new.names),
      Set(_old.triggers).isSubset(of: _new.triggers)
    else { return nil }
  }

  /// Adds what is new. Waits for each table that gets a column, and holds back its readers meanwhile.
  ///
  /// - Parameter epoch: The epoch of the new version.
  /// - Returns: Indexes of large tables, left to be built beside the programs once the transaction has committed.
  func run(epoch: Int64) throws -> [PostgreSQLIndex] {
    let former = Dictionary(
      _old.mapping.tables.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
    let joins = Set(_old.mapping.joins.map(\.name))
    var added: [TableMapping] = []
    for (number, table) in _new.mapping.tables.enumerated() {
      guard let old = former[table.name] else {
        added.append(table)
        try _execute(_new.statements(for: table) + _new.view(of: table))
        continue
      }
      let columns = _added(to: old, number)
      guard !columns.isEmpty else { continue }
      try _connection.execute("ALTER TABLE \(table.name) \(columns.joined(separator: ", "))")
      try _execute(_new.view(of: table, replacing: try _new.columns(ofViewOf: table, on: _connection)))
    }
    for join in _new.mapping.joins where !joins.contains(join.name) {
      try _execute(_new.statements(for: join))
    }
    let known = Set(_old.columnIndexes)
    let later = try PostgreSQLIndexBuilding.leftForLater(
      _new.columnIndexes.filter { !known.contains($0) && former[$0.table] != nil }, _connection)
    let (indexes, triggers) = (Set(_old.indexes + later.map(\.statement)), Set(_old.triggers))
    try _execute(_new.indexes.filter { !indexes.contains($0) })
    try _execute(_new.triggers.filter { !triggers.contains($0) })
    try _execute(
      PostgreSQLDeletionTriggers(
        from: _old.mapping.layout, to: _new.mapping, epoch: epoch, schema: _schemaName
      ).statements)
    try _grant(added, _new.mapping.joins.map(\.name).filter { !joins.contains($0) })
    return later
  }

  private func _execute(_ statements: [String]) throws {
    try _connection.execute(inOrder: statements)
  }

  // MARK: Columns

  /// Returns the actions that add the columns which a table lacks.
  private func _added(to old: TableMapping, _ number: Int) -> [String] {
    let table = _new.mapping.tables[number]
    let present = Set(old.columns.map(\.name))
    let defaults = _defaults(of: table)
    return table.columns.indices.filter { !present.contains(table.columns[$0].name) }.map { index in
      let column = table.columns[index]
      let value = defaults[index].map { " DEFAULT \($0)" } ?? ""
      return "ADD COLUMN \(column.name) \(column.declaredType)\(value)"
    }
  }

  /// The values of columns in rows without one, as literals.
  private func _defaults(of table: TableMapping) -> [Int: String] {
    var result: [Int: String] = [:]
    func set(_ attribute: AttributeSchema?, _ column: Int) {
      guard let literal = attribute?.migrationDefault,
        let value = MigrationValue(literal, table.columns[column].content)
      else { return }
      result[column] = value.literal(in: table.columns[column])
    }
    let mapping = _new.mapping
    for number in mapping.layout.layout(numbered: table.rootNumber).family {
      let layout = mapping.layout.layout(numbered: number)
      for slot in layout.slots.indices where layout.slots[slot].owner == number {
        switch mapping.storage(of: slot, in: number) {
        case .attribute(let column): set(layout.slots[slot].attribute, column)
        case .composite(let leaves): for leaf in leaves { set(layout.element(leaf, in: slot), leaf.column) }
        case .none, .toOne, .oneToMany, .manyToMany: break
        }
      }
    }
    return result
  }

  // MARK: Rights

  /// Grants the roles that save in the store the rights to its new tables.
  private func _grant(_ tables: [TableMapping], _ joins: [String]) throws {
    if tables.isEmpty, joins.isEmpty { return }
    for role in try PostgreSQLRoles.having(.insert, of: "_receipt", _schemaName, on: _connection) {
      for name in tables.map(\.name) + joins {
        try _connection.execute("GRANT SELECT, INSERT, UPDATE, DELETE ON \(name) TO \(role)")
      }
      for table in tables {
        try _connection.execute("GRANT USAGE ON SEQUENCE \(PostgreSQLKeys.sequence(of: table)) TO \(role)")
      }
    }
  }
}

/// The roles that have a right to a table of a store, apart from its owner.
enum PostgreSQLRoles {
  /// Returns their quoted names; `PUBLIC` for everybody.
  static func having(
    _ right: PostgreSQLRight, of table: String, _ schema: String, on connection: PostgreSQLConnection
  ) throws -> [String] {
    var parameters = PostgreSQLParameters()
    for text in [schema, table, right.rawValue] { parameters.add(text) }
    let found = try connection.run(
      """
      SELECT DISTINCT pg_catalog.pg_get_userbyid(x.grantee)::text, x.grantee = 0 FROM pg_catalog.pg_class c \
      JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace AND n.nspname = $1::text \
      CROSS JOIN LATERAL pg_catalog.aclexplode(c.relacl) x \
      WHERE c.relname = $2::text AND x.privilege_type = $3::text AND x.grantee <> c.relowner ORDER BY 1
      """, parameters, isRepeated: false)
    return (0..<found.rowCount).map {
      found.int64($0, 1) != 0 ? "PUBLIC" : PostgreSQLNames.quoted(found.string($0, 0))
    }
  }
}
