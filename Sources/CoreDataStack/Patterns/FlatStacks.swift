import CoreData
import Foundation

/// One context on the main queue for everything: lists follow each insertion, update and deletion at once, saved or not.
///
/// A worker is the main context itself.
public final class SingleContextStack: ContextStack {
  public let coordinator: NSPersistentStoreCoordinator
  public let mainContext: NSManagedObjectContext

  /// Creates the stack over a coordinator that has its stores.
  public init(_ coordinator: NSPersistentStoreCoordinator) {
    self.coordinator = coordinator
    mainContext = .onMain(coordinator)
  }

  public func newWorkerContext() -> NSManagedObjectContext { mainContext }

  public func settle() async {}
}

/// One coordinator, a main-queue context, and workers as needed; whatever one saves is merged into all others.
///
/// Saves of other databases, and a context's own, are ignored.
public final class SharedCoordinatorStack: ContextStack {
  public let coordinator: NSPersistentStoreCoordinator
  public let mainContext: NSManagedObjectContext
  private let _merger: SaveMerger

  /// Creates the stack over a coordinator that has its stores.
  public init(_ coordinator: NSPersistentStoreCoordinator) {
    self.coordinator = coordinator
    mainContext = .onMain(coordinator)
    _merger = SaveMerger([coordinator])
    _merger.add(mainContext)
  }

  public func newWorkerContext() -> NSManagedObjectContext {
    let context = NSManagedObjectContext.onQueue(coordinator)
    _merger.add(context)
    return context
  }

  public func settle() async { await _merger.settle() }
}

/// Two coordinators on one file, main on one, workers on the other: they meet at the file's lock only.
public final class SharedStoreStack: ContextStack {
  /// How main learns of what workers save.
  public enum Propagation: Sendable, Hashable {
    /// Saves are merged, as over one coordinator.
    case merge
    /// Main forgets the values it has read, and `storeDidChange` is posted: fetch again. Cheaper for very large imports.
    case refetch
  }

  /// Posted on the main queue, with the stack's main context as object, after a worker's save with `Propagation.refetch`.
  public static let storeDidChange = Notification.Name("CoreDataStack.SharedStoreStack.storeDidChange")

  /// The coordinator of the workers.
  public let coordinator: NSPersistentStoreCoordinator
  /// The coordinator of the main context.
  public let mainCoordinator: NSPersistentStoreCoordinator
  public let mainContext: NSManagedObjectContext
  private let _merger: SaveMerger
  private let _workers: SaveMerger

  /// Creates the stack over two coordinators that have opened the same file.
  public init(
    _ mainCoordinator: NSPersistentStoreCoordinator, _ workerCoordinator: NSPersistentStoreCoordinator,
    propagation: Propagation = .merge
  ) {
    self.mainCoordinator = mainCoordinator
    coordinator = workerCoordinator
    mainContext = .onMain(mainCoordinator)
    switch propagation {
    case .merge: _merger = SaveMerger([workerCoordinator])
    case .refetch:
      mainContext.stalenessInterval = 0
      _merger = SaveMerger([workerCoordinator]) { context, _ in
        context.refreshAllObjects()
        NotificationCenter.default.post(name: SharedStoreStack.storeDidChange, object: context)
      }
    }
    _merger.add(mainContext)
    _workers = SaveMerger([mainCoordinator, workerCoordinator])
  }

  public func newWorkerContext() -> NSManagedObjectContext {
    let context = NSManagedObjectContext.onQueue(coordinator)
    _workers.add(context)
    return context
  }

  public func settle() async {
    await _merger.settle()
    await _workers.settle()
  }
}

extension NSManagedObjectContext {
  static func onMain(_ coordinator: NSPersistentStoreCoordinator) -> NSManagedObjectContext {
    let context = NSManagedObjectContext(concurrencyType: .mainQueueConcurrencyType)
    context.persistentStoreCoordinator = coordinator
    context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
    return context
  }

  static func onQueue(_ coordinator: NSPersistentStoreCoordinator) -> NSManagedObjectContext {
    let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = coordinator
    context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
    return context
  }

  static func child(
    of parent: NSManagedObjectContext,
    _ type: NSManagedObjectContextConcurrencyType = .privateQueueConcurrencyType
  ) -> NSManagedObjectContext {
    let context = NSManagedObjectContext(concurrencyType: type)
    context.parent = parent
    context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
    return context
  }
}
