import Foundation
import ModelSchema
import SQLiteBinding

/// Brings a SQLite store to a coordinator's model when it is added, as far as the change can be inferred.
///
/// The file is changed in one transaction: on failure it is what it was.
struct AutomaticMigration {
  private let _url: URL
  private let _metadata: [String: Any]
  private let _options: [AnyHashable: Any]?

  init(url: URL, metadata: [String: Any], options: [AnyHashable: Any]?) {
    _url = url
    _metadata = metadata
    _options = options
  }

  private func _flag(_ key: String) -> Bool { (_options?[key] as? NSNumber)?.boolValue ?? false }

  /// - Throws: A Cocoa error: 134110 for a store that may not be written, 134130 when the store's own version of the model is
  ///   nowhere to be found, 134140 when the change cannot be inferred, or may not be, 134111 when objects are in the way of a
  ///   uniqueness constraint.
  func run(to frozen: FrozenModel, _ model: NSManagedObjectModel) throws {
    guard !_flag(NSReadOnlyPersistentStoreOption) else {
      throw _error(
        NSMigrationError,
        "is of another version of the model, and is to be opened for reading only. Open it for "
          + "writing once, so that it can be migrated.")
    }
    let settings = try SQLiteStoreOpening.options(_options)
    let connection = try Connection(path: _url.path, mode: .readWrite, busyTimeout: settings.timeout)
    try SQLFunctions.register(on: connection)
    if let trace = settings.trace { connection.trace(showsValues: settings.tracesValues, trace) }
    let source = try _sourceModel(connection)
    guard _flag(NSInferMappingModelAutomaticallyOption) else {
      throw _error(
        NSMigrationMissingMappingModelError,
        "is of another version of the model, and no mapping may be inferred. Set NSInferMappingModelAutomaticallyOption."
      )
    }
    try _checkInferable(from: source, to: frozen.layout.schema)
    try _migrate(connection, from: source, to: frozen, model)
  }

  // MARK: The model that the store was saved with

  /// - Throws: A Cocoa error with code 134130.
  private func _sourceModel(_ connection: Connection) throws -> ModelSchema {
    if let model = NSManagedObjectModel.mergedModel(from: nil, forStoreMetadata: _metadata) {
      return ModelSchema(model)
    }
    // A store keeps a copy of its model.
    if let schema = try? ModelCache.read(connection, path: _url.path) {
      let hashes = schema.entityVersionHashes().mapValues { Data($0) }
      let wanted = NSManagedObjectModel.versionHashes(in: _metadata) ?? [:]
      if wanted.allSatisfy({ hashes[$0.key] == $0.value }) { return schema }
    }
    throw _error(
      NSMigrationMissingSourceModelError,
      "was saved with a version of the model that is in none of the program's bundles. Add that version to the model."
    )
  }

  // MARK: Inferring

  private func _checkInferable(from source: ModelSchema, to destination: ModelSchema) throws {
    let blocked = SchemaDiff(from: source, to: destination).changes.filter { $0.verdict == .blocked }
    guard !blocked.isEmpty else { return }
    let reasons = blocked.map { change in
      "\(change.property.map { "\(change.entity).\($0)" } ?? change.entity): \(change.what), \(change.why)"
    }.joined(separator: "; ")
    let underlying = CocoaError.coreData(
      NSInferredMappingModelError, "No mapping can be inferred: \(reasons).",
      [NSLocalizedFailureReasonErrorKey: reasons])
    throw _error(
      NSMigrationMissingMappingModelError, "cannot be migrated without a mapping of its own: \(reasons).",
      [NSUnderlyingErrorKey: underlying, "reason": reasons])
  }

  // MARK: Migrating

  private func _migrate(
    _ connection: Connection, from source: ModelSchema, to frozen: FrozenModel, _ model: NSManagedObjectModel
  ) throws {
    let expected = try MappingBuilder.mapping(for: frozen.layout)
    do {
      try connection.transaction {
        // Another process may have migrated it while this one waited.
        let present = try StoreMetadata.read(connection, path: _url.path)
        guard
          NSManagedObjectModel.versionHashes(in: present) == NSManagedObjectModel.versionHashes(in: _metadata)
        else {
          return
        }
        let layout = try ModelLayout(source)
        let binder = SchemaBinder(connection, path: _url.path)
        let mapping = try binder.bind(
          MappingBuilder.mapping(for: layout, numbers: binder.numbers(for: layout)))
        try StoreMigration(connection, from: mapping, to: expected).run()
        let identifier = present[StoreMetadata.uuidKey] as? String ?? ""
        let version = SQLiteStoreOpening.metadata(for: frozen, model, identifier: identifier)
        try StoreMetadata.write(present.merging(version) { $1 }, to: connection)
      }
    } catch let error as SQLiteError {
      // SQLITE_CONSTRAINT_UNIQUE: what a unique index says of rows that it cannot take.
      let isConstraint = error.code == 2067
      throw _error(
        isConstraint ? NSMigrationConstraintViolationError : NSMigrationError,
        isConstraint
          ? "has objects that are in the way of a uniqueness constraint: \(error). Remove all but one of them first."
          : "could not be migrated: \(error).", [NSUnderlyingErrorKey: error])
    }
  }

  private func _error(_ code: Int, _ what: String, _ info: [String: Any] = [:]) -> any Error {
    var info = info
    info[NSURLErrorKey] = _url
    info["metadata"] = _metadata
    return CocoaError.coreData(code, "The store at \(_url.path) \(what)", info)
  }
}
