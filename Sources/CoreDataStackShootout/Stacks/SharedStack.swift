import CoreData

/// Main and the importing context as siblings on one coordinator; main merges the import's saves.
final class SharedStack: ImportStack {
  let main: NSManagedObjectContext
  let importing: NSManagedObjectContext
  private let _coordinator: NSPersistentStoreCoordinator
  private let _pending = PendingWork()
  private let _observation: SaveObservation

  init(_ coordinator: NSPersistentStoreCoordinator) {
    _coordinator = coordinator
    main = NSManagedObjectContext(concurrencyType: .mainQueueConcurrencyType)
    main.persistentStoreCoordinator = _coordinator
    importing = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    importing.persistentStoreCoordinator = _coordinator
    _observation = SaveObservation(of: importing) { [main, _pending] saved in
      _pending.performInTurn(on: main) { main.mergeChanges(fromContextDidSave: saved.notification) }
    }
  }

  func save() throws { try importing.save() }

  func drain() throws { try _pending.wait() }

  func close() throws {
    _observation.end()
    try _coordinator.removeStores()
  }
}
