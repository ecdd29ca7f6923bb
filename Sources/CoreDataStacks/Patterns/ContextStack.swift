import CoreData
import Foundation

/// A design for working with several contexts: code written against it switches design by one word.
///
/// May be used from any thread; contexts only on their queues.
///
/// ```swift
/// func addBook(titled title: String, to stack: any ContextStack) async throws {
///   try await stack.performWork { context in Book(context: context).title = title }
/// }
/// ```
public protocol ContextStack: AnyObject, Sendable {
  /// The context for the main queue.
  var mainContext: NSManagedObjectContext { get }

  /// The coordinator that writes what workers save.
  var coordinator: NSPersistentStoreCoordinator { get }

  /// All coordinators of the design: the one that writes, unless the design has others.
  var coordinators: [NSPersistentStoreCoordinator] { get }

  /// The contexts that the design keeps: main, unless it has others.
  var keptContexts: [NSManagedObjectContext] { get }

  /// Creates a context for work off the main queue. Keep it as long as the work lasts, then let it go.
  func newWorkerContext() -> NSManagedObjectContext

  /// Returns when saves made so far have reached the store and the main context.
  func settle() async

  /// Takes the store away with everything in it and goes on with a new, empty one; see the form without
  /// parameters.
  ///
  /// - Parameter progress: Gets two units: one for the old store, one for the new.
  /// - Throws: What destroying and adding stores throws; `CocoaError.userCancelled`, before anything was
  ///   done.
  func emptyStore(progress: Progress?) async throws
}

extension ContextStack {
  public var coordinators: [NSPersistentStoreCoordinator] { [coordinator] }

  public var keptContexts: [NSManagedObjectContext] { [mainContext] }

  /// Saves a context all the way to the store; then the main context shows what was saved.
  ///
  /// ```swift
  /// let worker = stack.newWorkerContext()
  /// await worker.perform { Book(context: worker).title = "The Waves" }
  /// try await stack.save(worker)
  /// ```
  ///
  /// - Parameters:
  ///   - context: A worker or the main context.
  ///   - progress: Gets a unit for each context from this one to the store. Cancelled before the save has
  ///     begun, nothing is saved; a save that has begun is carried to the end.
  /// - Throws: What the first failing save throws; `CocoaError.userCancelled`.
  public func save(_ context: NSManagedObjectContext, progress: Progress? = nil) async throws {
    try await context.saveContextToStore(progress: progress)
    await settle()
  }

  /// Runs a block on a worker context made for it, saves the context to the store, and returns what the block
  /// returned.
  ///
  /// ```swift
  /// let count = try await stack.performWork { context in
  ///   for record in records { Book(context: context).title = record.title }
  ///   return records.count
  /// }
  /// ```
  ///
  /// - Parameters:
  ///   - progress: Gets two units: one for the block, one for the save. Cancelled before the save has begun,
  ///     nothing is saved.
  ///   - body: Called with the context.
  /// - Throws: What the block or the first failing save throws; nothing is saved when the block throws.
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

/// Where a stack keeps its objects.
public enum StoreLocation: Sendable, Hashable {
  /// A SQLite file; its directory is made if need be.
  case file(URL)
  /// Memory, gone with the stack.
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
  /// The main context on the store, workers its children.
  case nested2
  /// A private writer on the store, main its child, workers children of main.
  case nested3
  /// Two coordinators on one file: main on one, workers on the other.
  case sharedStore
  /// The Big Nerd Ranch stack.
  case bigNerdRanch

  /// Sets a stack up without blocking the caller: opening a store may mean migrating it.
  ///
  /// - Parameters:
  ///   - model: The model.
  ///   - location: Where the stack keeps its objects.
  ///   - progress: Gets a unit for each coordinator that opens the store, and one for the contexts; a
  ///     migration moves the first on bit by bit. Cancelled meanwhile, no stack is made, and a migration that
  ///     has begun is taken back.
  /// - Throws: What adding the store throws; `StackError` where the design cannot have such a store;
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

/// Why a stack cannot be set up.
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
  /// The store at this URL (nil for none) keeps no history, or does not tell of changes, and so cannot be
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
