import CoreDataModelSchema
import CoreDataSQLiteBinding
import Foundation

/// Brings a SQLite store to a coordinator's model when it is added: by a mapping model among the program's,
/// or else as far as the change can be inferred.
///
/// The file is changed in one transaction, on the connection that the store is being opened on: on failure it is
/// what it was.
struct AutomaticMigration {
  private let _url: URL
  private let _connection: Connection
  private let _metadata: [String: Any]
  private let _options: [AnyHashable: Any]?

  /// - Parameters:
  ///   - connection: For writing, with the functions of `SQLFunctions`.
  ///   - metadata: The store's.
  init(
    url: URL, on connection: Connection, metadata: [String: Any], options: [AnyHashable: Any]?
  ) {
    _url = url
    _connection = connection
    _metadata = metadata
    _options = options
  }

  private func _flag(_ key: String) -> Bool { (_options?[key] as? NSNumber)?.boolValue ?? false }

  /// - Throws: A Cocoa error: 134110 for a store that may not be written, 134130 when the store's own version
  ///   of the model is nowhere to be found, 134140 when there is no mapping model and the change cannot be
  ///   inferred, or may not be, 134111 when objects violate a uniqueness constraint; and what a migration by
  ///   mapping model throws.
  func run(to frozen: FrozenModel, _ model: NSManagedObjectModel) throws {
    guard !_flag(NSReadOnlyPersistentStoreOption) else {
      throw _error(
        NSMigrationError,
        "is of another version of the model, and is to be opened for reading only. Open it for "
          + "writing once, so that it can be migrated.")
    }
    guard let source = try sourceModel() else { return }
    if let mapping = NSMappingModel(from: nil, forSourceModel: source, destinationModel: model) {
      return try _migrate(from: source, to: model, by: mapping)
    }
    guard _flag(NSInferMappingModelAutomaticallyOption) else {
      throw _error(
        NSMigrationMissingMappingModelError,
        "is of another version of the model; there is no mapping model for the two in the program's bundles, and none may be "
          + "inferred. Set NSInferMappingModelAutomaticallyOption, or add a mapping model."
      )
    }
    try rewrite(from: ModelSchema(source), to: frozen, model)
  }

  // MARK: The model that the store was saved with

  /// The model among the program's whose entities the store was saved with, or else the copy that the store
  /// keeps. Nil when another process has migrated the store since its metadata was read.
  ///
  /// - Throws: A Cocoa error with code 134130, or what reading the store throws.
  func sourceModel() throws -> NSManagedObjectModel? {
    if let model = NSManagedObjectModel.mergedModel(from: nil, forStoreMetadata: _metadata) { return model }
    // A store keeps a copy of its model.
    if let schema = try _keptSchema() {
      let hashes = schema.entityVersionHashes().mapValues { Data($0) }
      let wanted = NSManagedObjectModel.versionHashes(in: _metadata) ?? [:]
      if wanted.allSatisfy({ hashes[$0.key] == $0.value }),
        let model = try? NSManagedObjectModel(schema: schema)
      {
        return model
      }
    }
    // The copy may be of the version that another process has migrated the store to.
    guard try StoreErrors.translating(url: _url, { try _metadataIfUnchanged() }) != nil else { return nil }
    throw _error(
      NSMigrationMissingSourceModelError,
      "was saved with a version of the model that is in none of the program's bundles. Add that version to the model."
    )
  }

  /// The copy of the model that the store keeps; nil where there is none that can be read.
  private func _keptSchema() throws -> ModelSchema? {
    do {
      return try ModelCache.read(_connection, path: _url.path)
    } catch let error as SQLiteError {
      throw StoreErrors.cocoa(StoreOpenError(error, path: _url.path), _url)
    } catch {
      return nil
    }
  }

  // MARK: Inferring

  /// Rewrites the store's tables for another version of its model.
  ///
  /// - Throws: A Cocoa error: 134140 when the change cannot be inferred, 134111 when objects violate a
  ///   uniqueness constraint, 134110 when SQLite refuses.
  func rewrite(from source: ModelSchema, to frozen: FrozenModel, _ model: NSManagedObjectModel) throws {
    do {
      try InferenceCheck.check(from: source, to: frozen.layout.schema)
    } catch let underlying as CocoaError {
      let reasons = underlying.userInfo[NSLocalizedFailureReasonErrorKey] as? String ?? ""
      throw _error(
        NSMigrationMissingMappingModelError, "cannot be migrated without a mapping of its own: \(reasons).",
        [NSUnderlyingErrorKey: underlying, "reason": reasons])
    }
    try _translating {
      let expected = try MappingBuilder.mapping(for: frozen.layout)
      try _connection.transaction {
        guard let present = try _metadataIfUnchanged() else { return }
        let layout = try ModelLayout(source)
        let binder = SchemaBinder(_connection, path: _url.path)
        let mapping = try binder.bind(
          MappingBuilder.mapping(for: layout, numbers: binder.numbers(for: layout)))
        try StoreMigration(_connection, at: _url.path, from: mapping, to: expected).run()
        let identifier = present[StoreMetadata.uuidKey] as? String ?? ""
        let version = StoreVersioning.metadata(for: frozen, model, identifier: identifier)
        try StoreMetadata.write(present.merging(version) { $1 }, to: _connection)
      }
    }
  }

  /// Rewrites the tables of a store that is not being opened, such as a copy.
  ///
  /// - Throws: As `rewrite(from:to:_:)`.
  static func rewriteCopy(
    at url: URL, metadata: [String: Any], options: [AnyHashable: Any]?, from source: ModelSchema,
    to model: NSManagedObjectModel
  ) throws {
    let connection = try StoreErrors.translating(url: url) {
      let settings = try SQLiteStoreOptions(options)
      let file = SQLiteStoreFile(url: url, timeout: settings.timeout)
      return try file.translating {
        let connection = try file.openForWriting()
        try SQLFunctions.register(on: connection)
        if let trace = settings.trace { connection.trace(showsValues: settings.tracesValues, trace) }
        return connection
      }
    }
    try AutomaticMigration(url: url, on: connection, metadata: metadata, options: options)
      .rewrite(from: source, to: try model.frozen(), model)
  }

  // MARK: By mapping model

  /// Migrates into a file beside the store, whose content then replaces the store's in one transaction.
  private func _migrate(
    from source: NSManagedObjectModel, to destination: NSManagedObjectModel, by mapping: NSMappingModel
  ) throws {
    try replaceAtomically { result in
      let manager = NSMigrationManager(sourceModel: source, destinationModel: destination)
      try manager.migrateStore(
        from: _url, sourceType: NSSQLiteStoreType, options: _options, with: mapping,
        toDestinationURL: result.url, destinationType: NSSQLiteStoreType, destinationOptions: _options)
      // What the program itself has put into the metadata stays. The UUID does not: objects have other keys
      // now.
      let own = _metadata.filter { !NSPersistentStore.formatKeys.contains($0.key) }
      let connection = try SQLiteStoreFile(url: result.url).openForWriting()
      let made = try StoreMetadata.read(connection, path: result.url.path)
      try connection.transaction { try StoreMetadata.write(own.merging(made) { $1 }, to: connection) }
    }
  }

  /// Has `body` make a store, and replaces the content of this one by it, as `StoreFiles` does.
  func replaceAtomically(_ body: (StoreFiles) throws -> Void) throws {
    try _translating {
      try StoreFiles(url: _url).replaceContent(
        on: _connection, ifNeeded: { try _metadataIfUnchanged() != nil }, by: body)
    }
  }

  /// The metadata, unless another process has migrated the store while this one waited.
  private func _metadataIfUnchanged() throws -> [String: Any]? {
    let present = try StoreMetadata.read(_connection, path: _url.path)
    return NSManagedObjectModel.versionHashes(in: present)
      == NSManagedObjectModel.versionHashes(in: _metadata)
      ? present : nil
  }

  /// Runs `body`; what SQLite and the store say comes out as Cocoa errors, what policies and handlers throw
  /// as it is.
  private func _translating(_ body: () throws -> Void) throws {
    do {
      try body()
    } catch let error as SQLiteError {
      // SQLITE_CONSTRAINT_UNIQUE: what a unique index says of rows that it cannot take.
      let isConstraint = error.code == 2067
      throw _error(
        isConstraint ? NSMigrationConstraintViolationError : NSMigrationError,
        isConstraint
          ? "has objects that are in the way of a uniqueness constraint: \(error). Remove all but one of them first."
          : "could not be migrated: \(error).", [NSUnderlyingErrorKey: error])
    } catch let error as MissingValuesError {
      throw _missingValues(error)
    } catch {
      throw StoreErrors.isOurs(error) ? StoreErrors.cocoa(error, _url) : error
    }
  }

  /// The keys are those of Core Data's error: what is missing stands in the underlying one.
  private func _missingValues(_ error: MissingValuesError) -> any Error {
    let cause = CocoaError.coreData(
      NSMigrationError, "\(error).",
      ["entity": error.entity, "attribute": error.attribute, "reason": MissingValuesError.reason])
    return _error(
      NSMigrationError,
      "could not be migrated: '\(error.entity).\(error.attribute)' is mandatory in the new version, has no default, and "
        + "there are objects without a value. Give it a default, make it optional, or add a mapping model.",
      [
        NSUnderlyingErrorKey: cause, "reason": "Cannot migrate store in-place: \(MissingValuesError.reason)",
        "sourceURL": _url, "destinationURL": _url,
      ])
  }

  private func _error(_ code: Int, _ what: String, _ info: [String: Any] = [:]) -> any Error {
    var info = info
    info[NSURLErrorKey] = _url
    info["metadata"] = _metadata
    return CocoaError.coreData(code, "The store at \(_url.path) \(what)", info)
  }
}
