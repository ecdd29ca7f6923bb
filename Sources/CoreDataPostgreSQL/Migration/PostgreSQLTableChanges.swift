import CoreData
import CoreDataModelSchema
import CoreDataPostgreSQLBinding

/// What a migration does with each table of a store: it alters those whose rows keep their values, moves the others to another
/// schema while they are copied, and drops those that nothing takes over.
struct PostgreSQLTableChanges {
  /// From the old tables, with the names that those have once `before` has run.
  let plan: MigrationPlan
  let rows: TableMigration
  private let _other: String
  private let _renaming: PostgreSQLRenaming
  /// Numbers of the old tables and join tables that are copied, and of those that are dropped.
  private var _copied: (tables: Set<Int>, joins: Set<Int>) = ([], [])
  private var _dropped: (tables: Set<Int>, joins: Set<Int>) = ([], [])

  /// - Parameters:
  ///   - other: Quoted name of a schema for the tables that are copied.
  ///   - largestKeys: As `MigrationPlan` takes them.
  ///   - keepsTables: Whether tables are altered where that is possible.
  init(
    _ connection: PostgreSQLConnection, from old: StoreMapping, to new: StoreMapping, beside other: String,
    _ largestKeys: [Int: Int64], _ keepsTables: Bool
  ) {
    _other = other
    let plain = PostgreSQLMigrationDatabase(
      connection: connection, awayTables: old.tables.map(\.name), awayJoins: old.joins.map(\.name))
    let former = MigrationPlan(from: old, to: new, largestKeys: largestKeys)
    _renaming = PostgreSQLRenaming(keepsTables ? former : nil, of: old, in: plain)
    let renamed = _renaming.mapping
    plan = MigrationPlan(from: renamed, to: new, largestKeys: largestKeys)
    // Sequences, indexes and constraints move with their tables, which frees their names.
    func away(_ name: String) -> String {
      "\(other).\(PostgreSQLNames.quoted(PostgreSQLNames.parts(name).name))"
    }
    rows = TableMigration(
      plan,
      in: PostgreSQLMigrationDatabase(
        connection: connection, awayTables: renamed.tables.map { away($0.name) },
        awayJoins: renamed.joins.map { away($0.name) }), keepsTables: keepsTables)
    let sources = Set(plan.flows.map(\.oldRoot))
    for (number, table) in renamed.tables.enumerated() where !rows.kept.keeps(root: table.rootNumber) {
      if sources.contains(table.rootNumber) {
        _copied.tables.insert(number)
      } else {
        _dropped.tables.insert(number)
      }
    }
    let links = plan.sourceJoins
    for number in renamed.joins.indices where !rows.kept.keeps(join: number) {
      if links.contains(number) { _copied.joins.insert(number) } else { _dropped.joins.insert(number) }
    }
  }

  /// Whether every table with rows of the new version is an old one.
  var keepsAll: Bool { _copied.tables.isEmpty && _copied.joins.isEmpty }

  /// Names of the tables whose rows are copied, without the schema.
  var copiedTables: [String] {
    (_copied.tables.map { plan.old.tables[$0].name } + _copied.joins.map { plan.old.joins[$0].name })
      .map { PostgreSQLNames.parts($0).name }.sorted()
  }

  /// Whether no row is written.
  var isBrief: Bool { keepsAll && !plan.flows.contains(where: writes) }

  /// Whether the rows of a flow are copied, or get values one by one.
  func writes(_ flow: MigrationPlan.Flow) -> Bool { rows.writesRows(flow) }

  /// Quoted names of the new tables that are old ones.
  var keptTables: Set<String> {
    Set(plan.old.tables.filter { rows.kept.keeps(root: $0.rootNumber) }.map(\.name))
  }

  // MARK: Statements

  /// Statements that rename, move and drop tables.
  var before: [String] {
    var statements = _dropped.joins.sorted().map { "DROP TABLE \(plan.old.joins[$0].name) CASCADE" }
    statements += _dropped.tables.sorted().map { "DROP TABLE \(plan.old.tables[$0].name) CASCADE" }
    statements = _renaming.statements + statements
    // What a killed program has left.
    statements.append("DROP SCHEMA IF EXISTS \(_other) CASCADE")
    guard !keepsAll else { return statements }
    statements.append("CREATE SCHEMA \(_other)")
    let names =
      _copied.tables.sorted().map { plan.old.tables[$0].name }
      + _copied.joins.sorted().map { plan.old.joins[$0].name }
    return statements + names.map { "ALTER TABLE \($0) SET SCHEMA \(_other)" }
  }

  /// Returns statements that create the new tables, and the columns that kept tables lack.
  func additions(_ schema: PostgreSQLSchema) -> [String] {
    var statements: [String] = []
    for flow in plan.flows {
      guard let additions = rows.kept.additions(toRoot: flow.oldRoot), !additions.isEmpty else { continue }
      let table = plan.new.table(of: flow.newRoot).name
      func alter(_ action: (KeptTables.Addition) -> String?) {
        let actions = additions.compactMap(action)
        if !actions.isEmpty { statements.append("ALTER TABLE \(table) \(actions.joined(separator: ", "))") }
      }
      alter { addition in
        let value = addition.constant.map { " DEFAULT \($0.literal(in: addition.column))" } ?? ""
        return "ADD COLUMN \(addition.column.name) \(addition.column.declaredType)\(value)"
      }
      // The default was for the rows that are there.
      alter { $0.constant == nil ? nil : "ALTER COLUMN \($0.column.name) DROP DEFAULT" }
    }
    let kept = keptTables
    for table in plan.new.tables where !kept.contains(table.name) {
      statements += schema.statements(for: table)
    }
    for (number, join) in plan.new.joins.enumerated() where !rows.kept.keeps(newJoin: number) {
      statements += schema.statements(for: join)
    }
    return statements
  }

  /// Statements that drop the columns of removed properties, with what depends on them, and the tables that were copied.
  var after: [String] {
    var statements: [String] = []
    for flow in plan.flows where rows.kept.keeps(root: flow.oldRoot) {
      let table = plan.new.table(of: flow.newRoot)
      let wanted = Set(table.columns.map(\.name))
      let actions = plan.old.table(of: flow.oldRoot).columns.filter { !wanted.contains($0.name) }
        .map { "DROP COLUMN \($0.name) CASCADE" }
      if !actions.isEmpty {
        statements.append("ALTER TABLE \(table.name) \(actions.joined(separator: ", "))")
      }
    }
    return keepsAll ? statements : statements + ["DROP SCHEMA \(_other) CASCADE"]
  }
}
