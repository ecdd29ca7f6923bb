import CoreData
import CoreDataModelFiles
import CoreDataModelSchema
import CoreDataPostgreSQLBinding

/// Gives the tables of a schema the form of another version of the model, inside the caller's transaction.
///
/// Tables whose rows keep their values are altered, which takes moments, however many rows they have. The server copies the
/// others; no objects are created.
struct PostgreSQLRewriting {
  private let _connection: PostgreSQLConnection
  private let _schema: String
  private let _s: String
  private let _other: String
  private let _old: StoreMapping
  private let _new: StoreMapping
  private let _derivations: PostgreSQLDerivations
  private let _keepsTables: Bool

  /// - Parameters:
  ///   - other: Name of a schema for the old tables, which must not exist.
  ///   - keepsTables: Whether tables are altered where that is possible; false to make all anew.
  init(
    _ connection: PostgreSQLConnection, schema: String, beside other: String, from old: StoreMapping,
    to new: StoreMapping, keepsTables: Bool
  ) throws {
    _connection = connection
    _schema = schema
    _s = PostgreSQLNames.quoted(schema)
    _other = PostgreSQLNames.quoted(other)
    _old = old
    _new = new
    _derivations = try PostgreSQLDerivations(new.layout)
    _keepsTables = keepsTables
  }

  /// Whether no row is written, so that programs wait for moments only.
  var isBrief: Bool { _changes([:]).isBrief }

  /// Names of the tables whose rows are copied.
  var copiedTables: [String] { _changes([:]).copiedTables }

  private func _changes(_ largestKeys: [Int: Int64]) -> PostgreSQLTableChanges {
    PostgreSQLTableChanges(_connection, from: _old, to: _new, beside: _other, largestKeys, _keepsTables)
  }

  /// Gives the tables their new form.
  ///
  /// - Parameter hidden: What earlier versions have had, which is dropped.
  /// - Returns: Indexes of large tables, left to be built beside the programs once the transaction has committed.
  func run(dropping hidden: PostgreSQLHiddenParts) throws -> [PostgreSQLIndex] {
    let traits = try PostgreSQLTableTraits(_schema, on: _connection)
    let largest = try _largestKeys()
    let changes = _changes(largest)
    let plan = changes.plan
    let slices = plan.flows.map {
      changes.writes($0) ? MigrationProgress.slices(of: "\"id\"", largestKey: largest[$0.oldRoot] ?? 0) : []
    }
    let progress = MigrationProgress(steps: slices.reduce(0) { $0 + $1.count } + 2)
    let former = PostgreSQLSchema(_old, try PostgreSQLDerivations(_old.layout), schema: _schema)
    let schema = PostgreSQLSchema(_new, _derivations, schema: _schema)
    try Self.dropTriggers(_connection, schema: _schema)
    // Views name the columns that they had.
    for table in _old.tables {
      try _connection.execute("DROP VIEW IF EXISTS \(former.viewName(of: table)) CASCADE")
    }
    try _connection.execute(inOrder: hidden.removals + changes.before)
    try _connection.execute(
      inOrder: schema.functions(PostgreSQLCaseRules(of: _connection)) + changes.additions(schema))
    let rows = changes.rows
    for (flow, slices) in zip(plan.flows, slices) { try rows.moveRows(flow, slices, progress) }
    try rows.checkMandatoryValues()
    try rows.linkToOnes()
    try rows.fillJoins()
    // No table is altered, nor gets an index, while constraints of an owner wait for the commit to be checked.
    try _connection.execute("SET CONSTRAINTS ALL IMMEDIATE")
    try progress.advance()
    let later = try _index(schema, changes)
    try _refresh(changes)
    try _setKeys(changes)
    try PostgreSQLHistoryMigration(_connection, _s, HistoryPlan(plan)).run()
    try _connection.execute(inOrder: changes.after + schema.views)
    try _apply(traits, changes, former, schema)
    try progress.advance()
    return later
  }

  /// Creates the indexes that kept tables do not have, and drops those that would refuse what the new version allows.
  private func _index(
    _ schema: PostgreSQLSchema, _ changes: PostgreSQLTableChanges
  ) throws -> [PostgreSQLIndex] {
    let renamed = PostgreSQLSchema(changes.plan.old, try PostgreSQLDerivations(_old.layout), schema: _schema)
    let kept = changes.keptTables
    let present = renamed.columnIndexes.filter { kept.contains($0.table) }
    let wanted = Set(schema.columnIndexes)
    for index in present where index.isUnique && !wanted.contains(index) {
      try _connection.execute(inOrder: _removals(of: index))
    }
    let added = schema.columnIndexes.filter { !present.contains($0) }
    let later = try PostgreSQLIndexBuilding.leftForLater(
      added.filter { kept.contains($0.table) }, _connection)
    let texts = renamed.textIndexes(of: kept)
    try _connection.execute(
      inOrder: added.filter { !later.contains($0) }.map(\.statement)
        + schema.textIndexes.filter { !texts.contains($0) } + schema.comments.map(schema.statement))
    return later
  }

  /// Returns statements that drop the unique indexes on exactly these columns, which may belong to a constraint.
  private func _removals(of index: PostgreSQLIndex) throws -> [String] {
    var parameters = PostgreSQLParameters()
    parameters.add(index.table)
    parameters.add(PostgreSQLNames.list(index.terms.map(\.column)))
    let found = try _connection.run(
      """
      SELECT x.relname::text, k.conname::text FROM pg_catalog.pg_index i \
      JOIN pg_catalog.pg_class x ON x.oid = i.indexrelid \
      LEFT JOIN pg_catalog.pg_constraint k ON k.conindid = x.oid AND k.contype IN ('u', 'p') \
      WHERE i.indrelid = $1::text::regclass AND i.indisunique AND NOT i.indisprimary AND i.indpred IS NULL \
      AND i.indexprs IS NULL AND (SELECT pg_catalog.array_agg(a.attname::text ORDER BY y.n) FROM \
      pg_catalog.unnest(i.indkey::int2[]) WITH ORDINALITY AS y(x, n) \
      JOIN pg_catalog.pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = y.x) = $2::text::text[]
      """, parameters, isRepeated: false)
    return (0..<found.rowCount).map { row in
      found.isNull(row, 1)
        ? "DROP INDEX \(_s).\(PostgreSQLNames.quoted(found.string(row, 0)))"
        : "ALTER TABLE \(index.table) DROP CONSTRAINT \(PostgreSQLNames.quoted(found.string(row, 1)))"
    }
  }

  /// Creates the triggers of derived attributes, and computes those that are new, or all once rows were copied.
  private func _refresh(_ changes: PostgreSQLTableChanges) throws {
    let triggers = PostgreSQLTriggers(_new, _derivations, schema: _schema)
    var known: Set<String> = []
    if changes.keepsAll {
      known = Set(
        PostgreSQLTriggers(changes.plan.old, try PostgreSQLDerivations(_old.layout), schema: _schema)
          .refreshes)
    }
    try _connection.execute(
      inOrder: triggers.refreshes.filter { !known.contains($0) } + triggers.statements)
  }

  /// Applies to the new tables the owners, rights and comments of the tables whose rows they have.
  private func _apply(
    _ traits: PostgreSQLTableTraits, _ changes: PostgreSQLTableChanges, _ former: PostgreSQLSchema,
    _ schema: PostgreSQLSchema
  ) throws {
    var names: [String: String] = [:]
    var kept = Set(changes.keptTables.map(schema.relation))
    for flow in changes.plan.flows {
      guard let old = _old.tables.first(where: { $0.rootNumber == flow.oldRoot }),
        let new = _new.tables.first(where: { $0.rootNumber == flow.newRoot })
      else { continue }
      if changes.keptTables.contains(new.name) {
        kept.insert(schema.relation(PostgreSQLKeys.sequence(of: new)))
      }
      for (new, old) in [
        (new.name, old.name), (PostgreSQLKeys.sequence(of: new), PostgreSQLKeys.sequence(of: old)),
        (schema.viewName(of: new), former.viewName(of: old)),
      ] where names[schema.relation(new)] == nil {
        names[schema.relation(new)] = former.relation(old)
      }
    }
    try traits.apply(renamed: names, kept: kept, made: former.comments)
  }

  /// Drops the triggers of derived attributes and of other versions' deletions, with their functions.
  static func dropTriggers(_ connection: PostgreSQLConnection, schema: String) throws {
    try dropTriggers(connection, schema: schema, named: "^_derive_|\(PostgreSQLDeletionTriggers.names)")
  }

  /// Drops triggers with their functions.
  ///
  /// - Parameter expression: A regular expression of their names.
  static func dropTriggers(
    _ connection: PostgreSQLConnection, schema: String, named expression: String
  ) throws {
    var parameters = PostgreSQLParameters()
    parameters.add(schema)
    parameters.add(expression)
    let found = try connection.run(
      """
      SELECT p.proname::text FROM \(PostgreSQLCatalog.functions) WHERE p.proname ~ $2::text
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
        SELECT greatest((SELECT coalesce(pg_catalog.max(\(PostgreSQLKeys.countedPart)), 0) FROM \(table.name)), (SELECT CASE WHEN s.is_called \
        THEN s.last_value + (SELECT seqincrement FROM pg_catalog.pg_sequence \
        WHERE seqrelid = \(PostgreSQLNames.literal(sequence))::regclass) - 1 ELSE 0 END FROM \(sequence) s))
        """, isRepeated: false)
      result[table.rootNumber] = found.int64(0, 0)
    }
    return result
  }

  /// Sets the sequences of tables that were made anew.
  private func _setKeys(_ changes: PostgreSQLTableChanges) throws {
    for table in _new.tables where !changes.keptTables.contains(table.name) {
      let largest = changes.plan.largestKey(ofRoot: table.rootNumber)
      guard largest > 0 else { continue }
      var parameters = PostgreSQLParameters()
      parameters.add(largest + 1)
      try _connection.run(
        "SELECT pg_catalog.setval(\(PostgreSQLNames.literal(PostgreSQLKeys.sequence(of: table))), $1::int8, false)",
        parameters,
        isRepeated: false)
    }
  }
}
