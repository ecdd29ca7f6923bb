import CoreData
import CoreDataModelFiles
import CoreDataModelSchema
import CoreDataPostgreSQLBinding
import Foundation

/// Finds out, when a store is opened, whether it is there and what the program's version of the model may do
/// with it. Creates stores, and the tables that an older version of the package has not made.
struct PostgreSQLOpening {
  private let _address: PostgreSQLAddress
  private let _request: StoreRequest
  private let _isReadOnly: Bool

  init(_ address: PostgreSQLAddress, _ request: StoreRequest, isReadOnly: Bool) {
    _address = address
    _request = request
    _isReadOnly = isReadOnly
  }

  private var _s: String { PostgreSQLNames.quoted(_address.schema) }
  private var _frozen: FrozenModel { _request.model }

  /// Returns whether a schema contains a store.
  ///
  /// - Throws: `PostgreSQLStoreError.noStore` for a schema with other content.
  static func exists(_ connection: PostgreSQLConnection, _ schema: String) throws -> Bool {
    var parameters = PostgreSQLParameters()
    parameters.add(schema)
    let found = try connection.run(
      """
      SELECT pg_catalog.count(*) FILTER (WHERE c.relname = '_metadata'), pg_catalog.count(*) \
      FROM \(PostgreSQLCatalog.relations) WHERE c.relkind IN ('r', 'p', 'v')
      """, parameters, isRepeated: false)
    if found.int64(0, 0) > 0 { return true }
    guard found.int64(0, 1) == 0 else {
      throw PostgreSQLStoreError.noStore(
        schema: schema,
        reason:
          "it has \(found.int64(0, 1)) tables or views, and no table _metadata; give the store a schema of its own"
      )
    }
    return false
  }

  // MARK: Preparing

  /// Returns the metadata of the store, which is created if it does not exist, and gets the tables of this
  /// version of the package.
  func prepare(_ connection: PostgreSQLConnection) throws -> [String: Any] {
    guard try Self.exists(connection, _address.schema) else { return try _create(connection) }
    let metadata = try PostgreSQLMetadata.read(connection, schema: _address.schema)
    switch Self._layout(of: metadata) {
    case PostgreSQLVersions.layout: return metadata
    case PostgreSQLVersions.layout - 1: return _isReadOnly ? metadata : try _upgrade(connection)
    case let layout:
      throw PostgreSQLStoreError.noStore(
        schema: _address.schema,
        reason:
          "its tables have the layout \(layout), and this version of the package knows \(PostgreSQLVersions.layout)"
      )
    }
  }

  private static func _layout(of metadata: [String: Any]) -> Int {
    (metadata[PostgreSQLVersions.layoutKey] as? NSNumber)?.intValue ?? 0
  }

  private func _create(_ connection: PostgreSQLConnection) throws -> [String: Any] {
    guard !_isReadOnly else {
      throw PostgreSQLStoreError.noStore(
        schema: _address.schema,
        reason: "it is not there, and a store that is opened for reading only is not created")
    }
    return try connection.transaction {
      // Of several processes that find no store, one creates it and the others wait.
      try PostgreSQLStoreLock.acquire(_address.schema, on: connection)
      if try Self.exists(connection, _address.schema) {
        return try PostgreSQLMetadata.read(connection, schema: _address.schema)
      }
      let layout = _frozen.layout
      let types = try _newTypes(connection)
      let mapping = try PostgreSQLMapping.mapping(
        for: layout, schema: _address.schema, numbers: types.numbers(for: layout, schema: _address.schema))
      let schema = PostgreSQLSchema(mapping, try PostgreSQLDerivations(layout), schema: _address.schema)
      do {
        try connection.execute(inOrder: schema.statements(try PostgreSQLCaseRules(of: connection)))
      } catch let error as PostgreSQLError where error.isDenied {
        throw PostgreSQLStoreError.noStore(
          schema: _address.schema,
          reason:
            "it is not there, and the role may not create it (\(error.message)); have its owner open the store "
            + "once, or grant CREATE on the database")
      }
      try schema.writeNames(to: connection)
      var content = PostgreSQLParameters()
      content.add(bytes: CompiledModelWriter.write(layout.schema, for: .store))
      try connection.run(
        "INSERT INTO \(_s).\"_model_cache\" (\"content\") VALUES ($1::bytea)", content, isRepeated: false)
      let kept = "(SELECT \"content\" FROM \(_s).\"_model_cache\")"
      try connection.execute(
        inOrder: PostgreSQLEpochs.statements(
          _address.schema, PostgreSQLEpochs.digest(of: _frozen), content: kept)
          + types.statements(_address.schema))
      let metadata = StoreVersioning.metadata(
        for: _frozen, _request.coordinator.model, identifier: UUID().uuidString)
      try PostgreSQLMetadata.write(metadata, to: connection, schema: _address.schema)
      return try PostgreSQLMetadata.read(connection, schema: _address.schema)
    }
  }

  /// The entity numbers of a new store: its own, or those of the store whose content it is to replace.
  private func _newTypes(_ connection: PostgreSQLConnection) throws -> PostgreSQLTypes {
    guard let other = _address.numbersFrom, let types = try PostgreSQLTypes(connection, schema: other) else {
      return PostgreSQLTypes(_frozen.layout)
    }
    let found = try connection.run(
      "SELECT \"content\" FROM \(PostgreSQLNames.quoted(other)).\"_model_cache\"", isRepeated: false)
    let source = try CompiledModelReader.read(Data(found.bytes(0, 0)), path: other)
    return try types.migrated(
      SchemaMatching(from: source, to: _frozen.layout.schema), to: _frozen.layout)
  }

  /// Adds the tables of epochs and entity numbers to a store that an older version of the package has made.
  ///
  /// Programs built with that version go on saving until the next migration; they do not open the store again.
  private func _upgrade(_ connection: PostgreSQLConnection) throws -> [String: Any] {
    do {
      return try connection.transaction {
        try PostgreSQLStoreLock.acquire(_address.schema, on: connection)
        let metadata = try PostgreSQLMetadata.read(connection, schema: _address.schema)
        if Self._layout(of: metadata) != PostgreSQLVersions.layout {
          // An older program may have written the older layout back.
          if try !PostgreSQLEpochs.areThere(connection, schema: _address.schema) {
            try _addTables(metadata, connection)
          }
          try PostgreSQLMetadata.write(metadata, to: connection, schema: _address.schema)
        }
        return try PostgreSQLMetadata.read(connection, schema: _address.schema)
      }
    } catch let error as PostgreSQLError where error.isDenied {
      throw PostgreSQLStoreError.needsOwner(
        "its tables are of an older version of the package, and the role may not add what is new",
        schema: _address.schema, error)
    }
  }

  private func _addTables(_ metadata: [String: Any], _ connection: PostgreSQLConnection) throws {
    let found = try connection.run("SELECT \"content\" FROM \(_s).\"_model_cache\"", isRepeated: false)
    guard found.rowCount == 1,
      let kept = try? CompiledModelReader.read(Data(found.bytes(0, 0)), path: _address.schema),
      let hashes = metadata[NSStoreModelVersionHashesKey] as? [String: Data]
    else {
      throw PostgreSQLStoreError.noStore(
        schema: _address.schema, reason: "its table _model_cache holds no model that can be read")
    }
    let readers = try PostgreSQLRoles.having(.select, of: "_model_cache", _address.schema, on: connection)
    for table in PostgreSQLOwnTable.all where PostgreSQLOwnTable.added.contains(table.name) {
      try connection.execute(table.statement(_s))
      for role in readers {
        try connection.execute("GRANT SELECT ON \(_s).\(PostgreSQLNames.quoted(table.name)) TO \(role)")
      }
    }
    try connection.execute("ALTER TABLE \(_s).\"_receipt\" ADD COLUMN \"epoch\" bigint NOT NULL DEFAULT 0")
    try connection.execute(PostgreSQLOwnTable.receiptIndex(_s))
    let content = "(SELECT \"content\" FROM \(_s).\"_model_cache\")"
    let statements =
      PostgreSQLEpochs.statements(
        _address.schema, NSManagedObjectModel.digest(hashes), content: content)
      + PostgreSQLTypes(try ModelLayout(kept)).statements(_address.schema)
    try connection.execute(inOrder: statements)
  }

  // MARK: Versions

  /// Returns the epoch of the program's version of the model; nil if the store must be migrated to it.
  ///
  /// A version that the store has had is never migrated to: a program with it goes on, or is refused.
  ///
  /// - Throws: `PostgreSQLStoreError.outdated`; a Cocoa error with code 134100 if the store needs a migration
  ///   that is not allowed.
  func epoch(of metadata: [String: Any], _ connection: PostgreSQLConnection) throws -> Int64? {
    let schema = _address.schema
    guard try PostgreSQLEpochs.areThere(connection, schema: schema) else {
      return try _isCurrent(metadata) ? 0 : _migratesOrThrows(metadata)
    }
    let epochs = try PostgreSQLEpochs(connection, schema: schema)
    let known = try PostgreSQLEpochs.number(
      of: PostgreSQLEpochs.digest(of: _frozen), connection, schema: schema)
    if let known, known >= (_isReadOnly ? epochs.readsFrom : epochs.writesFrom) { return known }
    if try _isCurrent(metadata) { return epochs.current }
    guard let known else { return try _migratesOrThrows(metadata) }
    // A program that carries the store's version too was built after it, and knows what it does.
    if !_isReadOnly, NSManagedObjectModel.mergedModel(from: nil, forStoreMetadata: metadata) != nil {
      return try _migratesOrThrows(metadata)
    }
    throw try PostgreSQLEpoch(number: known, schema: schema).outdated(on: connection)
  }

  /// Whether the model is the one that the store was saved with, as far as the program wants to know.
  private func _isCurrent(_ metadata: [String: Any]) throws -> Bool {
    if StoreOptions.isTrue(NSIgnorePersistentStoreVersioningOption, _request.options) { return true }
    let model = _request.coordinator.model
    return model.isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata)
      || model.isConfiguration(withName: _request.configuration, compatibleWithStoreMetadata: metadata)
  }

  private func _migratesOrThrows(_ metadata: [String: Any]) throws -> Int64? {
    guard StoreOptions.isTrue(NSMigratePersistentStoresAutomaticallyOption, _request.options) else {
      throw unknownVersion(metadata)
    }
    return nil
  }

  /// Returns the error of a store with another version of the model.
  func unknownVersion(_ metadata: [String: Any]) -> CocoaError {
    CocoaError(
      CocoaError.Code(rawValue: NSPersistentStoreIncompatibleVersionHashError),
      userInfo: [
        NSLocalizedDescriptionKey:
          "The store in the schema '\(_address.schema)' was written with another version of the model "
          + "(\(StoreVersioning.differences(_request.coordinator.model, metadata))). Open it with that version, or set "
          + "NSMigratePersistentStoresAutomaticallyOption.",
        "metadata": metadata, NSURLErrorKey: _address.url,
      ])
  }
}
