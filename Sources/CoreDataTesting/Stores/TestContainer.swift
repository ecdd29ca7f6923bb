import CoreData
import Foundation

#if canImport(Darwin)
/// Counts what contexts ask of it.
final class CountingCoordinator: NSPersistentStoreCoordinator, @unchecked Sendable {
  // Unchecked: the count is guarded.
  let fetches = Guarded(0)

  override func execute(_ request: NSPersistentStoreRequest, with context: NSManagedObjectContext) throws
    -> Any
  {
    if request.requestType == .fetchRequestType { fetches.withLock { $0 += 1 } }
    return try super.execute(request, with: context)
  }
}

/// A container whose coordinator counts.
final class TestContainer: NSPersistentContainer, @unchecked Sendable {
  // Unchecked: immutable.
  private let _coordinator: CountingCoordinator
  private let _viewContext: NSManagedObjectContext

  override init(name: String, managedObjectModel model: NSManagedObjectModel) {
    _coordinator = CountingCoordinator(managedObjectModel: model)
    _viewContext = NSManagedObjectContext(concurrencyType: .mainQueueConcurrencyType)
    _viewContext.persistentStoreCoordinator = _coordinator
    super.init(name: name, managedObjectModel: model)
  }

  override var persistentStoreCoordinator: NSPersistentStoreCoordinator { _coordinator }

  override var viewContext: NSManagedObjectContext { _viewContext }

  override func newBackgroundContext() -> NSManagedObjectContext {
    let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = _coordinator
    return context
  }

  override func performBackgroundTask(_ block: @escaping (NSManagedObjectContext) -> Void) {
    let context = newBackgroundContext()
    context.perform { block(context) }
  }

  override func loadPersistentStores(
    completionHandler block: @escaping (NSPersistentStoreDescription, (any Error)?) -> Void
  ) {
    for description in persistentStoreDescriptions {
      _coordinator.addPersistentStore(with: description, completionHandler: block)
    }
  }

  static func make(name: String, managedObjectModel model: NSManagedObjectModel) -> NSPersistentContainer {
    TestContainer(name: name, managedObjectModel: model)
  }
}
#else
enum TestContainer {
  /// The coordinator counts by itself.
  static func make(name: String, managedObjectModel model: NSManagedObjectModel) -> NSPersistentContainer {
    NSPersistentContainer(name: name, managedObjectModel: model)
  }
}
#endif
