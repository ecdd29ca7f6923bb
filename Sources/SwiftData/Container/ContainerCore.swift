import CoreData
import Synchronization

/// The stores of a container. Contexts retain it, so that they keep working after the container is
/// deallocated.
///
/// Any thread.
final class ContainerCore: @unchecked Sendable {
  // Unchecked: immutable except `_mailboxes`, which a lock guards.

  let schema: Schema
  let migrationPlan: (any SchemaMigrationPlan.Type)?
  let configurations: [ModelConfiguration]
  let coordinator: NSPersistentStoreCoordinator
  let bindings: SchemaBinding
  let shapes = PredicateShapes()
  /// The custom stores.
  let customStores: [CustomStore]
  /// The contexts that receive each other's saves.
  private let _mailboxes = Mutex<[WeakMailbox]>([])

  init(
    _ schema: Schema, _ migrationPlan: (any SchemaMigrationPlan.Type)?,
    _ configurations: [ModelConfiguration], customStores: [CustomStore] = []
  ) throws {
    self.schema = schema
    self.migrationPlan = migrationPlan
    self.configurations = configurations
    self.customStores = customStores
    let parts = try StoreParts.of(configurations, schema)
    let model = try schema.managedModel(
      configurations: parts.map { ($0.configuration.name, $0.entities) }
        + customStores.map { ($0.name, $0.entities) })
    coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    for store in customStores { try SnapshotStore.add(store, to: coordinator) }
    for part in parts {
      do {
        if let migrationPlan, !part.configuration.isStoredInMemoryOnly {
          try MigrationRun(migrationPlan, to: schema, part.configuration).migrate()
        }
        try part.add(to: coordinator)
      } catch let error as SwiftDataError {
        throw error
      } catch {
        Console.warn("the store at \(part.configuration.url.path) can't be opened: \(error)")
        throw SwiftDataError(
          .loadIssueModelContainer, "The store at \(part.configuration.url.path) can't be opened: \(error)")
      }
    }
    bindings = SchemaBinding(model, schema)
    connectSnapshotTables()
  }

  /// Returns the custom store of an entity; nil for an entity in one of the engine's stores.
  func customStore(of entity: String) -> CustomStore? {
    customStores.isEmpty ? nil : customStores.first { $0.entities.contains(entity) }
  }

  // MARK: Notifications

  /// Registers a context to receive the saves of others.
  ///
  /// - Parameter mergesSaves: Whether the engine merges saves into the context, which then only learns what the engine does not
  ///   tell: rows that were deleted without an object.
  func connect(_ mailbox: ContextMailbox, mergesSaves: Bool) {
    _mailboxes.withLock { known in
      known.removeAll { $0.mailbox == nil }
      known.append(WeakMailbox(mailbox: mailbox, takesSaves: !mergesSaves))
    }
  }

  /// Delivers a save to all contexts except the saving one.
  func deliver(_ news: [AnyHashable: Any], from sender: ContextMailbox) {
    let receivers = _mailboxes.withLock { $0.compactMap { $0.takesSaves ? $0.mailbox : nil } }
    let save = SavedNews(news)
    for mailbox in receivers where mailbox !== sender { mailbox.put(save) }
  }

  /// Delivers the deletion of rows to all contexts except the saving one.
  func deliver(deletionsOf rows: [KeyRun], from sender: ContextMailbox) {
    let receivers = _mailboxes.withLock { $0.compactMap(\.mailbox) }
    let save = SavedNews(deletionsOf: rows)
    for mailbox in receivers where mailbox !== sender { mailbox.put(save) }
  }

  /// Makes all contexts reread their models after rows were deleted directly.
  func deliverReset() {
    let receivers = _mailboxes.withLock { $0.compactMap(\.mailbox) }
    for mailbox in receivers { mailbox.putReset() }
  }
}

private struct WeakMailbox {
  weak var mailbox: ContextMailbox?
  let takesSaves: Bool
}
