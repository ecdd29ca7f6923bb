import CoreData
import CoreDataModelFiles
import CoreDataModelSchema
import CoreDataPostgreSQLBinding

/// Rewrites the tables of a schema for another version of the model, inside the caller's transaction. The
/// server copies the rows; no objects are created.
struct PostgreSQLRewriting {
  private let _connection: PostgreSQLConnection
  private let _schema: String
  private let _s: String
  private let _other: String
  private let _old: StoreMapping
  private let _new: StoreMapping
  private let _derivations: PostgreSQLDerivations

  /// - Parameter other: Name of a schema for the old tables, which must not exist.
  init(
    _ connection: PostgreSQLConnection, schema: String, beside other: String, from old: StoreMapping,
    to new: StoreMapping
  ) throws {
    _connection = connection
    _schema = schema
    _s = PostgreSQLNames.quoted(schema)
    _other = PostgreSQLNames.quoted(other)
    _old = old
    _new = new
    _derivations = try PostgreSQLDerivations(new.layout)
  }

  func run() throws {
    let traits = try PostgreSQLTableTraits(_schema, on: _connection)
    let largest = try _largestKeys()
    let plan = MigrationPlan(from: _old, to: _new, largestKeys: largest)
    let slices = plan.flows.map {
      MigrationProgress.slices(of: "\"id\"", largestKey: largest[$0.oldRoot] ?? 0)
    }
    let progress = MigrationProgress(steps: slices.reduce(0) { $0 + $1.count } + 2)
    try Self.dropTriggers(_connection, schema: _schema)
    try _connection.execute("DROP SCHEMA IF EXISTS \(_other) CASCADE")
    try _connection.execute("CREATE SCHEMA \(_other)")
    // Sequences, indexes and constraints move with their tables, which frees their names.
    for name in _old.tables.map(\.name) + _old.joins.map(\.name) {
      try _connection.execute("ALTER TABLE \(name) SET SCHEMA \(_other)")
    }
    let database = PostgreSQLMigrationDatabase(
      connection: _connection, awayTables: _old.tables.map { _away($0.name) },
      awayJoins: _old.joins.map { _away($0.name) })
    let schema = PostgreSQLSchema(_new, _derivations, schema: _schema)
    try _connection.execute(
      inOrder: schema.functions(PostgreSQLCaseRules(of: _connection)) + schema.tables)
    let rows = TableMigration(plan, in: database)
    for (flow, slices) in zip(plan.flows, slices) { try rows.moveRows(flow, slices, progress) }
    try rows.checkMandatoryValues()
    try rows.linkToOnes()
    try rows.fillJoins()
    try progress.advance()
    try _connection.execute(inOrder: schema.indexes)
    let triggers = PostgreSQLTriggers(_new, _derivations, schema: _schema)
    try _connection.execute(inOrder: triggers.refreshes + triggers.statements)
    try _setKeys(plan)
    try PostgreSQLHistoryMigration(_connection, _s, HistoryPlan(plan)).run()
    // Drops the views of the old tables too.
    try _connection.execute("DROP SCHEMA \(_other) CASCADE")
    try _connection.execute(inOrder: schema.views)
    try _apply(traits, plan, schema)
    try progress.advance()
  }

  /// Applies to the new tables the owners, rights and comments of the tables whose rows they have.
  private func _apply(
    _ traits: PostgreSQLTableTraits, _ plan: MigrationPlan, _ schema: PostgreSQLSchema
  ) throws {
    let former = PostgreSQLSchema(_old, try PostgreSQLDerivations(_old.layout), schema: _schema)
    var names: [String: String] = [:]
    for flow in plan.flows {
      guard let old = _old.tables.first(where: { $0.rootNumber == flow.oldRoot }),
        let new = _new.tables.first(where: { $0.rootNumber == flow.newRoot })
      else { continue }
      for (new, old) in [
        (new.name, old.name), (PostgreSQLKeys.sequence(of: new), PostgreSQLKeys.sequence(of: old)),
        (schema.viewName(of: new), former.viewName(of: old)),
      ] where names[schema.relation(new)] == nil {
        names[schema.relation(new)] = former.relation(old)
      }
    }
    try traits.apply(renamed: names, made: former.comments)
  }

  /// Returns the name of a table in the other schema.
  private func _away(_ name: String) -> String { _other + name.dropFirst(_s.count) }

  /// Drops the triggers of derived attributes and of older programs' deletions, with their functions.
  static func dropTriggers(_ connection: PostgreSQLConnection, schema: String) throws {
    var parameters = PostgreSQLParameters()
    parameters.add(schema)
    parameters.add(PostgreSQLDeletionTriggers.names)
    let found = try connection.run(
      """
      SELECT p.proname::text FROM \(PostgreSQLCatalog.functions) \
      WHERE p.proname LIKE '\\_derive\\_%' OR p.proname ~ $2::text
      """, parameters, isRepeated: false)
    for row in 0..<found.rowCount {
      let name = PostgreSQLNames.quoted(found.string(row, 0))
      try connection.execute("DROP FUNCTION \(PostgreSQLNames.quoted(schema)).\(name)() CASCADE")
    }
  }

  // MARK: Keys

  /// Returns the largest key ever allocated in the table of each old root, including keys in blocks that
  /// programs still hold.
  private func _largestKeys() throws -> [Int: Int64] {
    var result: [Int: Int64] = [:]
    for table in _old.tables {
      let sequence = PostgreSQLKeys.sequence(of: table)
      let found = try _connection.run(
        """
        SELECT greatest((SELECT coalesce(max(\(PostgreSQLKeys.countedPart)), 0) FROM \(table.name)), (SELECT CASE WHEN s.is_called \
        THEN s.last_value + (SELECT seqincrement FROM pg_catalog.pg_sequence \
        WHERE seqrelid = \(PostgreSQLNames.literal(sequence))::regclass) - 1 ELSE 0 END FROM \(sequence) s))
        """, isRepeated: false)
      result[table.rootNumber] = found.int64(0, 0)
    }
    return result
  }

  private func _setKeys(_ plan: MigrationPlan) throws {
    for table in _new.tables {
      let largest = plan.largestKey(ofRoot: table.rootNumber)
      guard largest > 0 else { continue }
      var parameters = PostgreSQLParameters()
      parameters.add(largest + 1)
      try _connection.run(
        "SELECT setval(\(PostgreSQLNames.literal(PostgreSQLKeys.sequence(of: table))), $1::int8, false)",
        parameters,
        isRepeated: false)
    }
  }
}
