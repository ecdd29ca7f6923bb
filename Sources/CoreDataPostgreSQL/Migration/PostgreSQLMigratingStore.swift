import CoreData
import CoreDataModelFiles
import CoreDataModelSchema
import CoreDataPostgreSQLBinding
import Foundation

/// A PostgreSQL store being migrated: in one transaction, by one process at a time.
struct PostgreSQLMigratingStore: MigratingStore {
  /// As given by the program, for the connections that a migration opens.
  let url: URL
  let address: PostgreSQLAddress
  let connection: PostgreSQLConnection
  let metadata: [String: Any]
  let options: [AnyHashable: Any]?

  var type: String { PostgreSQLStoreKind.typeName }
  var place: String { address.url.absoluteString }
  var isServed: Bool { true }

  private var _s: String { PostgreSQLNames.quoted(address.schema) }

  /// The temporary schema that a migration creates beside this one.
  private var _beside: String {
    var name = address.schema
    while name.utf8.count > PostgreSQLNames.maximumLength - 10 { name.removeLast() }
    return name + "_migration"
  }

  func keptSchema() throws -> ModelSchema? {
    let found = try connection.run("SELECT \"content\" FROM \(_s).\"_model_cache\"", isRepeated: false)
    guard found.rowCount == 1 else { return nil }
    return try? CompiledModelReader.read(Data(found.bytes(0, 0)), path: place)
  }

  func metadataIfUnchanged() throws -> [String: Any]? {
    let present = try PostgreSQLMetadata.read(connection, schema: address.schema)
    return Self._hashes(present) == Self._hashes(metadata) ? present : nil
  }

  private static func _hashes(_ metadata: [String: Any]) -> [String: Data]? {
    metadata[NSStoreModelVersionHashesKey] as? [String: Data]
  }

  /// Seconds for which a migration tries to get its locks: 30, or those that the store's calls may take, if they are fewer.
  private var _patience: Double {
    let seconds = (options?[NSPostgreSQLDeadlineOption] as? NSNumber)?.doubleValue ?? 0
    return seconds > 0 ? min(30, seconds) : 30
  }

  /// Runs `body` in a transaction during which no other process migrates or creates the store.
  ///
  /// - Parameter isQuick: Whether the transaction needs locks only for a moment. It then gives up soon while
  ///   others hold them, since all other statements queue behind a waiting migration, and tries again.
  private func _alone(isQuick: Bool = false, _ body: () throws -> Void) throws {
    let start = ContinuousClock.now
    var pause = 0.2
    while true {
      do {
        return try connection.transaction {
          let wait = isQuick ? 100 : max(1, Int(_patience * 1000))
          try connection.execute("SET LOCAL lock_timeout = \(wait)")
          try PostgreSQLStoreLock.acquire(address.schema, on: connection)
          try body()
        }
      } catch let error as PostgreSQLError {
        guard error.isBusy else { throw failure(error, isConstraint: error.isUniqueViolation) }
        if !isQuick || ContinuousClock.now - start > .seconds(_patience) {
          throw PostgreSQLStoreError.timeout(
            error.message + PostgreSQLBlockers.text(connection, schema: address.schema))
        }
      } catch let error as MissingValuesError {
        throw failure(error)
      }
      Thread.sleep(forTimeInterval: pause * Double.random(in: 0.8...1.2))
      pause = min(5, pause * 2)
    }
  }

  // MARK: In place

  /// Adds what the new version adds and hides what it leaves out, or else alters or copies the tables behind a barrier:
  /// programs with earlier versions of the model can no longer write.
  func rewrite(from source: ModelSchema, to frozen: FrozenModel, _ model: NSManagedObjectModel) throws {
    try _rewrite(from: source, to: frozen, model, mayExpand: true)
  }

  private func _rewrite(
    from source: ModelSchema, to frozen: FrozenModel, _ model: NSManagedObjectModel, mayExpand: Bool
  ) throws {
    let (mappings, former, types) = try _mappings(from: source, to: frozen)
    let epochs = try _epochs()
    let earlier = try PostgreSQLEarlierVersions(connection, schema: address.schema)
    let expansion =
      mayExpand
      ? try PostgreSQLExpansion(
        connection, schema: address.schema, from: mappings.old, beside: earlier, to: mappings.new) : nil
    let rewriting = try _rewriting(mappings, keepsTables: mayExpand)
    var later: [PostgreSQLIndex] = []
    var isContracted = false
    try _alone(isQuick: expansion != nil || rewriting.isBrief) {
      guard let present = try metadataIfUnchanged() else { return }
      // A contraction meanwhile has dropped what earlier versions had.
      isContracted = try _epochs() != epochs
      guard !isContracted, try _types(mappings.old.layout) == former else { return }
      if let expansion {
        let epochs = try PostgreSQLEpochs(connection, schema: address.schema)
        later = try expansion.run(epoch: epochs.current + 1)
      } else {
        try PostgreSQLEpochs.holdSaves(connection, schema: address.schema)
        later = try rewriting.run(dropping: earlier.hidden(beside: mappings.old))
      }
      try connection.execute("DELETE FROM \(_s).\"_name\"")
      try PostgreSQLSchema(mappings.new, PostgreSQLDerivations(frozen.layout), schema: address.schema)
        .writeNames(to: connection)
      let kept = CompiledModelWriter.write(frozen.layout.schema, for: .store)
      var content = PostgreSQLParameters()
      content.add(bytes: kept)
      try connection.run(
        "UPDATE \(_s).\"_model_cache\" SET \"content\" = $1::bytea", content, isRepeated: false)
      try _beginEpoch(
        PostgreSQLEpochs.digest(of: frozen), kept, isBarrier: expansion == nil, types, over: former)
      let identifier = present[NSStoreUUIDKey] as? String ?? ""
      let version = StoreVersioning.metadata(for: frozen, model, identifier: identifier)
      try PostgreSQLMetadata.write(
        present.merging(version) { $1 }, to: connection, schema: address.schema)
    }
    if isContracted { return try _rewrite(from: source, to: frozen, model, mayExpand: mayExpand) }
    _build(later)
  }

  /// The store's epochs; nil for one that has none yet, written by an older version of the package.
  private func _epochs() throws -> PostgreSQLEpochs? {
    guard try PostgreSQLEpochs.areThere(connection, schema: address.schema) else { return nil }
    return try PostgreSQLEpochs(connection, schema: address.schema)
  }

  /// Whether programs with the present and earlier versions would go on beside another version.
  func keepsWhatIsLeftOut(from source: ModelSchema, to frozen: FrozenModel) throws -> Bool {
    let mappings = try _mappings(from: source, to: frozen).mappings
    let earlier = try PostgreSQLEarlierVersions(connection, schema: address.schema)
    return try PostgreSQLExpansion(
      connection, schema: address.schema, from: mappings.old, beside: earlier, to: mappings.new) != nil
  }

  /// Ends the earlier versions of the model, and drops what the store has for their programs only.
  ///
  /// - Parameter frozen: The store's version of the model.
  func contract(to frozen: FrozenModel) throws {
    try _alone(isQuick: true) {
      let mapping = try _mapping(frozen.layout, _types(frozen.layout))
      try PostgreSQLContraction(connection, schema: address.schema, mapping).run()
    }
  }

  /// Returns what a contraction would drop, as people name it.
  ///
  /// - Parameter layout: The store's version of the model.
  func hidden(beside layout: ModelLayout) throws -> [String] {
    let mapping = try _mapping(layout, _types(layout))
    return try PostgreSQLContraction(connection, schema: address.schema, mapping).hidden().names
  }

  /// Returns the names of the tables that a migration would copy, instead of altering them.
  func copiedTables(from source: ModelSchema, to frozen: FrozenModel) throws -> [String] {
    try _rewriting(_mappings(from: source, to: frozen).mappings, keepsTables: true).copiedTables
  }

  /// Returns the mappings of two versions of the model, with the store's entity numbers in them.
  private func _mappings(from source: ModelSchema, to frozen: FrozenModel) throws -> (
    mappings: (old: StoreMapping, new: StoreMapping), former: PostgreSQLTypes, types: PostgreSQLTypes
  ) {
    let old = try ModelLayout(source)
    let former = try _types(old)
    let types = try former.migrated(SchemaMatching(from: source, to: frozen.layout.schema), to: frozen.layout)
    return ((try _mapping(old, former), try _mapping(frozen.layout, types)), former, types)
  }

  private func _rewriting(
    _ mappings: (old: StoreMapping, new: StoreMapping), keepsTables: Bool
  ) throws -> PostgreSQLRewriting {
    try PostgreSQLRewriting(
      connection, schema: address.schema, beside: _beside, from: mappings.old, to: mappings.new,
      keepsTables: keepsTables)
  }

  /// Seconds that an opening program builds indexes, which also takes as long as the oldest transaction of the database.
  private static let _buildSeconds = 240.0

  /// Builds indexes after the migration, which stands without them: queries are slower until they are there.
  private func _build(_ indexes: [PostgreSQLIndex]) {
    if indexes.isEmpty { return }
    do {
      let observation = try PostgreSQLObservation(options, schema: address.schema)
      try PostgreSQLIndexBuilding(
        address, until: PostgreSQLDeadline(after: Self._buildSeconds), tellingOf: observation
      ).build(indexes, waits: false)
    } catch {
      Console.warn(
        "the store '\(address.schema)' is migrated, and indexes of its new version are missing: \(error). "
          + "'coredata postgres migrate MODEL --apply' builds them.")
    }
  }

  /// Begins the epoch of a version of the model, with its entity numbers.
  private func _beginEpoch(
    _ digest: String, _ content: Data, isBarrier: Bool, _ types: PostgreSQLTypes, over former: PostgreSQLTypes
  ) throws {
    let epoch = try PostgreSQLEpochs.begin(
      digest, content, isBarrier: isBarrier, connection, schema: address.schema)
    try types.write(over: former, epoch: epoch, to: connection, schema: address.schema)
  }

  /// The store's entity numbers.
  ///
  /// - Parameter layout: The version of the model that the store has.
  private func _types(_ layout: ModelLayout) throws -> PostgreSQLTypes {
    try PostgreSQLTypes(connection, schema: address.schema) ?? PostgreSQLTypes(layout)
  }

  private func _mapping(_ layout: ModelLayout, _ types: PostgreSQLTypes, schema: String? = nil) throws
    -> StoreMapping
  {
    let schema = schema ?? address.schema
    return try PostgreSQLMapping.mapping(
      for: layout, schema: schema, numbers: types.numbers(for: layout, schema: schema))
  }

  // MARK: Content from elsewhere

  private func _url(_ schema: String) -> URL {
    var components = URLComponents(url: url, resolvingAgainstBaseURL: false)!
    var items = (components.queryItems ?? []).filter { $0.name != "schema" }
    items.append(URLQueryItem(name: "schema", value: schema))
    items.append(URLQueryItem(name: PostgreSQLAddress.numbersItem, value: address.schema))
    components.queryItems = items
    return components.url!
  }

  func replaceContent(_ body: (URL) throws -> Void) throws {
    let other = PostgreSQLNames.quoted(_beside)
    try _alone {
      guard try metadataIfUnchanged() != nil else { return }
      try PostgreSQLEpochs.holdSaves(connection, schema: address.schema)
      // Drops the remains of a killed migration. Uses a separate connection: others must see the new store
      // before this transaction commits.
      let helper = try PostgreSQLConnection(address.settings, prepares: false)
      try helper.execute("DROP SCHEMA IF EXISTS \(other) CASCADE")
      do {
        try body(_url(_beside))
        try _replaceTables(withThoseOf: other)
      } catch {
        connection.rollBack()
        try? helper.execute("DROP SCHEMA IF EXISTS \(other) CASCADE")
        throw error
      }
    }
  }

  /// Tables that stay when the content is replaced: what saves and programs have to do with the store itself.
  private static let _kept = PostgreSQLOwnTable.added.union(["_receipt"])

  /// Replaces this schema's tables with those of another one.
  private func _replaceTables(withThoseOf other: String) throws {
    let traits = try PostgreSQLTableTraits(address.schema, on: connection)
    let comments = try _comments()
    guard let before = try PostgreSQLTypes(connection, schema: address.schema),
      let types = try PostgreSQLTypes(connection, schema: _beside)
    else { throw PostgreSQLStoreError.noStore(schema: address.schema, reason: "it has no table _type") }
    let version = try connection.run(
      "SELECT \"digest\", \"content\" FROM \(PostgreSQLEpochs.models(_beside)) ORDER BY \"epoch\" DESC LIMIT 1",
      isRepeated: false)
    for table in try _tables(address.schema) where !Self._kept.contains(table) {
      try connection.execute("DROP TABLE \(_s).\(PostgreSQLNames.quoted(table)) CASCADE")
    }
    try PostgreSQLRewriting.dropTriggers(connection, schema: address.schema)
    // Sequences, indexes and constraints move with their tables.
    for table in try _tables(_beside) where !Self._kept.contains(table) {
      try connection.execute("ALTER TABLE \(other).\(PostgreSQLNames.quoted(table)) SET SCHEMA \(_s)")
    }
    // Triggers refer to tables by name. They are dropped with their functions, and recreated.
    try connection.execute("DROP SCHEMA \(other) CASCADE")
    try _beginEpoch(
      version.string(0, 0), Data(version.bytes(0, 1)), isBarrier: true, types, over: before)
    guard let schema = try keptSchema() else { return }
    let layout = try ModelLayout(schema)
    let made = try PostgreSQLSchema(
      _mapping(layout, types), PostgreSQLDerivations(layout), schema: address.schema)
    // Indexes on folded text were dropped with the other schema's functions.
    let rules = try PostgreSQLCaseRules(of: connection)
    try connection.execute(
      inOrder: made.functions(rules) + made.textIndexes + made.triggers + made.views)
    try traits.apply(renamed: [:], made: comments)
  }

  /// Returns the comments that the store created itself.
  private func _comments() throws -> [PostgreSQLComment] {
    guard let schema = try keptSchema() else { return [] }
    let layout = try ModelLayout(schema)
    return PostgreSQLSchema(
      try _mapping(layout, _types(layout)), try PostgreSQLDerivations(layout), schema: address.schema
    ).comments
  }

  private func _tables(_ schema: String) throws -> [String] {
    var parameters = PostgreSQLParameters()
    parameters.add(schema)
    let found = try connection.run(
      """
      SELECT c.relname::text FROM \(PostgreSQLCatalog.relations) WHERE c.relkind IN ('r', 'p') ORDER BY 1
      """, parameters, isRepeated: false)
    return (0..<found.rowCount).map { found.string($0, 0) }
  }

  func copy(to url: URL) throws {
    let helper = try PostgreSQLConnection(address.settings, prepares: false)
    let other = PostgreSQLNames.quoted(_beside)
    try helper.transaction {
      try helper.execute("CREATE SCHEMA \(other)")
      for table in try _tables(address.schema) where table != "_receipt" {
        let name = PostgreSQLNames.quoted(table)
        try helper.execute("CREATE TABLE \(other).\(name) (LIKE \(_s).\(name) INCLUDING ALL)")
        try helper.execute("INSERT INTO \(other).\(name) SELECT * FROM \(_s).\(name)")
      }
      try helper.execute("CREATE TABLE \(other).\"_receipt\" (LIKE \(_s).\"_receipt\" INCLUDING ALL)")
      // LIKE leaves references out.
      try helper.execute(PostgreSQLOwnTable.historyReference(other))
      guard let schema = try keptSchema() else { return }
      let layout = try ModelLayout(schema)
      let types = try _types(layout)
      let mapping = try _mapping(layout, types, schema: _beside)
      let here = try _mapping(layout, types)
      for (table, original) in zip(mapping.tables, here.tables) {
        let sequence = PostgreSQLKeys.sequence(of: table)
        try helper.execute(
          """
          CREATE SEQUENCE \(sequence) AS bigint INCREMENT BY \(PostgreSQLKeys.blockSize) OWNED BY \(table.name)."id"
          """)
        try helper.execute(
          """
          SELECT pg_catalog.setval(\(PostgreSQLNames.literal(sequence)), last_value, is_called) \
          FROM \(PostgreSQLKeys.sequence(of: original))
          """)
      }
      let made = PostgreSQLSchema(mapping, try PostgreSQLDerivations(layout), schema: _beside)
      let rules = try PostgreSQLCaseRules(of: helper)
      try helper.execute(inOrder: made.functions(rules) + made.triggers + made.views)
    }
  }

  func rewriteCopy(at url: URL, from source: ModelSchema, to model: NSManagedObjectModel) throws {
    let address = try PostgreSQLAddress(url)
    let connection = try PostgreSQLConnection(address.settings, prepares: false)
    let store = PostgreSQLMigratingStore(
      url: url, address: address, connection: connection,
      metadata: try PostgreSQLMetadata.read(connection, schema: address.schema), options: options)
    let frozen = try model.frozen()
    try store.checkInference(from: source, to: frozen.layout.schema)
    // The indexes and comments of the copied tables are not those of a new store.
    try store._rewrite(from: source, to: frozen, model, mayExpand: false)
  }

  func addMetadata(_ own: [String: Any], at url: URL) throws {
    let address = try PostgreSQLAddress(url)
    let connection = try PostgreSQLConnection(address.settings, prepares: false)
    try connection.transaction {
      let made = try PostgreSQLMetadata.read(connection, schema: address.schema)
      try PostgreSQLMetadata.write(own.merging(made) { $1 }, to: connection, schema: address.schema)
    }
  }
}
