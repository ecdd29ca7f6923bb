import Foundation

/// A step of a staged migration. Use one of its subclasses.
open class NSMigrationStage: NSObject {
  private var _label: String?

  /// The name of the stage, for messages; by default its class name, which nil restores.
  open var label: String! {
    get { _label ?? String(describing: type(of: self)) }
    set { _label = newValue }
  }

  public override init() { super.init() }
}

/// Consecutive versions of a model, each inferred from its predecessor.
///
/// ```swift
/// let stage = NSLightweightMigrationStage([oldModel.versionChecksum, newModel.versionChecksum])
/// stage.label = "Adds ratings"
/// ```
open class NSLightweightMigrationStage: NSMigrationStage {
  /// Checksums of the versions, oldest first (`NSManagedObjectModel.versionChecksum`).
  public let versionChecksums: [String]

  /// Creates a stage from the versions' checksums, oldest first.
  public init(_ checksums: [String]) {
    versionChecksums = checksums
    super.init()
  }
}

/// A step from one model version to the next, with custom work before and after it.
///
/// The step itself must be inferable: add the properties to fill in one version, and remove their sources in
/// the next.
///
/// ```swift
/// let stage = NSCustomMigrationStage(
///   migratingFrom: NSManagedObjectModelReference(
///     name: "Library", in: .main, versionChecksum: oldModel.versionChecksum),
///   to: NSManagedObjectModelReference(
///     name: "Library 2", in: .main, versionChecksum: newModel.versionChecksum))
/// stage.didMigrateHandler = { manager, _ in
///   guard let context = manager.container?.newBackgroundContext() else { return }
///   try context.performAndWait {
///     for book in try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Book")) {
///       book.setValue((book.value(forKey: "title") as? String)?.lowercased(), forKey: "sortTitle")
///     }
///     try context.save()
///   }
/// }
/// ```
open class NSCustomMigrationStage: NSMigrationStage {
  /// The version before the step.
  public let currentModel: NSManagedObjectModelReference
  /// The version after the step.
  public let nextModel: NSManagedObjectModelReference

  /// Called before the step, with the store loaded under ``currentModel`` in the manager's container. An
  /// error ends the migration.
  open var willMigrateHandler:
    ((_ migrationManager: NSStagedMigrationManager, _ migrationStage: NSCustomMigrationStage) throws -> Void)?

  /// Called after the step, with the store loaded under ``nextModel`` in the manager's container. An error
  /// ends the migration.
  open var didMigrateHandler:
    ((_ migrationManager: NSStagedMigrationManager, _ migrationStage: NSCustomMigrationStage) throws -> Void)?

  /// Creates a stage from one version to the next.
  public init(
    migratingFrom currentModel: NSManagedObjectModelReference, to nextModel: NSManagedObjectModelReference
  ) {
    self.currentModel = currentModel
    self.nextModel = nextModel
    super.init()
  }
}

/// Migrates stores through all versions of a model, one after the other.
///
/// Pass it as the option `NSPersistentStoreStagedMigrationManagerOptionKey`. For one migration at a time.
///
/// ```swift
/// let stages = [
///   NSLightweightMigrationStage([oldModel.versionChecksum]),
///   NSLightweightMigrationStage([newModel.versionChecksum]),
/// ]
/// description.setOption(
///   NSStagedMigrationManager(stages), forKey: NSPersistentStoreStagedMigrationManagerOptionKey)
/// ```
open class NSStagedMigrationManager: NSObject {
  /// The stages, oldest first; together they list every version ever shipped, once.
  public let stages: [NSMigrationStage]

  /// While a handler of a stage runs, a container with the store under the current model; nil otherwise.
  ///
  /// The store is a copy at another URL, which replaces the original once all stages are done. Save your
  /// changes; contexts of the container cannot be used after the handler.
  open internal(set) var container: NSPersistentContainer?

  /// Creates a manager from stages, oldest first.
  public init(_ stages: [NSMigrationStage]) {
    self.stages = stages
    super.init()
  }
}
