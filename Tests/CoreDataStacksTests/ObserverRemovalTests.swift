import CoreData
import CoreDataStacks
import Foundation
import TestSupport
import Testing

/// Stacks and followers that the notification center lets go when it removes an observer.
@Suite struct ObserverRemovalTests {
  private let _directory: StoreDirectory
  private let _coordinator: NSPersistentStoreCoordinator

  init() throws {
    _directory = try StoreDirectory()
    _coordinator = NSPersistentStoreCoordinator(managedObjectModel: SampleBooks.model())
    try _coordinator.addPersistentStore(
      ofType: NSSQLiteStoreType, configurationName: nil, at: _directory.store,
      options: HistoryFollower.storeOptions)
  }

  private func _context() -> NSManagedObjectContext {
    let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = _coordinator
    return context
  }

  @Test func `a nested stack can be let go by an observer that is removed`() {
    #expect(ObserverBlock.letsGo { NestedStack(_coordinator) })
  }

  @Test func `a stack of a writer, main and workers can be let go by an observer that is removed`() {
    #expect(ObserverBlock.letsGo { WriterMainWorkerStack(_coordinator) })
  }

  @Test func `a history follower can be let go by an observer that is removed`() throws {
    let context = _context()
    try #expect(ObserverBlock.letsGo { try HistoryFollower(context) })
  }

  @Test func `a monitor can be let go by an observer that is removed`() throws {
    let context = _context()
    let entity = try #require(_coordinator.managedObjectModel.entitiesByName["Book"])
    #expect(ObserverBlock.letsGo { EntityMonitor<Book>(context: context, entity: entity) })
  }
}
