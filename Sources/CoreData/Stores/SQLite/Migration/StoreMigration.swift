import CoreDataModelSchema
import CoreDataSQLiteBinding

/// Rewrites a store's tables for another version of its model, as far as the mapping can be inferred.
///
/// Runs inside the caller's transaction: the store afterwards either has the new version or is unchanged.
/// SQLite copies the rows, unless the table only gets more columns; no objects are created.
struct StoreMigration {
  let connection: Connection
  let plan: MigrationPlan
  /// The directory of external values.
  let externalData: ExternalDataDirectory
  /// The largest key ever assigned in the table of each old root.
  private let _largestKeys: [Int: Int64]
  private let _rows: TableMigration
  private let _path: String

  var old: StoreMapping { plan.old }
  var new: StoreMapping { plan.new }

  /// - Parameters:
  ///   - connection: A connection to the store, in a transaction.
  ///   - old: The mapping of the existing tables.
  ///   - new: The mapping of the new tables.
  ///   - path: Path of the store's file.
  init(_ connection: Connection, at path: String, from old: StoreMapping, to new: StoreMapping) throws {
    self.connection = connection
    _path = path
    externalData = ExternalDataDirectory(storePath: path)
    var largest: [Int: Int64] = [:]
    for table in old.tables {
      let stored = Int64(old.numbers.stored(for: table.rootNumber))
      let recorded = try connection.firstValue(
        "SELECT Z_MAX FROM Z_PRIMARYKEY WHERE Z_ENT = ?", [.int(stored)])
      let present = try connection.firstValue("SELECT MAX(Z_PK) FROM \(table.name)")
      largest[table.rootNumber] = max(Self._int(recorded), Self._int(present))
    }
    _largestKeys = largest
    plan = MigrationPlan(from: old, to: new, largestKeys: largest)
    _rows = TableMigration(plan, in: SQLiteMigrationDatabase(connection: connection), keepsTables: true)
  }

  private static func _int(_ value: Binding?) -> Int64 {
    if case .int(let number)? = value { number } else { 0 }
  }

  /// Migrates the tables and reports to `Progress.current()`.
  ///
  /// - Throws: `SQLiteError`, with a constraint code if objects violate a new uniqueness constraint;
  ///   `MissingValuesError`; `UnsupportedModelError`; `CocoaError.userCancelled`.
  func run() throws {
    let slices = plan.flows.map {
      MigrationProgress.slices(of: _database.keyColumn, largestKey: _largestKeys[$0.oldRoot] ?? 0)
    }
    let progress = MigrationProgress(steps: slices.reduce(0) { $0 + $1.count } + 1 + new.tables.count)
    let writer = SchemaWriter(new)
    let indexes = try new.tables.map { try writer.indexes(of: $0) }
    let spatial = try _spatialIndexes(writer)
    let keptIndexes = try _dropIndexesAndTriggers(except: Set(indexes.joined()))
    try _makeTables(writer)
    for (flow, slices) in zip(plan.flows, slices) { try _rows.moveRows(flow, slices, progress) }
    try readExternalValues()
    try _rows.checkMandatoryValues()
    try _rows.linkToOnes()
    try _rows.fillJoins()
    try progress.advance()
    for (number, table) in old.tables.enumerated() where !_rows.kept.keeps(root: table.rootNumber) {
      try connection.execute("DROP TABLE \(_database.away(table: number))")
    }
    for number in old.joins.indices where !_rows.kept.keeps(join: number) {
      try connection.execute("DROP TABLE \(_database.away(join: number))")
    }
    for (table, indexes) in zip(new.tables, indexes) {
      for statement in indexes where !keptIndexes.contains(statement) { try connection.execute(statement) }
      // Last: copying must not trigger updates of derived attributes.
      for statement in try DerivedTriggers(new).statements(of: table) { try connection.execute(statement) }
      try progress.advance()
    }
    for index in spatial { try index.make(on: connection, fills: true) }
    try _writeKeys()
    let history = try HistoryMigration(connection, at: _path, plan)
    // Stores of old Core Data versions have none.
    try connection.execute("CREATE TABLE IF NOT EXISTS \(StoreVocabulary.modelCacheTable) (Z_CONTENT BLOB)")
    try ModelCache.write(new.layout.schema, to: connection)
    try history?.run()
  }

  private var _database: SQLiteMigrationDatabase { SQLiteMigrationDatabase(connection: connection) }

  /// Returns the name of the old table with an entity's rows, which is a temporary one unless the table is kept.
  func away(of entity: Int) -> String { _rows.away(of: entity) }

  /// Renames the old tables and creates the new ones, or adds columns to tables that are kept.
  private func _makeTables(_ writer: SchemaWriter) throws {
    let kept = _rows.kept
    for (number, table) in old.tables.enumerated() {
      if let additions = kept.additions(toRoot: table.rootNumber) {
        for column in additions.map(\.column) {
          try connection.execute("ALTER TABLE \(table.name) ADD COLUMN \(column.name) \(column.declaredType)")
        }
      } else {
        try connection.execute("ALTER TABLE \(table.name) RENAME TO \(_database.away(table: number))")
      }
    }
    for (number, join) in old.joins.enumerated() where !kept.keeps(join: number) {
      try connection.execute("ALTER TABLE \(join.name) RENAME TO \(_database.away(join: number))")
    }
    let keptRoots = Set(plan.flows.filter { kept.keeps(root: $0.oldRoot) }.map(\.newRoot))
    for table in new.tables where !keptRoots.contains(table.rootNumber) {
      try connection.execute(writer.createTable(table))
    }
    for (number, join) in new.joins.enumerated() where !kept.keeps(newJoin: number) {
      try connection.execute(writer.createJoinTable(join))
    }
  }

  /// Drops the R-tree indexes that triggers maintain, and returns those to be made: the new model's, and the
  /// former ones whose columns remain.
  private func _spatialIndexes(_ writer: SchemaWriter) throws -> [SpatialIndex] {
    let present = try SpatialIndex.drop(on: connection)
    // One that no trigger maintains stays as it is.
    let unmaintained = try ForeignSchema(connection).spatialTables
    var wanted = try new.tables.flatMap(writer.spatialIndexes).filter { !unmaintained.contains($0.name) }
    for index in present where !wanted.contains(where: { $0.name == index.name }) {
      let table = new.tables.first { StoreVocabulary.plain($0.name) == index.table }
      let columns = Set(table?.columns.map { StoreVocabulary.plain($0.name) } ?? [])
      if columns.isSuperset(of: index.columns) { wanted.append(index) }
    }
    return try SpatialIndex.makeable(wanted, on: connection)
  }

  /// Drops the indexes and triggers of the old tables, whose names would conflict with the new ones.
  ///
  /// - Parameter wanted: The statements of the new indexes.
  /// - Returns: Those of `wanted` that already exist on kept tables.
  private func _dropIndexesAndTriggers(except wanted: Set<String>) throws -> Set<String> {
    let kept = _rows.kept
    let staying = Set(
      (old.tables.filter { kept.keeps(root: $0.rootNumber) }.map(\.name)
        + old.joins.indices.filter { kept.keeps(join: $0) }.map { old.joins[$0].name })
        .map(StoreVocabulary.plain))
    var present: Set<String> = []
    let tables = Set((old.tables.map(\.name) + old.joins.map(\.name)).map(StoreVocabulary.plain))
    var found: [(type: String, name: String)] = []
    try connection.query(
      "SELECT type, name, tbl_name, sql FROM sqlite_master WHERE type IN ('index', 'trigger') AND sql IS NOT NULL"
    ) { row in
      let (type, name, table) = (row.string(0), row.string(1), row.string(2))
      if type == "index", staying.contains(table), wanted.contains(row.string(3)) {
        present.insert(row.string(3))
        return
      }
      // A trigger on one table may refer to another.
      if type == "trigger" ? name.hasPrefix("Z_") || tables.contains(table) : tables.contains(table) {
        found.append((type, name))
      }
    }
    for item in found {
      let name = "\"" + item.name.replacing("\"", with: "\"\"") + "\""
      try connection.execute("DROP \(item.type == "index" ? "INDEX" : "TRIGGER") \(name)")
    }
    return present
  }

  private func _writeKeys() throws {
    let names = old.layout.layouts.map { (old.numbers.stored(for: $0.entityNumber), $0.entityName) }
    for (number, name) in names {
      try connection.query(
        "DELETE FROM Z_PRIMARYKEY WHERE Z_ENT = ? AND Z_NAME = ?", [.int(Int64(number)), .text(name)])
    }
    for layout in new.layout.layouts {
      let isRoot = layout.parentNumber == nil
      try connection.query(
        "INSERT INTO Z_PRIMARYKEY (Z_ENT, Z_NAME, Z_SUPER, Z_MAX) VALUES (?, ?, ?, ?)",
        [
          .int(Int64(new.numbers.stored(for: layout.entityNumber))), .text(layout.entityName),
          .int(Int64(layout.parentNumber.map { new.numbers.stored(for: $0) } ?? 0)),
          .int(isRoot ? plan.largestKey(ofRoot: layout.entityNumber) : 0),
        ])
    }
  }
}
