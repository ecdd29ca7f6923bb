import CoreDataModelSchema
import CoreDataSQLiteBinding
import Foundation

/// A SQLite store under migration, on the connection that opens it.
struct SQLiteMigratingStore: MigratingStore {
  let url: URL
  /// Writable, with the functions of `SQLFunctions`.
  let connection: Connection
  let metadata: [String: Any]
  let options: [AnyHashable: Any]?

  var type: String { NSSQLiteStoreType }
  var place: String { url.path }
  var isServed: Bool { false }

  func keepsWhatIsLeftOut(from source: ModelSchema, to frozen: FrozenModel) -> Bool { false }

  func keptSchema() throws -> ModelSchema? {
    do {
      return try ModelCache.read(connection, path: url.path)
    } catch let error as SQLiteError {
      throw StoreErrors.cocoa(StoreOpenError(error, path: url.path), url)
    } catch {
      return nil
    }
  }

  func metadataIfUnchanged() throws -> [String: Any]? {
    let present = try StoreMetadata.read(connection, path: url.path)
    return NSManagedObjectModel.versionHashes(in: present)
      == NSManagedObjectModel.versionHashes(in: metadata)
      ? present : nil
  }

  /// Rewrites the store's tables for another version of its model.
  ///
  /// - Throws: A Cocoa error: 134111 if objects violate a uniqueness constraint, 134110 for any other SQLite
  ///   error.
  func rewrite(from source: ModelSchema, to frozen: FrozenModel, _ model: NSManagedObjectModel) throws {
    try _translating {
      let expected = try MappingBuilder.mapping(for: frozen.layout)
      try connection.transaction {
        guard let present = try metadataIfUnchanged() else { return }
        let layout = try ModelLayout(source)
        let binder = SchemaBinder(connection, path: url.path)
        let mapping = try binder.bind(
          MappingBuilder.mapping(for: layout, numbers: binder.numbers(for: layout)))
        try StoreMigration(connection, at: url.path, from: mapping, to: expected).run()
        let identifier = present[StoreMetadata.uuidKey] as? String ?? ""
        let version = StoreVersioning.metadata(for: frozen, model, identifier: identifier)
        try StoreMetadata.write(present.merging(version) { $1 }, to: connection)
      }
    }
  }

  /// Rewrites the tables of a store that is not being opened, such as a copy.
  ///
  /// - Throws: As `rewrite(from:to:_:)`, and a Cocoa error with code 134140 if the mapping cannot be
  ///   inferred.
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
    let store = SQLiteMigratingStore(url: url, connection: connection, metadata: metadata, options: options)
    let frozen = try model.frozen()
    try store.checkInference(from: source, to: frozen.layout.schema)
    try store.rewrite(from: source, to: frozen, model)
  }

  func rewriteCopy(at url: URL, from source: ModelSchema, to model: NSManagedObjectModel) throws {
    try Self.rewriteCopy(
      at: url, metadata: SQLiteStoreKind().metadata(at: url, options: nil), options: options, from: source,
      to: model)
  }

  // MARK: Replacing content

  func replaceContent(_ body: (URL) throws -> Void) throws {
    try _translating {
      try StoreFiles(url: url).replaceContent(
        on: connection, ifNeeded: { try metadataIfUnchanged() != nil }, by: { try body($0.url) })
    }
  }

  func copy(to url: URL) throws { try StoreFiles(url: self.url).copy(to: StoreFiles(url: url)) }

  func addMetadata(_ own: [String: Any], at url: URL) throws {
    let connection = try SQLiteStoreFile(url: url).openForWriting()
    let made = try StoreMetadata.read(connection, path: url.path)
    try connection.transaction { try StoreMetadata.write(own.merging(made) { $1 }, to: connection) }
  }

  /// Runs `body` and translates SQLite and store errors to Cocoa errors; errors of policies and handlers pass
  /// unchanged.
  private func _translating(_ body: () throws -> Void) throws {
    do {
      try body()
    } catch let error as SQLiteError {
      // SQLITE_CONSTRAINT_UNIQUE, the code for rows rejected by a unique index.
      throw failure(error, isConstraint: error.code == 2067)
    } catch let error as MissingValuesError {
      throw failure(error)
    } catch {
      throw StoreErrors.isOurs(error) ? StoreErrors.cocoa(error, url) : error
    }
  }
}
