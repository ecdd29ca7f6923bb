import CoreData
import Foundation

/// A single main-queue context for everything: lists show each insertion, update and deletion immediately,
/// saved or not.
///
/// A worker is the main context itself.
///
/// ```swift
/// let stack = SingleContextStack(coordinator)
/// Book(context: stack.mainContext).title = "The Waves"
/// try await stack.save(stack.mainContext)
/// ```
public final class SingleContextStack: ContextStack {
  public let coordinator: NSPersistentStoreCoordinator
  public let mainContext: NSManagedObjectContext

  /// Creates the stack with a coordinator that has its stores.
  public init(_ coordinator: NSPersistentStoreCoordinator) {
    self.coordinator = coordinator
    mainContext = .onMain(coordinator)
  }

  public func newWorkerContext() -> NSManagedObjectContext { mainContext }

  public func waitUntilIdle() async {}
}

/// One coordinator, a main-queue context, and workers as needed; each save is merged into all others.
///
/// Saves of other databases, and a context's own, are ignored. Merges into main alternate with other work on
/// the main queue: before you rely on one, await `waitUntilIdle()`, or save with `save(_:progress:)`.
///
/// ```swift
/// let stack = SharedCoordinatorStack(coordinator)
/// try await stack.performWork { context in Book(context: context).title = "The Waves" }
/// let count = try stack.mainContext.count(for: Book.fetchRequest())
/// ```
public final class SharedCoordinatorStack: ContextStack {
  public let coordinator: NSPersistentStoreCoordinator
  public let mainContext: NSManagedObjectContext

  /// Creates the stack with a coordinator that has its stores.
  public init(_ coordinator: NSPersistentStoreCoordinator) {
    self.coordinator = coordinator
    mainContext = .onMain(coordinator)
    mainContext.automaticallyMergesChangesFromParent = true
  }

  public func newWorkerContext() -> NSManagedObjectContext { .merging(coordinator) }

  // A block finds merged what was saved before it was enqueued.
  public func waitUntilIdle() async { await mainContext.perform {} }
}

/// Two coordinators for one file, main on one, workers on the other: they share only the file's lock.
///
/// ```swift
/// let model = Bundle.main.managedObjectModel(name: "Library")
/// let stack = try await SharedStoreStack.open(model: model, at: storeURL, propagation: .history)
/// ```
public final class SharedStoreStack: ContextStack {
  /// The propagation of workers' saves to main.
  public enum Propagation: Sendable, Hashable {
    /// Saves are merged, as over one coordinator.
    case merge
    /// Main drops its cached values, and `storeDidChange` is posted: fetch again. Cheaper for very large
    /// imports.
    case refetch
    /// Main follows the store's persistent history, and therefore also sees writes of other processes; see
    /// `HistoryFollower`.
    case history
  }

  /// Posted on the main queue, with the stack's main context as object, after a worker's save with
  /// `Propagation.refetch`.
  public static let storeDidChange = Notification.Name("CoreDataStack.SharedStoreStack.storeDidChange")

  /// The coordinator of the workers.
  public let coordinator: NSPersistentStoreCoordinator
  /// The coordinator of the main context.
  public let mainCoordinator: NSPersistentStoreCoordinator
  public let mainContext: NSManagedObjectContext
  /// Merges workers' saves into main.
  private let _merger: SaveMerger?
  /// Merges main's saves into workers; those of workers are merged by Core Data.
  private let _workers: SaveMerger
  private let _follower: HistoryFollower?

  /// Creates the stack with two coordinators that have opened the same file. With `Propagation.history`,
  /// traps unless both opened it with `HistoryFollower.storeOptions`.
  public init(
    _ mainCoordinator: NSPersistentStoreCoordinator, _ workerCoordinator: NSPersistentStoreCoordinator,
    propagation: Propagation = .merge
  ) {
    self.mainCoordinator = mainCoordinator
    coordinator = workerCoordinator
    mainContext = .onMain(mainCoordinator)
    switch propagation {
    case .merge: (_merger, _follower) = (SaveMerger(workerCoordinator), nil)
    case .refetch:
      mainContext.stalenessInterval = 0
      _follower = nil
      _merger = SaveMerger(workerCoordinator) { context in
        context.refreshAllObjects()
        NotificationCenter.default.post(name: SharedStoreStack.storeDidChange, object: context)
      }
    case .history:
      _merger = nil
      do {
        _follower = try HistoryFollower(mainContext)
      } catch {
        preconditionFailure("\(error)")
      }
    }
    _merger?.add(mainContext)
    _workers = SaveMerger(mainCoordinator)
  }

  /// Opens a file twice and creates the stack.
  ///
  /// - Parameters:
  ///   - model: The model.
  ///   - url: The file; its directory is created if necessary.
  ///   - propagation: The propagation of workers' saves to main.
  ///   - progress: Gets one unit per coordinator; a migration advances the first gradually. A cancellation
  ///     prevents the creation of a stack.
  /// - Throws: Errors of adding the store; `CocoaError.userCancelled`.
  public static func open(
    model: NSManagedObjectModel, at url: URL, propagation: Propagation = .merge, progress: Progress? = nil
  ) async throws -> SharedStoreStack {
    let options =
      propagation == .history
      ? HistoryFollower.storeOptions : NSPersistentStoreCoordinator.stockSQLiteStoreOptions
    let steps = ProgressSteps(progress, count: 2)
    let main = try await StoreOpening.open(model, .file(url), options: options, steps)
    let worker = try await StoreOpening.open(model, .file(url), options: options, steps)
    return SharedStoreStack(main, worker, propagation: propagation)
  }

  public var coordinators: [NSPersistentStoreCoordinator] { [mainCoordinator, coordinator] }

  public func newWorkerContext() -> NSManagedObjectContext {
    let context = NSManagedObjectContext.merging(coordinator)
    _workers.add(context)
    return context
  }

  public func waitUntilIdle() async {
    await _merger?.waitUntilIdle()
    await _workers.waitUntilIdle()
    do {
      try await _follower?.catchUp()
    } catch {
      // Reported through the follower's `onFailure`; the next change retries.
      _follower?.onFailure?(error)
    }
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

  /// Returns a context for work that lasts: the saves of its siblings are merged into it.
  static func merging(_ coordinator: NSPersistentStoreCoordinator) -> NSManagedObjectContext {
    let context = onQueue(coordinator)
    context.automaticallyMergesChangesFromParent = true
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
