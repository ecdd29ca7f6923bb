import CoreData

/// Everything in the main context: the design to avoid.
struct MainStack: ImportStack {
  let main: NSManagedObjectContext
  var importing: NSManagedObjectContext { main }
  private let _coordinator: NSPersistentStoreCoordinator

  init(_ coordinator: NSPersistentStoreCoordinator) {
    _coordinator = coordinator
    main = coordinator.makeContext(.mainQueueConcurrencyType)
  }

  func save() throws { try main.save() }

  func drain() throws {}

  func beside() -> any ImportStack { self }

  func close() throws { try _coordinator.removeStores() }
}
