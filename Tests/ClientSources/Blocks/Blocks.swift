// A library from before Core Data's blocks returned values, which declares such methods itself.
import CoreData

extension NSManagedObjectContext {
  public func performAndWait<T>(_ block: () throws -> T) rethrows -> T { try block() }
}

extension NSPersistentStoreCoordinator {
  public func performAndWait<T>(_ block: () throws -> T) rethrows -> T { try block() }
}

extension NSPersistentContainer {
  @preconcurrency
  public func performBackgroundTask<T: Sendable>(
    _ block: @escaping @Sendable (NSManagedObjectContext) throws -> T
  ) async rethrows -> T {
    try block(newBackgroundContext())
  }
}
