import CoreDataModelSchema
import Foundation

/// Brings a store to a coordinator's model when it is added: by a mapping model among the program's, or else as far as the
/// change can be inferred.
///
/// The store is changed in one transaction: on failure it is what it was.
package struct AutomaticMigration {
  private let _store: any MigratingStore

  package init(_ store: any MigratingStore) { _store = store }

  private func _flag(_ key: String) -> Bool { (_store.options?[key] as? NSNumber)?.boolValue ?? false }

  /// - Throws: A Cocoa error: 134110 for a store that may not be written, 134130 when the store's own version
  ///   of the model is nowhere to be found, 134140 when there is no mapping model and the change cannot be
  ///   inferred, or may not be, 134111 when objects violate a uniqueness constraint; and what a migration by
  ///   mapping model throws.
  package func run(to frozen: FrozenModel, _ model: NSManagedObjectModel) throws {
    guard !_flag(NSReadOnlyPersistentStoreOption) else {
      throw _store.failure(
        NSMigrationError,
        "is of another version of the model, and is to be opened for reading only. Open it for "
          + "writing once, so that it can be migrated.")
    }
    guard let source = try sourceModel() else { return }
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
    try _store.rewrite(from: ModelSchema(source), to: frozen, model)
  }

  // MARK: The model that the store was saved with

  /// The model among the program's whose entities the store was saved with, or else the copy that the store
  /// keeps. Nil when another process has migrated the store since its metadata was read.
  ///
  /// - Throws: A Cocoa error with code 134130, or what reading the store throws.
  func sourceModel() throws -> NSManagedObjectModel? {
    if let model = NSManagedObjectModel.mergedModel(from: nil, forStoreMetadata: _store.metadata) {
      return model
    }
    // A store keeps a copy of its model.
    if let schema = try _store.keptSchema() {
      let hashes = schema.entityVersionHashes().mapValues { Data($0) }
      let wanted = NSManagedObjectModel.versionHashes(in: _store.metadata) ?? [:]
      if wanted.allSatisfy({ hashes[$0.key] == $0.value }),
        let model = try? NSManagedObjectModel(schema: schema)
      {
        return model
      }
    }
    // The copy may be of the version that another process has migrated the store to.
    guard try StoreErrors.translating(url: _store.url, { try _store.metadataIfUnchanged() }) != nil else {
      return nil
    }
    throw _store.failure(
      NSMigrationMissingSourceModelError,
      "was saved with a version of the model that is in none of the program's bundles. Add that version to the model."
    )
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
      // What the program itself has put into the metadata stays. The UUID does not: objects have other keys
      // now.
      try _store.addMetadata(
        _store.metadata.filter { !NSPersistentStore.formatKeys.contains($0.key) }, at: url)
    }
  }
}
