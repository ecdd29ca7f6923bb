import CoreData
import Foundation

/// Called when a stack has been set up.
public typealias CoreDataStackSetupCallback = @Sendable (CoreDataStack.SetupResult) -> Void
/// Called when a store has been reset.
public typealias CoreDataStackStoreResetCallback = @Sendable (CoreDataStack.ResetResult) -> Void
/// Called when a batch operation context has been set up.
public typealias CoreDataStackBatchMOCCallback = @Sendable (CoreDataStack.BatchContextResult) -> Void

/// Alias of `CoreDataStackSetupCallback`.
public typealias SetupCallback = CoreDataStackSetupCallback
/// Alias of `CoreDataStackStoreResetCallback`.
public typealias StoreResetCallback = CoreDataStackStoreResetCallback
/// Alias of `CoreDataStackBatchMOCCallback`.
public typealias BatchContextCallback = CoreDataStackBatchMOCCallback

/// The Big Nerd Ranch Core Data stack: a private context that writes, a main-queue context for the user
/// interface below it, and workers below that. Every save propagates up to the store.
///
/// May be used from any thread; contexts only on their queues. Created by `constructSQLiteStack` and
/// `constructInMemoryStack`.
///
/// ```swift
/// let stack = try await CoreDataStack.constructSQLiteStack(modelName: "Library")
/// let worker = stack.newChildContext(name: "import")
/// try await worker.perform {
///   for record in records { Book(context: worker).title = record.title }
///   try worker.save()  // is carried on to the store
/// }
/// ```
public final class CoreDataStack: ContextStack, @unchecked Sendable {
  // Unchecked: `_state` is guarded by the lock; all other members are immutable.

  /// The reason why a store could not be created, found or reset.
  public enum Error: Swift.Error, Hashable {
    /// The coordinator has no store for this file.
    case storeNotFound(at: URL)
    /// The coordinator has no store in memory.
    case inMemoryStoreMissing
    /// The directory for the file could not be created.
    case unableToCreateStore(at: URL)
  }

  /// A coordinator, or the error.
  public enum CoordinatorResult: @unchecked Sendable {
    // Unchecked: a coordinator may be used from any thread.
    /// The coordinator.
    case success(NSPersistentStoreCoordinator)
    /// The error.
    case failure(any Swift.Error)
  }

  /// A batch operation context, or the error.
  public enum BatchContextResult: @unchecked Sendable {
    // Unchecked: a context may be passed to any thread, and is used on its queue.
    /// The context.
    case success(NSManagedObjectContext)
    /// The error.
    case failure(any Swift.Error)
  }

  /// A stack, or the error.
  public enum SetupResult: Sendable {
    /// The stack.
    case success(CoreDataStack)
    /// The error.
    case failure(any Swift.Error)
  }

  /// Success, or the error.
  public enum SuccessResult: Sendable {
    /// Success.
    case success
    /// The error.
    case failure(any Swift.Error)

    /// The equivalent Swift `Result`.
    public var result: Result<Void, any Swift.Error> {
      switch self {
      case .success: .success(())
      case .failure(let error): .failure(error)
      }
    }
  }

  /// The result of a save.
  public typealias SaveResult = SuccessResult
  /// The result of a reset.
  public typealias ResetResult = SuccessResult

  private struct State {
    var coordinator: NSPersistentStoreCoordinator
    var privateContext: NSManagedObjectContext
    var mainContext: NSManagedObjectContext
  }

  private let _lock = NSLock()
  private var _state: State
  private let _location: StoreLocation
  private let _carrier = SaveCarrier()

  /// Creates the stack with a coordinator that has its only store.
  init(_ coordinator: NSPersistentStoreCoordinator, _ location: StoreLocation) {
    _location = location
    _state = Self._contexts(coordinator, _carrier)
  }

  private static func _contexts(_ coordinator: NSPersistentStoreCoordinator, _ carrier: SaveCarrier) -> State
  {
    let writer = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    writer.persistentStoreCoordinator = coordinator
    writer.mergePolicy = NSMergePolicy.mergeByPropertyStoreTrump
    writer.name = "Primary Private Queue Context (Persisting Context)"
    let main = NSManagedObjectContext(concurrencyType: .mainQueueConcurrencyType)
    main.parent = writer
    main.mergePolicy = NSMergePolicy.mergeByPropertyStoreTrump
    carrier.watch(main)
    return State(coordinator: coordinator, privateContext: writer, mainContext: main)
  }

  // MARK: Contexts

  /// The context that writes to the store. Use its children for your own work.
  public var privateQueueContext: NSManagedObjectContext { _lock.withLock { _state.privateContext } }

  /// The main-queue context: for fetched results controllers, quick fetches, small changes.
  public var mainQueueContext: NSManagedObjectContext { _lock.withLock { _state.mainContext } }

  public var mainContext: NSManagedObjectContext { mainQueueContext }

  public var coordinator: NSPersistentStoreCoordinator { _lock.withLock { _state.coordinator } }

  public var keptContexts: [NSManagedObjectContext] { [mainQueueContext, privateQueueContext] }

  /// Creates a child of the main context for longer work; its saves propagate to the store.
  ///
  /// ```swift
  /// guard let stack = stack as? CoreDataStack else { return }
  /// let form = stack.newChildContext(type: .mainQueueConcurrencyType, name: "edit")
  /// ```
  ///
  /// - Parameters:
  ///   - type: The context's kind of queue. Request a main-queue context on the main thread only.
  ///   - name: A label, for debugging.
  public func newChildContext(
    type: NSManagedObjectContextConcurrencyType = .privateQueueConcurrencyType,
    name: String? = "Main Queue Context Child"
  ) -> NSManagedObjectContext {
    if type == .mainQueueConcurrencyType {
      precondition(MainQueue.isCurrent, "main-queue contexts are made on the main queue")
    }
    let context = NSManagedObjectContext(concurrencyType: type)
    context.parent = mainQueueContext
    context.mergePolicy = NSMergePolicy.mergeByPropertyStoreTrump
    context.name = name
    _carrier.watch(context)
    return context
  }

  /// Creates a background child of the main context, under the name used in the stack's announcement.
  public func newBackgroundWorkerMOC() -> NSManagedObjectContext { newChildContext() }

  public func newWorkerContext() -> NSManagedObjectContext { newChildContext() }

  /// Called with the error of a propagated save; its changes stay pending in the given context.
  public var onCarriedSaveFailure: (@Sendable (any Swift.Error, NSManagedObjectContext) -> Void)? {
    get { _carrier.onFailure }
    set { _carrier.onFailure = newValue }
  }

  public func waitUntilIdle() async { await _carrier.waitUntilIdle() }

  // MARK: Batch operations

  /// Sets up a context with a separate coordinator for the same store, for imports of thousands of objects.
  /// Its saves are not merged into other contexts: fetch again.
  ///
  /// For a stack in memory the context uses a new, empty store, and the callback is called before this method
  /// returns.
  ///
  /// - Parameters:
  ///   - options: The store's options.
  ///   - callbackQueue: The queue of the callback; nil for a background queue.
  ///   - callback: Called with the context or the error.
  public func newBatchOperationContext(
    with options: [AnyHashable: Any]? = NSPersistentStoreCoordinator.stockSQLiteStoreOptions,
    on callbackQueue: DispatchQueue? = nil, callback: @escaping CoreDataStackBatchMOCCallback
  ) {
    let model = coordinator.managedObjectModel
    switch _location {
    case .memory:
      do {
        callback(.success(Self._batchContext(try StoreOpening.coordinator(model, .memory))))
      } catch {
        callback(.failure(error))
      }
    case .file(let url):
      NSPersistentStoreCoordinator.setupSQLiteBackedCoordinator(
        model, storeFileURL: url, persistentStoreOptions: options
      ) { result in
        let outcome: BatchContextResult =
          switch result {
          case .success(let coordinator): .success(Self._batchContext(coordinator))
          case .failure(let error): .failure(error)
          }
        (callbackQueue ?? .global(qos: .background)).async { callback(outcome) }
      }
    }
  }

  /// Sets up a context with a separate coordinator for the same store. Async variant of the method with a
  /// callback.
  ///
  /// - Parameters:
  ///   - options: The store's options.
  ///   - progress: Gets one unit, which a migration advances gradually. A cancellation prevents the creation
  ///     of a context.
  /// - Throws: Errors of adding the store; `CocoaError.userCancelled`.
  public func newBatchOperationContext(
    with options: [AnyHashable: Any]? = NSPersistentStoreCoordinator.stockSQLiteStoreOptions,
    progress: Progress? = nil
  ) async throws -> NSManagedObjectContext {
    let model = coordinator.managedObjectModel
    return Self._batchContext(
      try await StoreOpening.open(model, _location, options: options, ProgressSteps(progress, count: 1)))
  }

  private static func _batchContext(_ coordinator: NSPersistentStoreCoordinator) -> NSManagedObjectContext {
    let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = coordinator
    context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
    context.name = "Batch Operation Context"
    return context
  }

  // MARK: Reset

  /// Empties the store after running saves have ended. A SQLite stack gets new contexts, and existing child
  /// contexts become unusable; a stack in memory keeps its contexts, whose objects become invalid.
  ///
  /// - Parameters:
  ///   - options: The new store's options.
  ///   - callbackQueue: The queue of the callback; nil for a background queue.
  ///   - callback: Called with the result.
  public func resetStore(
    with options: [AnyHashable: Any]? = NSPersistentStoreCoordinator.stockSQLiteStoreOptions,
    on callbackQueue: DispatchQueue? = nil, callback: @escaping CoreDataStackStoreResetCallback
  ) {
    let options = Handover(value: options)
    let background = DispatchQueue.global(qos: .background)
    _carrier.whenIdle(on: background) {
      do {
        switch self._location {
        case .memory: try self._resetMemory()
        case .file(let url): try self._resetFile(url, options.value)
        }
      } catch let error as Error {
        callback(.failure(error))
        return
      } catch {
        (callbackQueue ?? background).async { callback(.failure(error)) }
        return
      }
      (callbackQueue ?? background).async { callback(.success) }
    }
  }

  /// Empties the store. Async variant of the method with a callback.
  ///
  /// - Parameters:
  ///   - options: The new store's options.
  ///   - progress: Gets two units: one for pending saves, one for the store. A cancellation before the store
  ///     is touched changes nothing.
  /// - Throws: `CoreDataStack.Error`, or an error of destroying and adding stores;
  ///   `CocoaError.userCancelled`.
  public func resetStore(
    with options: [AnyHashable: Any]? = NSPersistentStoreCoordinator.stockSQLiteStoreOptions,
    progress: Progress? = nil
  ) async throws {
    let steps = ProgressSteps(progress, count: 2)
    try steps.begin()
    await waitUntilIdle()
    steps.finish()
    try steps.begin()
    try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Swift.Error>) in
      resetStore(with: options) { continuation.resume(with: $0.result) }
    }
    steps.finish()
  }

  /// Like `resetStore(with:progress:)`: replaces the contexts of a SQLite stack.
  public func emptyStore(progress: Progress?) async throws {
    try await resetStore(progress: progress)
    for context in keptContexts { await context.perform { context.reset() } }
  }

  private func _resetMemory() throws {
    let coordinator = self.coordinator
    try coordinator.performAndWaitOrThrow {
      guard let store = coordinator.persistentStores.first else { throw Error.inMemoryStoreMissing }
      try coordinator.remove(store)
      try coordinator.addPersistentStore(
        ofType: NSInMemoryStoreType, configurationName: nil, at: nil, options: nil)
    }
  }

  private func _resetFile(_ url: URL, _ options: [AnyHashable: Any]?) throws {
    let coordinator = self.coordinator
    guard coordinator.persistentStore(for: url) != nil else { throw Error.storeNotFound(at: url) }
    try coordinator.performAndWaitOrThrow {
      try coordinator.destroyPersistentStore(at: url, ofType: NSSQLiteStoreType, options: nil)
    }
    let new = try StoreOpening.coordinator(coordinator.managedObjectModel, .file(url), options: options)
    let state = Self._contexts(new, _carrier)
    _lock.withLock { _state = state }
  }
}
