import CoreData

/// Main on the store, the importing context its child.
///
/// Each save of the child is followed by one of main, on the main queue: the disk is written there.
struct Nested2Stack: ImportStack {
  let main: NSManagedObjectContext
  private(set) var importing: NSManagedObjectContext
  private let _coordinator: NSPersistentStoreCoordinator
  private let _pending = PendingWork()

  init(_ coordinator: NSPersistentStoreCoordinator) {
    _coordinator = coordinator
    main = coordinator.makeContext(.mainQueueConcurrencyType)
    importing = main.makeChild()
  }

  func save() throws {
    try importing.save()
    _pending.perform(on: main) { [main] in try main.save() }
  }

  func drain() throws { try _pending.wait() }

  func beside() -> any ImportStack {
    var other = self
    other.importing = main.makeChild()
    return other
  }

  func close() throws { try _coordinator.removeStores() }
}
