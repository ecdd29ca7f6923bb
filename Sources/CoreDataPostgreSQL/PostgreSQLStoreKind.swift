import CoreData
import CoreDataModelFiles
import CoreDataModelSchema
import CoreDataPostgreSQLBinding
import Foundation

/// Stores in schemas of PostgreSQL databases.
struct PostgreSQLStoreKind: StoreKind {
  static let typeName = "PostgreSQL"

  var type: String { Self.typeName }
  var canMigrate: Bool { true }

  // MARK: Opening

  func open(_ request: StoreRequest) throws -> NSPersistentStore {
    guard let url = request.url else {
      throw CocoaError(
        .persistentStoreOpen,
        userInfo: [
          NSLocalizedDescriptionKey:
            "A store on PostgreSQL needs a URL: postgresql://user@host/database?schema=name."
        ])
    }
    let address = try _address(url)
    do {
      return try StoreErrors.translating(url: address.url) { try _open(url, address, request) }
    } catch {
      // Errors thrown by a program's policy or handler are rethrown unchanged.
      let cause = (error as NSError).userInfo[NSUnderlyingErrorKey] as? HandlerError
      throw cause?.underlying ?? error
    }
  }

  /// An error that a migration policy or a stage's handler has thrown.
  private struct HandlerError: Error {
    let underlying: any Error
  }

  private func _open(_ url: URL, _ address: PostgreSQLAddress, _ request: StoreRequest) throws
    -> NSPersistentStore
  {
    let isReadOnly = StoreOptions.isTrue(NSReadOnlyPersistentStoreOption, request.options)
    let derivations = try PostgreSQLDerivations(request.model.layout)
    // Fails for a model that no tables can hold, before anything is asked of a server.
    _ = try PostgreSQLMapping.mapping(for: request.model.layout, schema: address.schema)
    let observation = try PostgreSQLObservation(request.options, schema: address.schema)
    let timelines = PostgreSQLTimelines(isPooled: address.isPooled)
    let presence = address.isPooled ? nil : PostgreSQLPresence(schema: address.schema)
    let pool = _pool(address, request.options, observation, timelines, presence)
    var metadata: [String: Any]
    let mapping: StoreMapping
    let epoch: Int64
    let capabilities: PostgreSQLCapabilities
    var keepsHistory = StoreOptions.isOn(NSPersistentHistoryTrackingKey, request.options)
    do {
      let opening = PostgreSQLOpening(address, request, isReadOnly: isReadOnly)
      metadata = try PostgreSQLStoreError.translating {
        try pool.withConnection("opening the store") { connection in
          try _checkEncoding(connection)
          do {
            return try opening.prepare(connection)
          } catch let error as PostgreSQLError where error.isDuplicate {
            // Another program created the store meanwhile, on a server without advisory locks.
            return try opening.prepare(connection)
          }
        }
      }
      func version() throws -> Int64? {
        try PostgreSQLStoreError.translating {
          try pool.withConnection("opening the store") { try opening.epoch(of: metadata, $0) }
        }
      }
      if let known = try version() {
        epoch = known
      } else {
        metadata = try _migrated(metadata, pool, url, address, request)
        guard let now = try version() else { throw opening.unknownVersion(metadata) }
        epoch = now
      }
      presence?.begin(epoch)
      let numbers = try PostgreSQLStoreError.translating {
        try pool.withConnection("opening the store") { connection in
          try presence?.mark(connection)
          return try PostgreSQLTypes(connection, schema: address.schema)?
            .numbers(for: request.model.layout, schema: address.schema)
        }
      }
      mapping = try PostgreSQLMapping.mapping(
        for: request.model.layout, schema: address.schema, numbers: numbers)
      var expected = PostgreSQLSchema(mapping, derivations, schema: address.schema)
      if numbers == nil { expected.ownTables = PostgreSQLOwnTable.former }
      metadata = try _renewed(metadata, expected, pool, address, isReadOnly: isReadOnly)
      capabilities = try _check(expected, pool, address, isReadOnly)
      // Once begun, the history is kept: readers could not detect gaps.
      if !keepsHistory { keepsHistory = try _hasHistory(pool, address) }
    } catch {
      pool.close()
      throw error
    }
    let key = StoreKey.named(metadata[NSStoreUUIDKey] as? String ?? UUID().uuidString)
    let store = NSPersistentStore(
      type: type, configuration: request.configuration, url: address.url, options: request.options,
      entities: request.entities, isReadOnly: isReadOnly, metadata: [:], key: key)
    let engine = PostgreSQLStoreEngine(
      address, pool: pool, mapping: mapping, epoch: PostgreSQLEpoch(number: epoch, schema: address.schema),
      key: key, entities: request.model.entities,
      persistentStore: store,
      isReadOnly: isReadOnly, keepsHistory: keepsHistory, derivations: derivations,
      generations: _generations(request.options),
      notifies: StoreOptions.isOn(NSPostgreSQLNotifiesOption, request.options),
      replica: try _replica(request.options, observation, timelines), timelines: timelines,
      capabilities: capabilities,
      bucket: try _bucket(request.options), callSeconds: _callSeconds(request.options),
      rowAge: _rowAge(request.options),
      followsHistory: try _followsHistory(request.options, keepsHistory), observation: observation)
    store.attach(engine, metadata: metadata)
    return store
  }

  /// Rejects a database that cannot store every text, or that accepts bytes which are not text.
  private func _checkEncoding(_ connection: PostgreSQLConnection) throws {
    guard let encoding = connection.databaseEncoding, encoding != "UTF8" else { return }
    throw PostgreSQLStoreError.address(
      "the encoding of the database is \(encoding), and a store needs UTF8. Make a database with "
        + "'createdb --encoding UTF8 --template template0 NAME', and name it in the store's URL")
  }

  /// Compares the schema with the model, so that missing parts fail here and not in a save, and queries the
  /// server's capabilities.
  private func _check(
    _ expected: PostgreSQLSchema, _ pool: PostgreSQLPool, _ address: PostgreSQLAddress, _ isReadOnly: Bool
  ) throws -> PostgreSQLCapabilities {
    try PostgreSQLStoreError.translating {
      try pool.withConnection("opening the store") { connection in
        try PostgreSQLSchemaCheck(expected, schema: address.schema, on: connection).run(
          isReadOnly: isReadOnly)
        return try PostgreSQLCapabilities(expected.mapping.tables.map(\.name), on: connection)
      }
    }
  }

  private func _hasHistory(_ pool: PostgreSQLPool, _ address: PostgreSQLAddress) throws -> Bool {
    try PostgreSQLStoreError.translating {
      try pool.withConnection("opening the store") { connection in
        let found = try connection.run(
          "SELECT \"n\" FROM \(PostgreSQLNames.quoted(address.schema)).\"_history_counter\"",
          isRepeated: false)
        return found.rowCount > 0 && found.int64(0, 0) > 0
      }
    }
  }

  private func _address(_ url: URL) throws -> PostgreSQLAddress {
    try StoreErrors.translating { try PostgreSQLAddress(url) }
  }

  /// - Parameter writes: Whether the server must be one that can be written.
  private func _pool(
    _ address: PostgreSQLAddress, _ options: [AnyHashable: Any]?, _ observation: PostgreSQLObservation?,
    _ timelines: PostgreSQLTimelines?, _ presence: PostgreSQLPresence? = nil, writes: Bool = true
  ) -> PostgreSQLPool {
    let limit = (options?[NSPersistentStoreConnectionPoolMaxSizeKey] as? NSNumber)?.intValue ?? 8
    let deadline = (options?[NSPersistentStoreTimeoutOption] as? NSNumber)?.doubleValue ?? 240
    let prepares =
      (options?[NSPostgreSQLPreparesStatementsOption] as? NSNumber)?.boolValue ?? !address.isPooled
    var settings = address.settings
    if writes, address.hasSeveralHosts, !StoreOptions.isTrue(NSReadOnlyPersistentStoreOption, options) {
      settings["target_session_attrs"] = settings["target_session_attrs"] ?? "read-write"
    }
    let counter = options?[StatementCounter.option] as? StatementCounter
    var limits = PostgreSQLPool.Limits(count: limit, wait: max(0.01, deadline))
    limits.listener = observation?.listener
    limits.kept = max(0, (options?[NSPostgreSQLIdleConnectionsOption] as? NSNumber)?.intValue ?? 1)
    if let seconds = (options?[NSPostgreSQLIdleTimeOption] as? NSNumber)?.doubleValue {
      limits.idle = max(0.01, seconds)
    }
    return PostgreSQLPool(limits) { [settings] in
      let connection = try PostgreSQLConnection(settings, prepares: prepares, until: $0)
      connection.deadline = $0
      if !address.isPooled { try PostgreSQLSession.begin(on: connection) }
      try timelines?.begin(connection, isReplica: !writes)
      try presence?.mark(connection)
      if let counter { connection.onStatement = { counter.add() } }
      connection.deadline = .never
      return connection
    } end: {
      try PostgreSQLSession.end($0, on: $1)
    }
  }

  /// Returns the seconds that a call may take; nil without a limit.
  private func _callSeconds(_ options: [AnyHashable: Any]?) -> Double? {
    let seconds = (options?[NSPostgreSQLDeadlineOption] as? NSNumber)?.doubleValue ?? 240
    return seconds > 0 ? seconds : nil
  }

  /// Returns the seconds for which rows that were read before are shown; nil without a limit.
  private func _rowAge(_ options: [AnyHashable: Any]?) -> Double? {
    let seconds = (options?[NSPostgreSQLRowAgeOption] as? NSNumber)?.doubleValue ?? 5
    return seconds >= 0 ? seconds : nil
  }

  private func _followsHistory(_ options: [AnyHashable: Any]?, _ keepsHistory: Bool) throws -> Bool {
    guard StoreOptions.isOn(NSPostgreSQLFollowsHistoryOption, options) else { return false }
    guard keepsHistory else {
      throw PostgreSQLStoreError.option(
        NSPostgreSQLFollowsHistoryOption,
        reason: "the store keeps no history; set NSPersistentHistoryTrackingKey, too")
    }
    return true
  }

  /// Creates the replica that the options name.
  private func _replica(
    _ options: [AnyHashable: Any]?, _ observation: PostgreSQLObservation?, _ timelines: PostgreSQLTimelines
  ) throws -> PostgreSQLReplica? {
    let option = options?[NSPostgreSQLReplicaOption]
    guard let url = option as? URL ?? (option as? String).flatMap({ URL(string: $0) }) else { return nil }
    return PostgreSQLReplica(
      _pool(try _address(url), options, observation, timelines, writes: false), timelines)
  }

  /// Returns the bucket that the options name; zero for none.
  private func _bucket(_ options: [AnyHashable: Any]?) throws -> Int64 {
    guard let option = options?[NSPostgreSQLKeyBucketOption] else { return 0 }
    guard let number = (option as? NSNumber)?.int64Value, (1...32_767).contains(number) else {
      throw PostgreSQLStoreError.option(
        NSPostgreSQLKeyBucketOption, reason: "'\(option)' is no bucket; there are those from 1 to 32767")
    }
    return number
  }

  private func _generations(_ options: [AnyHashable: Any]?) -> PostgreSQLGenerations {
    PostgreSQLGenerations(
      maximumCount: (options?[NSPostgreSQLQueryGenerationsOption] as? NSNumber)?.intValue ?? 0,
      maximumAge: (options?[NSPostgreSQLQueryGenerationAgeOption] as? NSNumber)?.doubleValue ?? 300)
  }

  /// Migrates the store and returns its new metadata.
  private func _migrated(
    _ metadata: [String: Any], _ pool: PostgreSQLPool, _ url: URL, _ address: PostgreSQLAddress,
    _ request: StoreRequest
  ) throws -> [String: Any] {
    let model = request.coordinator.model
    return try PostgreSQLStoreError.translating {
      try pool.withConnection("a migration") { connection in
        let store = PostgreSQLMigratingStore(
          url: url, address: address, connection: connection, metadata: metadata, options: request.options)
        do {
          if let manager = request.options?[NSPersistentStoreStagedMigrationManagerOptionKey]
            as? NSStagedMigrationManager
          {
            try StagedMigration(manager, store).run(to: model)
          } else {
            try AutomaticMigration(store).run(to: request.model, model)
          }
        } catch {
          switch error {
          case is CocoaError, is PostgreSQLError, is any StoreFailure: throw error
          default: throw StoreErrors.isOurs(error) ? error : HandlerError(underlying: error)
          }
        }
        return try PostgreSQLMetadata.read(connection, schema: address.schema)
      }
    }
  }

  /// Replaces the functions and creates the views of a store from another version of the package or from a
  /// server with another ICU, and returns its metadata.
  private func _renewed(
    _ metadata: [String: Any], _ expected: PostgreSQLSchema, _ pool: PostgreSQLPool,
    _ address: PostgreSQLAddress,
    isReadOnly: Bool
  ) throws -> [String: Any] {
    if isReadOnly { return metadata }
    let number = (metadata[PostgreSQLVersions.functionsKey] as? NSNumber)?.intValue ?? 0
    return try PostgreSQLStoreError.translating {
      try pool.withConnection("new functions") { connection in
        let rules = try PostgreSQLCaseRules(of: connection)
        guard
          try number < PostgreSQLFunctions.version || rules.areNew(in: address.schema, on: connection)
        else { return metadata }
        do {
          return try connection.transaction {
            try PostgreSQLStoreLock.acquire(address.schema, on: connection)
            try connection.execute(
              inOrder: expected.functions(rules) + expected.renewedViews(on: connection))
            try PostgreSQLMetadata.lock(connection, schema: address.schema)
            // A newer program may have migrated the store meanwhile.
            let present = try PostgreSQLMetadata.read(connection, schema: address.schema)
            try PostgreSQLMetadata.write(present, to: connection, schema: address.schema)
            return try PostgreSQLMetadata.read(connection, schema: address.schema)
          }
        } catch let error as PostgreSQLError where error.isDenied {
          throw PostgreSQLStoreError.needsOwner(
            "its functions are of an older version of the package or of a server with ICU, and the role may not replace them",
            schema: address.schema, error)
        }
      }
    }
  }

  // MARK: Stores as a whole

  /// Runs `body` on a dedicated connection.
  private func _connected<Result>(
    _ url: URL, _ options: [AnyHashable: Any]?,
    _ body: (PostgreSQLConnection, PostgreSQLAddress) throws -> Result
  ) throws -> Result {
    let address = try _address(url)
    return try StoreErrors.translating(url: address.url) {
      let pool = _pool(address, options, nil, nil)
      defer { pool.close() }
      return try PostgreSQLStoreError.translating {
        try pool.withConnection("the store as a whole") { try body($0, address) }
      }
    }
  }

  func metadata(at url: URL, options: [AnyHashable: Any]?) throws -> [String: Any] {
    try _connected(url, options) { try PostgreSQLMetadata.read($0, schema: $1.schema) }
  }

  func setMetadata(_ metadata: [String: Any]?, at url: URL, options: [AnyHashable: Any]?) throws {
    try _connected(url, options) { connection, address in
      try connection.transaction {
        let present = try PostgreSQLMetadata.read(connection, schema: address.schema)
        let new = NSPersistentStore.completed(metadata ?? [:], from: present)
        try PostgreSQLMetadata.write(new, to: connection, schema: address.schema)
      }
    }
  }

  /// Drops the store's schema and everything in it.
  func destroy(at url: URL, options: [AnyHashable: Any]?, closing: () throws -> Void) throws {
    try _connected(url, options) { connection, address in
      // Never drops the schema of another program.
      let exists = try PostgreSQLOpening.exists(connection, address.schema)
      try closing()
      if exists { try _drop(address.schema, connection) }
    }
  }

  private func _drop(_ schema: String, _ connection: PostgreSQLConnection) throws {
    try connection.transaction {
      try connection.execute("SET LOCAL lock_timeout = '10s'")
      try connection.execute("DROP SCHEMA IF EXISTS \(PostgreSQLNames.quoted(schema)) CASCADE")
    }
  }

  func isVacant(_ url: URL, options: [AnyHashable: Any]?) throws -> Bool {
    try _connected(url, options) { connection, address in
      try !PostgreSQLOpening.exists(connection, address.schema)
    }
  }

  func discard(at url: URL) throws {
    try _connected(url, nil) { connection, address in
      if try PostgreSQLOpening.exists(connection, address.schema) { try _drop(address.schema, connection) }
    }
  }

  /// Watches the history; stores without history report no changes.
  func follow(_ store: NSPersistentStore, _ changed: @escaping @Sendable () -> Void) throws -> AnyObject? {
    guard let engine = store.engine as? PostgreSQLStoreEngine, engine.keepsHistory else { return nil }
    if let follower = engine.follower, let coordinator = store.persistentStoreCoordinator {
      follower.begin(engine, coordinator)
    }
    return try PostgreSQLChangeFeed(
      engine, listens: StoreOptions.isOn(NSPostgreSQLNotifiesOption, store.options), changed)
  }

  /// A store's URL cannot change while it is open.
  func reopen(_ store: NSPersistentStore, at url: URL, in coordinator: NSPersistentStoreCoordinator) -> Bool {
    false
  }
}
