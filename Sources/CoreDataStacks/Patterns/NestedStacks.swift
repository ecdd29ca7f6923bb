import CoreData
import Foundation

/// Two levels: the main context on the store, with workers as its children. A worker's save goes through main
/// to the store.
///
/// ```swift
/// let stack = NestedStack(coordinator)
/// try await stack.performWork { context in Book(context: context).title = "The Waves" }
/// ```
public final class NestedStack: ContextStack {
  public let coordinator: NSPersistentStoreCoordinator
  public let mainContext: NSManagedObjectContext
  private let _carrier = SaveCarrier()

  /// Creates the stack with a coordinator that has its stores.
  public init(_ coordinator: NSPersistentStoreCoordinator) {
    self.coordinator = coordinator
    mainContext = .onMain(coordinator)
  }

  public func newWorkerContext() -> NSManagedObjectContext {
    let context = NSManagedObjectContext.child(of: mainContext)
    _carrier.watch(context)
    return context
  }

  public func waitUntilIdle() async { await _carrier.waitUntilIdle() }
}

/// Three levels: a private writer on the store, main as its child, workers as children of main. Each save
/// triggers the save of its parent, up to the writer. The main queue never writes to disk.
///
/// ```swift
/// let stack = WriterMainWorkerStack(coordinator)
/// try await stack.performWork { context in
///   for record in records { Book(context: context).title = record.title }
/// }
/// let books = try stack.mainContext.fetch(Book.fetchRequest())
/// ```
public final class WriterMainWorkerStack: ContextStack {
  public let coordinator: NSPersistentStoreCoordinator
  /// The only context on the coordinator. Do not modify objects in it.
  public let writerContext: NSManagedObjectContext
  public let mainContext: NSManagedObjectContext
  private let _carrier = SaveCarrier()

  /// Creates the stack with a coordinator that has its stores.
  public init(_ coordinator: NSPersistentStoreCoordinator) {
    self.coordinator = coordinator
    writerContext = .onQueue(coordinator)
    writerContext.name = "Writer"
    mainContext = .child(of: writerContext, .mainQueueConcurrencyType)
    _carrier.watch(mainContext)
  }

  public var keptContexts: [NSManagedObjectContext] { [mainContext, writerContext] }

  public func newWorkerContext() -> NSManagedObjectContext {
    let context = NSManagedObjectContext.child(of: mainContext)
    _carrier.watch(context)
    return context
  }

  public func waitUntilIdle() async { await _carrier.waitUntilIdle() }
}
