import CoreData
import Foundation

/// A design for working with several contexts. Code written against it can switch designs by changing one
/// word.
///
/// May be used from any thread; contexts only on their queues.
///
/// ```swift
/// func addBook(titled title: String, to stack: any ContextStack) async throws {
///   try await stack.performWork { context in Book(context: context).title = title }
/// }
/// ```
public protocol ContextStack: AnyObject, Sendable {
  /// The main-queue context.
  var mainContext: NSManagedObjectContext { get }

  /// The coordinator that writes the workers' saves.
  var coordinator: NSPersistentStoreCoordinator { get }

  /// All coordinators of the design: by default only the writing one.
  var coordinators: [NSPersistentStoreCoordinator] { get }

  /// The permanent contexts of the design: by default only the main context.
  var keptContexts: [NSManagedObjectContext] { get }

  /// Creates a context for work off the main queue. Retain it only as long as the work lasts.
  func newWorkerContext() -> NSManagedObjectContext

  /// Returns when saves made so far have reached the store and the main context.
  func waitUntilIdle() async

  /// Destroys the store with its contents and continues with a new, empty one; see the method without
  /// parameters.
  ///
  /// - Parameter progress: Gets two units: one for the old store, one for the new.
  /// - Throws: Errors of destroying and adding stores; `CocoaError.userCancelled`, before anything was
  ///   changed.
  func emptyStore(progress: Progress?) async throws
}

extension ContextStack {
  public var coordinators: [NSPersistentStoreCoordinator] { [coordinator] }

  public var keptContexts: [NSManagedObjectContext] { [mainContext] }

  /// Saves a context to the store; the main context then shows the changes.
  ///
  /// ```swift
  /// let worker = stack.newWorkerContext()
  /// await worker.perform { Book(context: worker).title = "The Waves" }
  /// try await stack.save(worker)
  /// ```
  ///
  /// - Parameters:
  ///   - context: A worker or the main context.
  ///   - progress: Receives one unit per context from this one to the store. A cancellation before the save
  ///     has begun saves nothing; a save that has begun is completed.
  /// - Throws: The error of the first failing save; `CocoaError.userCancelled`.
  public func save(_ context: NSManagedObjectContext, progress: Progress? = nil) async throws {
    try await context.saveContextToStore(progress: progress)
    await waitUntilIdle()
  }

  /// Runs a block on a new worker context, saves the context to the store, and returns the block's result.
  ///
  /// ```swift
  /// let count = try await stack.performWork { context in
  ///   for record in records { Book(context: context).title = record.title }
  ///   return records.count
  /// }
  /// ```
  ///
  /// - Parameters:
  ///   - progress: Gets two units: one for the block, one for the save. A cancellation before the save has
  ///     begun saves nothing.
  ///   - body: Called with the context.
  /// - Throws: An error of the block or the first failing save; nothing is saved if the block throws.
  ///   `CocoaError.userCancelled`.
  public func performWork<Result: Sendable>(
    progress: Progress? = nil, _ body: @escaping @Sendable (NSManagedObjectContext) throws -> Result
  ) async throws -> Result {
    let steps = ProgressSteps(progress, count: 2)
    try steps.begin()
    let context = newWorkerContext()
    let result = try await context.perform { try body(context) }
    steps.finish()
    try steps.begin()
    let saving = progress.map { progress in
      let saving = Progress(totalUnitCount: 1)
      progress.addChild(saving, withPendingUnitCount: 1)
      return saving
    }
    try await save(context, progress: saving)
    return result
  }
}

/// The location of a stack's store.
public enum StoreLocation: Sendable, Hashable {
  /// A SQLite file; its directory is created if necessary.
  case file(URL)
  /// Memory; the contents are lost with the stack.
  case memory
}

/// The designs of stacks.
///
/// ```swift
/// let model = Bundle.main.managedObjectModel(name: "Library")
/// let stack = try await StackPattern.shared.makeStack(model: model, at: .file(storeURL))
/// ```
public enum StackPattern: String, CaseIterable, Sendable {
  /// One main-queue context for everything.
  case single
  /// One coordinator, a main context and workers side by side, merging each other's saves.
  case shared
  /// The main context on the store, with workers as its children.
  case nested2
  /// A private writer on the store, main as its child, workers as children of main.
  case nested3
  /// Two coordinators on one file: main on one, workers on the other.
  case sharedStore
  /// The Big Nerd Ranch stack.
  case bigNerdRanch

  /// Sets up a stack without blocking the caller, since opening a store may migrate it.
  ///
  /// - Parameters:
  ///   - model: The model.
  ///   - location: The location of the store.
  ///   - progress: Gets one unit per coordinator that opens the store, and one for the contexts; a migration
  ///     advances the first gradually. A cancellation prevents the creation of a stack and rolls back a
  ///     migration in progress.
  /// - Throws: Errors of adding the store; `StackError` if the design does not support such a store;
  ///   `CocoaError.userCancelled`.
  public func makeStack(
    model: NSManagedObjectModel, at location: StoreLocation, progress: Progress? = nil
  ) async throws -> any ContextStack {
    let steps = ProgressSteps(progress, count: self == .sharedStore ? 3 : 2)
    let model = Handover(value: model)
    let stack: any ContextStack = try await withCheckedThrowingContinuation { continuation in
      DispatchQueue.global().async {
        continuation.resume(with: Result { try self._stack(model.value, location, steps) })
      }
    }
    steps.finish()
    return stack
  }

  private func _stack(
    _ model: NSManagedObjectModel, _ location: StoreLocation, _ steps: ProgressSteps
  ) throws -> any ContextStack {
    func open() throws -> NSPersistentStoreCoordinator {
      let coordinator = try steps.run { try StoreOpening.coordinator(model, location) }
      try steps.begin()
      return coordinator
    }
    if self == .sharedStore, case .memory = location { throw StackError.needsFile(self) }
    let coordinator = try open()
    switch self {
    case .single: return SingleContextStack(coordinator)
    case .shared: return SharedCoordinatorStack(coordinator)
    case .nested2: return NestedStack(coordinator)
    case .nested3: return WriterMainWorkerStack(coordinator)
    case .sharedStore: return SharedStoreStack(coordinator, try open())
    case .bigNerdRanch: return CoreDataStack(coordinator, location)
    }
  }
}

/// The reason why a stack cannot be set up.
///
/// ```swift
/// let model = Bundle.main.managedObjectModel(name: "Library")
/// do {
///   _ = try await StackPattern.sharedStore.makeStack(model: model, at: .memory)
/// } catch StackError.needsFile(let pattern) {
///   print("\(pattern) needs a file.")
/// }
/// ```
public enum StackError: Error, Hashable, CustomStringConvertible {
  /// The design needs a store file, since two coordinators cannot share memory.
  case needsFile(StackPattern)
  /// The store at this URL (nil for none) records no history or posts no remote changes, and so cannot be
  /// followed.
  case needsHistory(at: URL?)

  public var description: String {
    switch self {
    case .needsFile(let pattern):
      "The design '\(pattern.rawValue)' has two coordinators on one file and cannot work in memory; give it a file."
    case .needsHistory(let url):
      "The store at \(url?.path ?? "no file") cannot be followed: add it with HistoryFollower.storeOptions, which have it keep "
        + "a history and tell of changes."
    }
  }
}

extension ContextStack {
  /// The former name of `waitUntilIdle()`.
  @available(*, deprecated, renamed: "waitUntilIdle()")
  public func settle() async { await waitUntilIdle() }
}
