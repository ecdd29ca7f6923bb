import CoreData
import CoreDataModelSchema
import CoreDataPostgreSQLBinding
import Foundation

/// A migration that only adds to a store, inside the caller's transaction: new tables, and new columns of
/// present ones, which the server adds without writing a row. What the new version leaves out stays, hidden.
///
/// Programs with earlier versions of the model go on reading and writing: rows that they insert have the
/// defaults of the new attributes, which are the columns' defaults, and the server applies the delete rules that
/// they do not know to what they delete; see `PostgreSQLDeletionTriggers`. The same holds for what newer programs insert and
/// delete, and what is hidden from them. A contraction drops it; see `PostgreSQLContraction`.
struct PostgreSQLExpansion {
  private let _connection: PostgreSQLConnection
  private let _schemaName: String
  private let _old: PostgreSQLSchema
  /// The schemas of the version before and of the earlier ones whose programs go on.
  private let _live: [PostgreSQLSchema]
  private let _new: PostgreSQLSchema

  /// Returns nil if the programs cannot share the store; see `SchemaExpansion`.
  init?(
    _ connection: PostgreSQLConnection, schema: String, from old: StoreMapping,
    beside earlier: PostgreSQLEarlierVersions, to new: StoreMapping
  ) throws {
    guard SchemaExpansion.obstacle(from: old.layout.schema, to: new.layout.schema) == nil,
      earlier.obstacle(to: new.layout.schema) == nil
    else { return nil }
    _connection = connection
    _schemaName = schema
    _old = PostgreSQLSchema(old, try PostgreSQLDerivations(old.layout), schema: schema)
    _live =
      try [_old]
      + earlier.mappings.map { PostgreSQLSchema($0, try PostgreSQLDerivations($0.layout), schema: schema) }
    _new = PostgreSQLSchema(new, try PostgreSQLDerivations(new.layout), schema: schema)
    let triggers = Set(_new.triggers)
    guard _sharesNames, _live.allSatisfy({ triggers.isSuperset(of: $0.triggers) }), try !_needsHidden() else {
      return nil
    }
  }

  /// Whether each place in the tables is that of one property in all versions. A new property may take the column's name
  /// that an old one had, and push it to a longer one.
  private var _sharesNames: Bool {
    var owners: [String: String] = [:]
    var places: [String: [String]] = [:]
    for schema in [_new] + _live {
      for name in schema.names {
        let property = "\(name.entity).\(name.property)"
        let here = name.columnNames.map { "\(name.relation).\($0)" }
        if places.updateValue(here, forKey: property) ?? here != here { return false }
        for place in here {
          // The columns of a join table are those of both of its relationships.
          let owner = schema.mapping.joins.contains { $0.name == name.relation } ? name.relation : property
          if owners.updateValue(owner, forKey: place) ?? owner != owner { return false }
        }
      }
      for table in schema.mapping.tables {
        let root = schema.mapping.layout.layout(numbered: table.rootNumber).entityName
        if owners.updateValue(root, forKey: table.name) ?? root != root { return false }
      }
    }
    return true
  }

  /// The columns of the tables of the new version that only programs with earlier ones will know.
  private var _hidden: [String: [String]] {
    PostgreSQLHiddenParts(of: _live.map(\.mapping), beside: _new.mapping).columns
  }

  /// Whether an owner has made hidden columns part of something that newer programs' rows must have: a unique index, or the
  /// key of partitions.
  private func _needsHidden() throws -> Bool {
    let hidden = _hidden.flatMap { table, columns in columns.map { (table, PostgreSQLNames.plain($0)) } }
    if hidden.isEmpty { return false }
    var parameters = PostgreSQLParameters()
    parameters.add(PostgreSQLArray(hidden.map(\.0)))
    parameters.add(PostgreSQLArray(hidden.map(\.1)))
    let found = try _connection.run(
      """
      SELECT 1 FROM unnest($1::text[], $2::text[]) AS h(t, c) \
      JOIN pg_catalog.pg_attribute a ON a.attrelid = h.t::regclass AND a.attname = h.c \
      WHERE EXISTS (SELECT 1 FROM pg_catalog.pg_index i WHERE i.indrelid = a.attrelid AND i.indisunique \
      AND a.attnum = ANY(i.indkey::int2[])) OR EXISTS (SELECT 1 FROM pg_catalog.pg_partitioned_table p \
      WHERE p.partrelid = a.attrelid AND a.attnum = ANY(p.partattrs::int2[])) LIMIT 1
      """, parameters, isRepeated: false)
    return found.rowCount > 0
  }

  /// Adds what is new. Waits for each table that gets a column, and holds back its readers meanwhile.
  ///
  /// - Parameter epoch: The epoch of the new version.
  /// - Returns: Indexes of large tables, left to be built beside the programs once the transaction has committed.
  func run(epoch: Int64) throws -> [PostgreSQLIndex] {
    var present: [String: Set<String>] = [:]
    for table in _live.flatMap(\.mapping.tables) {
      present[table.name, default: []].formUnion(table.columns.map(\.name))
    }
    let joins = Set(_live.flatMap(\.mapping.joins).map(\.name))
    var added: [TableMapping] = []
    for table in _new.mapping.tables {
      guard let there = present[table.name] else {
        added.append(table)
        try _execute(_new.statements(for: table) + _new.view(of: table))
        continue
      }
      try _alter(table, there)
    }
    for join in _new.mapping.joins where !joins.contains(join.name) {
      try _execute(_new.statements(for: join))
    }
    let known = Set(_live.flatMap(\.columnIndexes))
    let later = try PostgreSQLIndexBuilding.leftForLater(
      _new.columnIndexes.filter { !known.contains($0) && present[$0.table] != nil }, _connection)
    let (indexes, triggers) = (
      Set(_live.flatMap(\.indexes) + later.map(\.statement)), Set(_live.flatMap(\.triggers))
    )
    try _execute(_new.indexes.filter { !indexes.contains($0) })
    try _execute(_new.triggers.filter { !triggers.contains($0) })
    try _execute(
      PostgreSQLDeletionTriggers.statements(
        from: _old.mapping, to: _new.mapping, epoch: epoch, schema: _schemaName))
    try _grant(added, _new.mapping.joins.map(\.name).filter { !joins.contains($0) })
    return later
  }

  private func _execute(_ statements: [String]) throws {
    try _connection.execute(inOrder: statements)
  }

  // MARK: Columns

  /// Adds the columns that a table lacks, and has the server fill those that the version hides.
  private func _alter(_ table: TableMapping, _ present: Set<String>) throws {
    let defaults = _defaults(of: table, _new.mapping)
    let added = table.columns.indices.filter { !present.contains(table.columns[$0].name) }.map { index in
      let column = table.columns[index]
      let value = defaults[index].map { " DEFAULT \($0)" } ?? ""
      return "ADD COLUMN \(column.name) \(column.declaredType)\(value)"
    }
    let actions = added + _hiding(in: table)
    if actions.isEmpty { return }
    try _connection.execute("ALTER TABLE \(table.name) \(actions.joined(separator: ", "))")
    if added.isEmpty { return }
    let shown = _live.reduce(into: [String: String]()) { shown, schema in
      guard let former = schema.mapping.tables.first(where: { $0.name == table.name }) else { return }
      for column in schema.readableColumns(of: former) { shown[column.name] = column.expression }
    }
    let own = Set(table.columns.map(\.name))
    try _execute(
      _new.view(
        of: table, replacing: try _new.columns(ofViewOf: table, on: _connection),
        hidden: shown.filter { !own.contains($0.key) }))
  }

  /// Returns the actions by which rows of newer programs are those of older ones, too: with the defaults of the attributes
  /// that this version leaves out.
  private func _hiding(in table: TableMapping) -> [String] {
    guard let former = _old.mapping.tables.first(where: { $0.name == table.name }) else { return [] }
    let own = Set(table.columns.map(\.name))
    let defaults = _defaults(of: former, _old.mapping)
    return former.columns.indices.filter { !own.contains(former.columns[$0].name) }.flatMap { index in
      let name = former.columns[index].name
      return ["ALTER COLUMN \(name) DROP NOT NULL"]
        + (defaults[index].map { ["ALTER COLUMN \(name) SET DEFAULT \($0)"] } ?? [])
    }
  }

  /// The values of columns in rows without one, as literals.
  private func _defaults(of table: TableMapping, _ mapping: StoreMapping) -> [Int: String] {
    var result: [Int: String] = [:]
    func set(_ attribute: AttributeSchema?, _ column: Int) {
      guard let literal = attribute?.migrationDefault,
        let value = MigrationValue(literal, table.columns[column].content)
      else { return }
      result[column] = value.literal(in: table.columns[column])
    }
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
