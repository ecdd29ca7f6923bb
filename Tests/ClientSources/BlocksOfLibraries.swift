// Calls of methods that both Core Data and a library declare: the library's own are meant.
import Blocks
import CoreData

func countWithLibrary(_ context: NSManagedObjectContext) throws -> Int {
  let request = NSFetchRequest<NSManagedObject>(entityName: "Shelf")
  let count = try context.performAndWait { () -> Int in try context.count(for: request) }
  context.performAndWait { context.reset() }
  return count + context.performAndWait { 3 }
}

func countWithLibrary(_ coordinator: NSPersistentStoreCoordinator) -> Int {
  coordinator.performAndWait { coordinator.persistentStores.count }
}

func countWithLibrary(_ container: NSPersistentContainer) async throws -> Int {
  let count = await container.performBackgroundTask { context in context.registeredObjects.count }
  return try await container.performBackgroundTask { context in
    try context.save(); return count
  }
}
