// A library from before Core Data's blocks returned values, which declares such methods itself.
import CoreData

extension NSManagedObjectContext {
  public func performAndWait<T>(_ block: () throws -> T) rethrows -> T {
    var value: T?
    let run: () throws -> Void = { value = try block() }
    try run()
    return value!
  }
}

extension NSPersistentStoreCoordinator {
  public func performAndWait<T>(_ block: () throws -> T) rethrows -> T { try block() }
}

extension NSPersistentContainer {
  public func performBackgroundTask<T: Sendable>(
    _ block: @escaping @Sendable (NSManagedObjectContext) throws -> T
  ) async rethrows -> T {
    try block(newBackgroundContext())
  }
}
