import CoreDataModelSchema
import Foundation

/// Migrates a store to a coordinator's model when it is added: with a mapping model of the program, or else
/// as far as a mapping can be inferred.
///
/// The store changes in one transaction; a failure leaves it unchanged.
package struct AutomaticMigration {
  private let _store: any MigratingStore

  package init(_ store: any MigratingStore) { _store = store }

  private func _flag(_ key: String) -> Bool { (_store.options?[key] as? NSNumber)?.boolValue ?? false }

  /// - Throws: A Cocoa error: 134110 for a read-only store, 134130 if the store's own version of the model
  ///   cannot be found, or only in the store and the migration would lose data, 134140 if there is no mapping model and the mapping cannot be inferred, or must not
  ///   be, 134111 if objects violate a uniqueness constraint; and any error of a migration by mapping model.
  package func run(to frozen: FrozenModel, _ model: NSManagedObjectModel) throws {
    guard !_flag(NSReadOnlyPersistentStoreOption) else {
      throw _store.failure(
        NSMigrationError,
        "is of another version of the model, and is to be opened for reading only. Open it for "
          + "writing once, so that it can be migrated.")
    }
    let known = _programModel()
    guard let source = try known ?? _keptModel() else { return }
    if let mapping = NSMappingModel(from: nil, forSourceModel: source, destinationModel: model) {
      return try _migrate(from: source, to: model, by: mapping)
    }
    guard _flag(NSInferMappingModelAutomaticallyOption) else {
      throw _store.failure(
        NSMigrationMissingMappingModelError,
        "is of another version of the model; there is no mapping model for the two in the program's bundles, and none may be "
          + "inferred. Set NSInferMappingModelAutomaticallyOption, or add a mapping model."
      )
    }
    try _store.checkInference(from: ModelSchema(source), to: frozen.layout.schema)
    if known == nil { try _checkLoss(from: ModelSchema(source), to: frozen) }
    try _store.rewrite(from: ModelSchema(source), to: frozen, model)
  }

  // MARK: Source model

  /// Returns the program's model with which the store was saved, or else the store's own copy. Nil if another
  /// process has migrated the store since its metadata was read.
  ///
  /// - Throws: A Cocoa error with code 134130, or an error of reading the store.
  func sourceModel() throws -> NSManagedObjectModel? { try _programModel() ?? _keptModel() }

  /// The model in the program's bundles with which the store was saved.
  private func _programModel() -> NSManagedObjectModel? {
    NSManagedObjectModel.mergedModel(from: nil, forStoreMetadata: _store.metadata)
  }

  /// The store's own copy of the model with which it was saved. Nil if another process has migrated the store
  /// since its metadata was read.
  private func _keptModel() throws -> NSManagedObjectModel? {
    if let schema = try _store.keptSchema() {
      let wanted = NSManagedObjectModel.versionHashes(in: _store.metadata) ?? [:]
      if let model = try? NSManagedObjectModel(schema: schema),
        wanted.allSatisfy({ model.recognizes($0.value, of: $0.key) })
      {
        return model
      }
    }
    // The copy may be of a version to which another process has just migrated the store.
    guard try StoreErrors.translating(url: _store.url, { try _store.metadataIfUnchanged() }) != nil else {
      return nil
    }
    throw _store.failure(
      NSMigrationMissingSourceModelError,
      "was saved with a version of the model that is in none of the program's bundles. Add that version to the model."
    )
  }

  /// Refuses to lose data on the way from a version that the program does not know. It may be a newer one, and
  /// this the old program that was started again.
  private func _checkLoss(from source: ModelSchema, to frozen: FrozenModel) throws {
    let mayLose = _flag(StoreOptions.lossFromKeptModel)
    if mayLose, !_store.isServed { return }
    let lost = SchemaDiff(from: source, to: frozen.layout.schema).changes.filter { $0.verdict == .loses }
    guard let first = lost.first else { return }
    if mayLose, try _store.keepsWhatIsLeftOut(from: source, to: frozen) { return }
    let what = lost.map { "\($0.subject): \($0.what)" }.joined(separator: "; ")
    var info: [String: Any] = [NSLocalizedFailureReasonErrorKey: what, "entity": first.entity]
    info["property"] = first.property
    throw _store.failure(
      NSMigrationMissingSourceModelError,
      "was saved with a version of the model that is in none of the program's bundles, and a migration from the store's own "
        + "copy of it would lose data (\(what)). If that version is newer, start the newer program; if it is older, add it to "
        + "the model.", info)
  }

  // MARK: By mapping model

  /// Migrates into a store beside this one, whose content then replaces this one's in one transaction.
  private func _migrate(
    from source: NSManagedObjectModel, to destination: NSManagedObjectModel, by mapping: NSMappingModel
  ) throws {
    try _store.replaceContent { url in
      let manager = NSMigrationManager(sourceModel: source, destinationModel: destination)
      try manager.migrateStore(
        from: _store.url, sourceType: _store.type, options: _store.options, with: mapping,
        toDestinationURL: url, destinationType: _store.type, destinationOptions: _store.options)
      // Keep the program's own metadata, but not the UUID: objects have new keys.
      try _store.addMetadata(
        _store.metadata.filter { !NSPersistentStore.formatKeys.contains($0.key) }, at: url)
    }
  }
}
