import CoreData
import Foundation
import Testing

@testable import CoreDataStacks

/// A class that does not name its entity.
final class Shelf: NSManagedObject {}

@Suite("The documented interface of the Big Nerd Ranch stack")
struct DocumentedInterfaceTests {
  private func _model() -> NSManagedObjectModel {
    let entity = NSEntityDescription()
    entity.name = "Shelf"
    entity.managedObjectClassName = NSStringFromClass(Shelf.self)
    let deep = NSEntityDescription()
    deep.name = "DeepShelf"
    let label = NSAttributeDescription()
    label.name = "label"
    label.attributeType = .stringAttributeType
    label.isOptional = true
    entity.properties = [label]
    entity.subentities = [deep]
    let model = NSManagedObjectModel()
    model.entities = [entity, deep]
    return model
  }

  @Test func `Callbacks have names, with and without the stack's`() {
    let setUp: SetupCallback = { (_: CoreDataStack.SetupResult) in }
    let reset: StoreResetCallback = { (_: CoreDataStack.ResetResult) in }
    let batch: BatchContextCallback = { (_: CoreDataStack.BatchContextResult) in }
    let saved: CoreDataStackSaveCompletion = { (_: CoreDataStack.SaveResult) in }
    let long: (CoreDataStackSetupCallback, CoreDataStackStoreResetCallback, CoreDataStackBatchMOCCallback)
    long = (setUp, reset, batch)
    saved(.success)
    long.1(.success)
  }

  @Test func `Stock options migrate automatically and use a WAL file`() {
    let options = NSPersistentStoreCoordinator.stockSQLiteStoreOptions
    #expect(options[NSMigratePersistentStoresAutomaticallyOption] as? Bool == true)
    #expect(options[NSInferMappingModelAutomaticallyOption] as? Bool == true)
    #expect(options[NSSQLitePragmasOption] as? [String: String] == ["journal_mode": "WAL"])
  }

  @Test func `performAndWaitOrThrow returns, rethrows and is reentrant`() throws {
    struct Refusal: Error {}
    let stack = try CoreDataStack.constructInMemoryStack(model: SampleBooks.model())
    let (context, coordinator) = (stack.privateQueueContext, stack.coordinator)
    let number = context.performAndWaitOrThrow { context.performAndWaitOrThrow { 42 } }
    #expect(number == 42)
    #expect(throws: Refusal.self) { try context.performAndWaitOrThrow { throw Refusal() } }
    let stores = coordinator.performAndWaitOrThrow {
      coordinator.performAndWaitOrThrow { coordinator.persistentStores.count }
    }
    #expect(stores == 1)
    #expect(throws: Refusal.self) { try coordinator.performAndWaitOrThrow { throw Refusal() } }
  }

  @Test func `Typed counts and removals leave subentities alone`() async throws {
    let stack = try CoreDataStack.constructInMemoryStack(model: _model())
    let context = stack.mainQueueContext
    try await context.perform {
      let shelves = ["c", "a", "b"].map { label in
        let shelf = Shelf(context: context)
        shelf.setValue(label, forKey: "label")
        return shelf
      }
      NSEntityDescription.insertNewObject(forEntityName: "DeepShelf", into: context).setValue(
        "d", forKey: "label")
      try context.save()
      let isA = NSPredicate(format: "label == 'a'")
      #expect(try Shelf.findFirstInContext(context, predicate: isA) == shelves[1])
      #expect(try Shelf.findFirstInContext(context, predicate: NSPredicate(format: "label == 'x'")) == nil)
      let order = [NSSortDescriptor(key: "label", ascending: true)]
      let plain = NSPredicate(format: "label != 'd'")
      #expect(
        try Shelf.allInContext(context, predicate: plain, sortDescriptors: order) == [
          shelves[1], shelves[2], shelves[0],
        ])
      #expect(try Shelf.countInContext(context) == 3)
      #expect(try Shelf.countInContext(context, predicate: isA) == 1)
      try Shelf.removeAllInContext(context, except: [shelves[0]])
      #expect(try Shelf.countInContext(context) == 1)
      try Shelf.removeAllInContext(context)
      #expect(try Shelf.countInContext(context) == 0)
      #expect(try context.count(for: NSFetchRequest<NSManagedObject>(entityName: "Shelf")) == 1)
      #expect(context.hasChanges)
    }
  }

  @Test func `A monitor of a class that is not the entity's traps`() async throws {
    let result = try #require(
      await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
        let stack = try CoreDataStack.constructInMemoryStack(model: SampleBooks.model())
        let entity = stack.coordinator.managedObjectModel.entitiesByName["Author"]!
        _ = EntityMonitor<Book>(context: stack.mainQueueContext, entity: entity)
      })
    let message = String(decoding: result.standardErrorContent, as: UTF8.self)
    #expect(message.contains("EntityMonitor of Book cannot watch entity 'Author'"))
  }

  @Test func `Destroying the store removes its side files`() async throws {
    let directory = try StoreDirectory()
    let stack = try await CoreDataStack.constructSQLiteStack(model: SampleBooks.model(), at: directory.store)
    let worker = stack.newChildContext()
    try await worker.perform {
      for number in 0..<100 { Author(managedObjectContext: worker).name = "\(number)" }
      try worker.save()
    }
    try await stack.resetStore()
    #expect(try directory.storedNames() == [])
    let files = try FileManager.default.contentsOfDirectory(atPath: directory.url.path)
    #expect(Set(files).isSubset(of: ["Store.sqlite", "Store.sqlite-wal", "Store.sqlite-shm"]))
  }
}
