import Foundation

/// A step of a staged migration. Make one of its subclasses.
open class NSMigrationStage: NSObject {
  private var _label: String?

  /// Name of the stage, for messages; unless set, that of its class. Nil sets it back.
  open var label: String! {
    get { _label ?? String(describing: type(of: self)) }
    set { _label = newValue }
  }

  public override init() { super.init() }
}

/// Versions of a model that follow one another, each to be inferred from the one before.
///
/// ```swift
/// let stage = NSLightweightMigrationStage([oldModel.versionChecksum, newModel.versionChecksum])
/// stage.label = "Adds ratings"
/// ```
open class NSLightweightMigrationStage: NSMigrationStage {
  /// Checksums of the versions, the oldest first (`NSManagedObjectModel.versionChecksum`).
  public let versionChecksums: [String]

  /// Creates a stage of versions, the oldest first, by their checksums.
  public init(_ checksums: [String]) {
    versionChecksums = checksums
    super.init()
  }
}

/// A step from one version of a model to the next with the program's own work before and after it.
///
/// The step itself must be one that can be inferred: add what is to be filled in one version, and remove what
/// it is filled from in the next.
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
  /// The version after it.
  public let nextModel: NSManagedObjectModelReference

  /// Called before the step, with the store loaded under ``currentModel`` in the manager's container. What it
  /// throws ends the migration.
  open var willMigrateHandler:
    ((_ migrationManager: NSStagedMigrationManager, _ migrationStage: NSCustomMigrationStage) throws -> Void)?

  /// Called after the step, with the store loaded under ``nextModel`` in the manager's container. What it
  /// throws ends the migration.
  open var didMigrateHandler:
    ((_ migrationManager: NSStagedMigrationManager, _ migrationStage: NSCustomMigrationStage) throws -> Void)?

  /// Creates a stage that leads from one version to the next.
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
/// Pass it as the option `NSPersistentStoreStagedMigrationManagerOptionKey`. Used by one migration at a time.
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
  /// The stages, the oldest first: together they name every version that was ever shipped, once.
  public let stages: [NSMigrationStage]

  /// While a handler of a stage runs, a container with the store under the model in force; nil otherwise.
  ///
  /// The store is a copy which takes the place of the original when all stages are done, so it has another
  /// URL. Save what you change; contexts of the container cannot be used after the handler.
  open internal(set) var container: NSPersistentContainer?

  /// Creates a manager of stages, the oldest first.
  public init(_ stages: [NSMigrationStage]) {
    self.stages = stages
    super.init()
  }
}
