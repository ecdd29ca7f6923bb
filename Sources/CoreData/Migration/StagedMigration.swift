import CoreDataModelSchema
import Foundation

/// Migrates a store to a coordinator's model through the stages of a manager.
///
/// Works on a copy, whose content finally replaces the store's in one transaction: if a step or handler
/// fails, or the program is killed, the store is unchanged.
package struct StagedMigration {
  private let _manager: NSStagedMigrationManager
  private let _store: any MigratingStore

  package init(_ manager: NSStagedMigrationManager, _ store: any MigratingStore) {
    _manager = manager
    _store = store
  }

  /// - Throws: A Cocoa error: 134110 for a read-only store, 134504 for a model that cannot be found or does
  ///   not match its reference, 134505 and 134506 for stages that do not lead to the model, 134140 for a step
  ///   that cannot be inferred; or an error of a handler.
  package func run(to destination: NSManagedObjectModel) throws {
    let hashes = NSManagedObjectModel.versionHashes(in: _store.metadata) ?? [:]
    let (path, start, versions) = try _path(of: hashes, to: destination)
    guard (_store.options?[NSReadOnlyPersistentStoreOption] as? NSNumber)?.boolValue != true else {
      throw CocoaError.coreData(
        NSMigrationError,
        "The store at \(_store.place) is of another version of the model, and is to be opened for reading only. Open it for writing "
          + "once, so that it can be migrated.", [NSURLErrorKey: _store.url])
    }
    let steps = try _resolved(path.steps, to: destination)
    guard let first = steps.first else { return }
    // Nil if another process has migrated the store.
    guard let source = try _model(of: start, versions, before: first) else { return }
    try _store.replaceContent { url in
      try _store.copy(to: url)
      var current = source
      for step in steps {
        try _perform(step, from: current, in: url)
        current = step.model
      }
    }
  }

  /// Finds the path by the checksums as they are; failing that, by those that earlier versions of this package
  /// gave to some versions, for which all models must be read.
  private func _path(
    of hashes: [String: Data], to destination: NSManagedObjectModel
  ) throws -> (StagedPath, start: String, StagedVersions) {
    do {
      let start = NSManagedObjectModel.checksum(hashes)
      let path = try StagedPath(_manager.stages, from: start, to: destination.versionChecksum)
      return (path, start, StagedVersions())
    } catch let error as CocoaError
      where error.code.rawValue == NSStagedMigrationFrameworkVersionMismatchError
    {
      let versions = StagedVersions(
        _manager.stages, to: destination, storeModel: try? _store.keptSchema())
      let start = versions.checksum(of: hashes)
      let path = try StagedPath(
        _manager.stages, from: start, to: destination.versionChecksum, versions: versions)
      return (path, start, versions)
    }
  }

  // MARK: Models

  private struct Step {
    let model: NSManagedObjectModel
    let stage: NSCustomMigrationStage?
  }

  /// Finds the models before anything is done. Skips an intermediate version that cannot be found; the next
  /// one is inferred from its predecessor.
  private func _resolved(_ steps: [StagedPath.Step], to destination: NSManagedObjectModel) throws -> [Step] {
    var resolved: [Step] = []
    for step in steps {
      if step.checksum == destination.versionChecksum {
        resolved.append(Step(model: destination, stage: step.stage))
      } else if let reference = step.model {
        resolved.append(Step(model: try Self._resolve(reference), stage: step.stage))
      } else if let model = _bundled(step.checksum) {
        resolved.append(Step(model: model, stage: nil))
      }
    }
    return resolved
  }

  /// Returns the store's model: a custom stage's, one of the program's, or the store's own copy.
  private func _model(
    of checksum: String, _ versions: StagedVersions, before step: Step
  ) throws -> NSManagedObjectModel? {
    for case let stage as NSCustomMigrationStage in _manager.stages {
      for reference in [stage.currentModel, stage.nextModel]
      where versions.present(reference.versionChecksum) == checksum {
        return try Self._resolve(reference)
      }
    }
    return try AutomaticMigration(_store).sourceModel()
  }

  private func _bundled(_ checksum: String) -> NSManagedObjectModel? {
    ModelSearch.models(in: nil).lazy.flatMap(ModelSearch.versions)
      .compactMap { NSManagedObjectModel(contentsOf: $0) }
      .first { $0.versionChecksum == checksum || $0.formerVersionChecksum == checksum }
  }

  private static func _resolve(_ reference: NSManagedObjectModelReference) throws -> NSManagedObjectModel {
    do {
      return try reference.resolve()
    } catch {
      throw CocoaError.coreData(
        NSManagedObjectModelReferenceNotFoundError,
        "A model that a stage refers to cannot be used: \(error)", [NSUnderlyingErrorKey: error])
    }
  }

  // MARK: Steps

  private func _perform(_ step: Step, from current: NSManagedObjectModel, in url: URL) throws {
    if let stage = step.stage, let handler = stage.willMigrateHandler {
      try _withContainer(current, url) { try handler(_manager, stage) }
    }
    let next = step.model.copy() as! NSManagedObjectModel
    do {
      try _store.rewriteCopy(at: url, from: ModelSchema(current), to: next)
    } catch let error as CocoaError {
      let label = step.stage?.label ?? "to the version \(step.model.versionChecksum)"
      throw CocoaError.coreData(
        error.code.rawValue, "The stage '\(label)' failed: \(error.debugText)",
        error.userInfo.merging([NSUnderlyingErrorKey: error]) { first, _ in first })
    }
    if let stage = step.stage, let handler = stage.didMigrateHandler {
      try _withContainer(step.model, url) { try handler(_manager, stage) }
    }
  }

  /// Runs a handler with the store loaded in a container of the manager.
  private func _withContainer(
    _ model: NSManagedObjectModel, _ url: URL, _ body: () throws -> Void
  ) throws {
    let container = NSPersistentContainer(name: "Migration", managedObjectModel: model)
    let description = NSPersistentStoreDescription(url: url)
    description.type = _store.type
    description.shouldMigrateStoreAutomatically = false
    for (key, value) in _store.options ?? [:] {
      guard let key = key.base as? String, key != NSPersistentStoreStagedMigrationManagerOptionKey,
        key != NSMigratePersistentStoresAutomaticallyOption, let value = value as? NSObject ?? _object(value)
      else { continue }
      description.setOption(value, forKey: key)
    }
    container.persistentStoreDescriptions = [description]
    var failure: (any Error)?
    container.loadPersistentStores { failure = $1 }
    if let failure { throw failure }
    _manager.container = container
    defer {
      _manager.container = nil
      for store in container.persistentStoreCoordinator.persistentStores {
        try? container.persistentStoreCoordinator.remove(store)
      }
    }
    try body()
  }

  private func _object(_ value: Any) -> NSObject? { (value as? Bool).map { NSNumber(value: $0) } }
}
