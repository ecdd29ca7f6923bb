import CoreData
import CoreDataModelSchema
import CoreDataSQLiteBinding
import CoreDataStoreTools
import CoreDataToolKit
import Foundation

/// The store that the explorer shows, and state that all pages share.
final class ExploredStore: @unchecked Sendable {
  // Unchecked: nothing is written after `init`; the metadata are immutable property-list values.
  let path: String
  /// The name in pages and messages.
  let name: String
  let metadata: [String: Any]
  let model: StoreModel
  let layout: ModelLayout
  let labels: EntityLabels
  let contents: ContentDescriptions
  let limits: ExplorerLimits
  let readers: ReaderPool
  let clock = ChangeClock()
  let numbers: StoreNumbers
  let health = StoreHealth()
  let exports: Places
  let searches: Places
  let followers: Places
  let coordinator: NSPersistentStoreCoordinator
  let identifier: String
  /// Warnings from opening the store, shown on every page.
  let warnings: [String]
  /// The store that this one is compared with, and whether the same objects have the same keys in both.
  let compared: StoreInput?
  let sharesKeys: Bool
  private let _input: StoreInput
  /// A connection that may write, kept while the store is edited: pages then read beside it, and not in its way.
  private let _writer: Connection?

  /// Opens a store read-only.
  ///
  /// - Parameters:
  ///   - other: A store to compare it with; nil for none.
  ///   - isEdited: Whether a session of this process will write to it.
  /// - Throws: `ToolFailure`.
  init(
    path: String, model modelPath: String?, against other: String? = nil, isEdited: Bool = false,
    limits: ExplorerLimits, _ environment: ToolEnvironment
  ) throws(ToolFailure) {
    let input = try StoreInput(path, model: modelPath, environment)
    let compared: StoreInput?
    if let other { compared = try StoreInput(other, model: nil, environment) } else { compared = nil }
    self.compared = compared
    sharesKeys = compared.map { DiffKeys.areShared($0, input) } ?? false
    _input = input
    // If that fails, so does the session, which says why.
    _writer = isEdited ? try? Connection(path: input.path, mode: .readWrite) : nil
    self.path = input.path
    name = input.name
    metadata = input.metadata
    model = input.model
    self.limits = limits
    contents = ContentDescriptions(environment)
    exports = Places(
      limits.exports,
      refusal:
        "The limit of exports at a time (\(limits.exports)) is reached. Wait for one to end, and try again.")
    searches = Places(
      limits.searches,
      refusal:
        "The limit of searches at a time (\(limits.searches)) is reached. Wait for one to end, and try again."
    )
    followers = Places(
      limits.followers,
      refusal:
        "The limit of pages that follow the store (\(limits.followers)) is reached. Close one, or stop it with its 'Live' button."
    )
    var warnings: [String] = []
    if let differences = model.differences {
      warnings.append(
        "The store was written with another version of this model (\(differences)); read as far as it fits.")
    }
    if !model.isExact { warnings.append("The store holds no model: this one is \(model.origin).") }
    self.warnings = warnings
    do {
      let schema = model.schema
      layout = try ModelLayout(schema)
      // Opened once now, so that errors appear in the terminal.
      let reader = try StoreReader(path: input.path, model: schema)
      labels = EntityLabels(layout)
      reader.close()
      readers = ReaderPool(path: input.path, model: schema)
      numbers = StoreNumbers(readers, clock)
      coordinator = NSPersistentStoreCoordinator(
        managedObjectModel: try StoreFileFacts.managedObjectModel(schema))
      let store = try coordinator.addPersistentStore(
        ofType: NSSQLiteStoreType, configurationName: nil, at: URL(fileURLWithPath: input.path),
        options: [
          NSReadOnlyPersistentStoreOption: true, NSIgnorePersistentStoreVersioningOption: true,
          NSPersistentStoreTimeoutOption: 5.0,
        ])
      identifier = store.identifier ?? ""
    } catch {
      throw StoreInput.failure(error, input.path)
    }
    clock.follow(input.path)
  }

  /// A context for one request.
  func context() -> NSManagedObjectContext {
    let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = coordinator
    return context
  }

  /// Returns the entity of this name; nil if the model lacks it.
  func entity(_ name: String?) -> PropertyLayout? { name.flatMap { layout.layoutsByName[$0] } }

  /// The engine's ID of a row.
  func objectID(_ entity: String, _ key: Int64) -> NSManagedObjectID? {
    coordinator.persistentStores.first.flatMap { coordinator.managedObjectID(entity, key, in: $0) }
  }
}
