import CoreData
import CoreDataModelFiles
import CoreDataModelSchema
import CoreDataPostgreSQLBinding
import Foundation

/// What operators ask of a store: its versions and size, what a migration would do, and the deletion of what is
/// old. For `coredata postgres`.
package struct PostgreSQLAdministration {
  private let _url: URL
  private let _address: PostgreSQLAddress

  /// - Throws: A Cocoa error for a URL that is not that of a store.
  package init(_ url: URL) throws {
    _url = url
    _address = try StoreErrors.translating { try PostgreSQLAddress(url) }
  }

  var schema: String { _address.schema }

  /// Runs `body` on a connection of its own.
  func connected<Result>(_ body: (PostgreSQLConnection) throws -> Result) throws -> Result {
    try _translating { try body(try PostgreSQLConnection(_address.settings, prepares: false)) }
  }

  func migrating(_ connection: PostgreSQLConnection) throws -> PostgreSQLMigratingStore {
    PostgreSQLMigratingStore(
      url: _url, address: _address, connection: connection,
      metadata: try PostgreSQLMetadata.read(connection, schema: _address.schema), options: nil)
  }

  // MARK: Status

  /// A version of the model that a store has had.
  package struct Version {
    package let epoch: Int64
    package let began: String
    package let role: String
    package let mayWrite: Bool
    package let mayRead: Bool
    /// Connections of programs with the version, without those through a pooler.
    package let connectionCount: Int
  }

  /// A store as it is now.
  package struct Status {
    /// The versions of its model, the newest first; none for a store of an older package.
    package let versions: [Version]
    /// Bytes of all tables with their indexes.
    package let size: Int64
    package let receiptCount: Int64
    package let historyCount: Int64
    /// Indexes that serve no query: being built now, or left over from a build that has ended early.
    package let unfinishedIndexes: [UnfinishedIndex]
    /// What the store has for programs with earlier versions only, as `Author` and `Book.pages`.
    package let hidden: [String]
  }

  /// An index that the server does not use.
  package struct UnfinishedIndex {
    package let name: String
    package let table: String
    package let isBeingBuilt: Bool
  }

  /// Reads the state of the store.
  ///
  /// - Throws: A Cocoa error.
  package func status() throws -> Status {
    try connected { connection in
      _ = try PostgreSQLMetadata.read(connection, schema: _address.schema)
      let s = PostgreSQLNames.quoted(_address.schema)
      var versions: [Version] = []
      if try PostgreSQLEpochs.areThere(connection, schema: _address.schema) {
        let epochs = try PostgreSQLEpochs(connection, schema: _address.schema)
        let found = try connection.run(
          """
          SELECT "epoch", pg_catalog.to_char("applied", 'YYYY-MM-DD HH24:MI:SS OF'), "by" \
          FROM \(PostgreSQLEpochs.models(_address.schema)) ORDER BY "epoch" DESC
          """, isRepeated: false)
        let sessions = try PostgreSQLPresence.sessions(connection, schema: _address.schema)
        versions = (0..<found.rowCount).map { row in
          let epoch = found.int64(row, 0)
          return Version(
            epoch: epoch, began: found.string(row, 1), role: found.string(row, 2),
            mayWrite: epoch >= epochs.writesFrom, mayRead: epoch >= epochs.readsFrom,
            connectionCount: sessions.count { $0.epoch == epoch })
        }
      }
      var parameters = PostgreSQLParameters()
      parameters.add(_address.schema)
      let size = try connection.run(
        """
        SELECT coalesce(pg_catalog.sum(pg_catalog.pg_total_relation_size(c.oid)), 0)::int8 FROM \(PostgreSQLCatalog.relations) \
        WHERE c.relkind = 'r'
        """, parameters, isRepeated: false)
      let counts = try connection.run(
        "SELECT (SELECT pg_catalog.count(*) FROM \(s).\"_receipt\"), (SELECT pg_catalog.count(*) FROM \(s).\"_history\")",
        isRepeated: false)
      return Status(
        versions: versions, size: size.int64(0, 0), receiptCount: counts.int64(0, 0),
        historyCount: counts.int64(0, 1),
        unfinishedIndexes: try _unfinishedIndexes(connection), hidden: try _hidden(connection))
    }
  }

  private func _hidden(_ connection: PostgreSQLConnection) throws -> [String] {
    let store = try migrating(connection)
    guard let kept = try store.keptSchema() else { return [] }
    return try store.hidden(beside: try ModelLayout(kept))
  }

  private func _unfinishedIndexes(_ connection: PostgreSQLConnection) throws -> [UnfinishedIndex] {
    var parameters = PostgreSQLParameters()
    parameters.add(_address.schema)
    let found = try connection.run(
      """
      SELECT x.relname::text, c.relname::text, EXISTS (SELECT 1 FROM pg_catalog.pg_stat_progress_create_index p \
      WHERE p.index_relid = x.oid) FROM \(PostgreSQLCatalog.relations) \
      JOIN pg_catalog.pg_index i ON i.indrelid = c.oid JOIN pg_catalog.pg_class x ON x.oid = i.indexrelid \
      WHERE NOT i.indisvalid ORDER BY 1
      """, parameters, isRepeated: false)
    return (0..<found.rowCount).map { row in
      UnfinishedIndex(
        name: found.string(row, 0), table: found.string(row, 1), isBeingBuilt: found.int64(row, 2) != 0)
    }
  }

  // MARK: Checking

  /// Looks for what is wrong with the store: parts of its schema that are missing, and rows that no save leaves behind.
  ///
  /// - Parameter begin: Called before each table is read, with the fraction of the tables that have been read, and its name.
  /// - Returns: A sentence for each kind of fault; none for a store in order.
  /// - Throws: A Cocoa error.
  package func check(_ begin: (Double, String) -> Void) throws -> [String] {
    try connected { connection in
      let schema = _address.schema
      guard let kept = try migrating(connection).keptSchema() else {
        return ["the table '_model_cache' holds no model that can be read"]
      }
      let layout = try ModelLayout(kept)
      let types = try PostgreSQLTypes(connection, schema: schema) ?? PostgreSQLTypes(layout)
      let mapping = try PostgreSQLMapping.mapping(
        for: layout, schema: schema, numbers: types.numbers(for: layout, schema: schema))
      let expected = PostgreSQLSchema(mapping, try PostgreSQLDerivations(layout), schema: schema)
      let missing = try PostgreSQLSchemaCheck(expected, schema: schema, on: connection).missing(
        isReadOnly: false)
      // The rows of tables that are not as expected cannot be asked for.
      if !missing.isEmpty { return missing }
      var texts = try connection.transaction {
        // One state of all tables; writers do not wait.
        try connection.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
        return try PostgreSQLStoreCheck(mapping, on: connection).findings(begin).map { finding in
          let keys = finding.keys.map { "\($0)" }.joined(separator: ", ")
          return "\(finding.text): \(finding.count) \(finding.count == 1 ? "row" : "rows"), "
            + (finding.count > Int64(finding.keys.count) ? "among them \(keys)" : keys)
        }
      }
      texts += try _unfinishedIndexes(connection).filter { !$0.isBeingBuilt }.map {
        "the index '\($0.name)' of \($0.table) is not finished"
      }
      return texts
    }
  }

  // MARK: Migrating

  /// What a migration of the store to a version of its model would do.
  package enum Outlook {
    /// The store has the version, or has had it, and it may still write.
    case nothing
    /// The store has had the version, which may no longer write.
    case outdated
    /// Adds tables and columns, and hides these entities and properties; programs with the present version go on.
    case expansion(hides: [String])
    /// Alters tables and copies these, for this reason; programs with earlier versions can no longer write.
    case barrier(reason: String, copied: [String])
    /// Is impossible or loses data without a mapping model, a stage or the present version among the program's models.
    case refused([SchemaChange])
  }

  /// Compares the store's version of the model with another one, without changing anything.
  ///
  /// - Throws: A Cocoa error.
  package func outlook(of model: NSManagedObjectModel) throws -> Outlook {
    let frozen = try model.frozen()
    return try connected { connection in
      let store = try migrating(connection)
      let schema = _address.schema
      if try PostgreSQLEpochs.areThere(connection, schema: schema),
        let known = try PostgreSQLEpochs.number(
          of: PostgreSQLEpochs.digest(of: frozen), connection, schema: schema)
      {
        return known >= (try PostgreSQLEpochs(connection, schema: schema).writesFrom) ? .nothing : .outdated
      }
      if model.isConfiguration(withName: nil, compatibleWithStoreMetadata: store.metadata) { return .nothing }
      guard let kept = try store.keptSchema() else {
        throw PostgreSQLStoreError.noStore(
          schema: schema, reason: "its table _model_cache holds no model that can be read")
      }
      let changes = SchemaDiff(from: kept, to: frozen.layout.schema).changes
      let blocked = changes.filter { $0.verdict == .blocked }
      if !blocked.isEmpty { return .refused(blocked) }
      if try store.keepsWhatIsLeftOut(from: kept, to: frozen) {
        return .expansion(hides: SchemaExpansion.removals(from: kept, to: frozen.layout.schema))
      }
      let lost = changes.filter { $0.verdict == .loses }
      if !lost.isEmpty { return .refused(lost) }
      let reason =
        try SchemaExpansion.obstacle(from: kept, to: frozen.layout.schema)
        ?? PostgreSQLEarlierVersions(connection, schema: schema).obstacle(to: frozen.layout.schema)
        ?? "columns of the tables are needed under other names"
      return .barrier(reason: reason, copied: try store.copiedTables(from: kept, to: frozen))
    }
  }

  /// Migrates the store as a program does that opens it with the model; what the version leaves out may be hidden.
  ///
  /// - Throws: A Cocoa error.
  package func migrate(to model: NSManagedObjectModel) throws {
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    let store = try coordinator.addPersistentStore(
      ofType: NSPostgreSQLStoreType, configurationName: nil, at: _url,
      options: [
        NSMigratePersistentStoresAutomaticallyOption: true, NSInferMappingModelAutomaticallyOption: true,
        StoreOptions.lossFromKeptModel: true,
      ])
    try coordinator.remove(store)
  }

  // MARK: Indexes

  /// Returns the indexes on columns that a version of the model asks for and the store has not, or has not finished.
  ///
  /// - Parameter model: The store's version.
  /// - Returns: Their tables and columns.
  /// - Throws: A Cocoa error.
  package func missingIndexes(of model: NSManagedObjectModel) throws -> [String] {
    let indexes = try _columnIndexes(of: model)
    return try _translating {
      try PostgreSQLIndexBuilding(_address).missing(indexes).map(\.name)
    }
  }

  /// Builds those indexes, one after the other, while programs read and write. Takes as long as the tables are large and
  /// as the oldest transaction of the database lasts.
  ///
  /// - Parameters:
  ///   - model: The store's version.
  ///   - begin: Called before each, with table and columns.
  /// - Throws: A Cocoa error; the indexes before the one that failed are built.
  package func buildMissingIndexes(
    of model: NSManagedObjectModel, _ begin: (String) throws -> Void
  ) throws {
    let indexes = try _columnIndexes(of: model)
    try _translating {
      try PostgreSQLIndexBuilding(_address).build(indexes, waits: true) {
        try begin($0.name)
      }
    }
  }

  /// The indexes that do not restrict what may be saved.
  private func _columnIndexes(of model: NSManagedObjectModel) throws -> [PostgreSQLIndex] {
    let layout = try model.frozen().layout
    return try _translating {
      let mapping = try PostgreSQLMapping.mapping(for: layout, schema: _address.schema)
      return PostgreSQLSchema(mapping, try PostgreSQLDerivations(layout), schema: _address.schema)
        .columnIndexes.filter { !$0.isUnique }
    }
  }

  private func _translating<Result>(_ body: () throws -> Result) throws -> Result {
    try StoreErrors.translating(url: _address.url) { try PostgreSQLStoreError.translating(body) }
  }

  // MARK: Tidying

  /// Deletes the receipts that are older than a day, in portions.
  ///
  /// - Returns: Their number.
  /// - Throws: A Cocoa error.
  package func deleteOldReceipts() throws -> Int {
    try connected { connection in
      // Fails for a schema that is no store.
      _ = try PostgreSQLMetadata.read(connection, schema: _address.schema)
      var count = 0
      while true {
        let deleted = try PostgreSQLReceiptPruning.delete(on: connection, schema: _address.schema)
        if deleted == 0 { return count }
        count += deleted
      }
    }
  }

  /// Deletes the transactions of the history that are older than some days, in portions, so that no lock lasts.
  ///
  /// - Returns: Their number.
  /// - Throws: A Cocoa error.
  package func deleteHistory(olderThan days: Double) throws -> Int {
    try connected { connection in
      let table = "\(PostgreSQLNames.quoted(_address.schema)).\"_history\""
      var parameters = PostgreSQLParameters()
      parameters.add(Date().timeIntervalSinceReferenceDate - days * 86_400)
      var count = 0
      while true {
        let deleted = try connection.run(
          """
          DELETE FROM \(table) WHERE "number" IN (\
          SELECT "number" FROM \(table) WHERE "time" < $1::float8 ORDER BY "number" LIMIT 1000)
          """, parameters, isRepeated: false
        ).affectedCount
        if deleted == 0 { return count }
        count += deleted
      }
    }
  }
}
