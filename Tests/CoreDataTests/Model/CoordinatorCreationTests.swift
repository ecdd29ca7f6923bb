import CoreData
import Foundation
import Testing

extension NSPersistentStoreCoordinator {
  fileprivate static func inMemory(_ model: NSManagedObjectModel) throws -> Self {
    let coordinator = self.init(managedObjectModel: model)
    try coordinator.addPersistentStore(type: .inMemory, at: URL(fileURLWithPath: "/dev/null"))
    return coordinator
  }

  fileprivate convenience init(named name: String, _ model: NSManagedObjectModel) {
    self.init(managedObjectModel: model)
    self.name = name
  }
}

/// Counts what it is told, and initializes in its own way.
private final class CountingCoordinator: NSPersistentStoreCoordinator, @unchecked Sendable {
  // Unchecked: used by one test.
  let number: Int
  var added = 0

  override init(managedObjectModel model: NSManagedObjectModel) {
    number = 42
    super.init(managedObjectModel: model)
  }

  override func addPersistentStore(
    ofType storeType: String, configurationName configuration: String?, at storeURL: URL?,
    options: [AnyHashable: Any]? = nil
  ) throws -> NSPersistentStore {
    added += 1
    return try super.addPersistentStore(
      ofType: storeType, configurationName: configuration, at: storeURL, options: options)
  }
}

/// Coordinators that extensions create.
@Suite struct CoordinatorCreationTests {
  @Test func `a static method of an extension creates a coordinator`() throws {
    let coordinator = try NSPersistentStoreCoordinator.inMemory(LibraryModel.make())
    #expect(coordinator.persistentStores.count == 1)
  }

  @Test func `a static method of an extension creates a subclass through its own initializer`() throws {
    let coordinator = try CountingCoordinator.inMemory(LibraryModel.make())
    #expect(type(of: coordinator) == CountingCoordinator.self)
    #expect(coordinator.number == 42)
    #expect(coordinator.added == 1)
    #expect(coordinator.managedObjectModel.entitiesByName["Book"] != nil)
  }

  @Test func `a convenience initializer of an extension creates a coordinator`() {
    #expect(NSPersistentStoreCoordinator(named: "library", LibraryModel.make()).name == "library")
  }
}
