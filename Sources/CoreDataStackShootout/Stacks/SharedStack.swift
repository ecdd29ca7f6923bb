import CoreData

/// Main and the importing context as siblings on one coordinator; main merges the import's saves.
final class SharedStack: ImportStack {
  let main: NSManagedObjectContext
  let importing: NSManagedObjectContext
  private let _coordinator: NSPersistentStoreCoordinator
  private let _pending: PendingWork
  private let _observation: SaveObservation

  convenience init(_ coordinator: NSPersistentStoreCoordinator) {
    self.init(coordinator, coordinator.makeContext(.mainQueueConcurrencyType), PendingWork())
  }

  private init(
    _ coordinator: NSPersistentStoreCoordinator, _ main: NSManagedObjectContext, _ pending: PendingWork
  ) {
    (_coordinator, self.main, _pending) = (coordinator, main, pending)
    importing = coordinator.makeContext()
    _observation = SaveObservation(of: importing) { [main, pending] saved in
      pending.performInTurn(on: main) { main.mergeChanges(fromContextDidSave: saved.notification) }
    }
  }

  func save() throws { try importing.save() }

  func drain() throws { try _pending.wait() }

  func beside() -> any ImportStack { SharedStack(_coordinator, main, _pending) }

  func close() throws {
    _observation.end()
    try _coordinator.removeStores()
  }
}
