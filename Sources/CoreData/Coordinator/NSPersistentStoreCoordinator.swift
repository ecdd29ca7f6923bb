import CoreDataModelSchema
import Foundation
import Synchronization

/// Connects contexts to stores under one model. May be used from any thread.
///
/// Reads run on the caller's thread, several at once; saves of different contexts follow one another in each
/// store.
open class NSPersistentStoreCoordinator: NSObject, Reachable, @unchecked Sendable {
  // Unchecked: `_state` is guarded by its lock, everything else is immutable.

  final let lifeline = Lifeline()
  private let _model: NSManagedObjectModel
  private let _state = Mutex(State())
  private let _queue = ContextQueue(.privateQueueConcurrencyType)
  let rowCache = RowCache()
  /// Held while a save is written and the row cache told of it.
  final let commitOrder = Mutex(())
  /// Times that rows were asked of a store by key; what batches of faults keep low.
  final let rowReads = Atomic<Int>(0)

  private struct State {
    var stores: [NSPersistentStore] = []
    var frozen: FrozenModel?
    var name: String?
    /// Contexts connected directly, for merging by themselves.
    var contexts: [WeakContext] = []
    /// Store that an unsaved object was assigned to, by its temporary ID.
    var assignments: [NSManagedObjectID: NSPersistentStore] = [:]
  }

  /// Creates a coordinator for a model; the model becomes immutable when it is first used.
  public init(managedObjectModel model: NSManagedObjectModel) {
    _model = model
    super.init()
    lifeline.tie(to: self)
  }

  deinit {
    lifeline.cut()
    for store in _state.withLock({ $0.stores }) {
      // First: the last connection to close empties the log, and it must not be one for reading.
      store.remoteChanges.withLock { $0 = nil }
      store.engine?.close()
    }
  }

  /// The model.
  open var managedObjectModel: NSManagedObjectModel { _model }
  final var model: NSManagedObjectModel { _model }

  /// Stores in the order in which they were added.
  open var persistentStores: [NSPersistentStore] { _state.withLock { $0.stores } }

  /// A free label, for debugging.
  open var name: String? {
    get { _state.withLock { $0.name } }
    set { _state.withLock { $0.name = newValue } }
  }

  /// The model as the engine reads it; nil for a model that makes no sense.
  final var frozen: FrozenModel? {
    if let frozen = _state.withLock({ $0.frozen }) { return frozen }
    guard let frozen = try? _model.frozen() else { return nil }
    LoadedModels.add(frozen)
    _state.withLock { $0.frozen = frozen }
    return frozen
  }

  // MARK: Queue

  /// Runs a block on the coordinator's queue and returns at once.
  public final func perform(_ block: @escaping @Sendable () -> Void) { _queue.async(block) }

  /// Runs a block on the coordinator's queue and waits. May be called from inside itself.
  public final func performAndWait<T>(_ block: () throws -> T) rethrows -> T { try _queue.sync(block) }

  /// Runs a block on the coordinator's queue without blocking the caller.
  public final func perform<T: Sendable, E: Error>(
    _ block: @escaping @Sendable () throws(E) -> T
  ) async throws(E) -> T {
    let result: Result<T, E> = await withCheckedContinuation { continuation in
      _queue.async {
        do throws(E) {
          continuation.resume(returning: .success(try block()))
        } catch {
          continuation.resume(returning: .failure(error))
        }
      }
    }
    return try result.get()
  }

  // MARK: Stores

  /// The store at this URL, if it was added; of a file that has several paths, any one does.
  public final func persistentStore(for URL: URL) -> NSPersistentStore? {
    let stores = persistentStores
    if let store = stores.first(where: { $0.url?.standardizedFileURL == URL.standardizedFileURL }) {
      return store
    }
    guard URL.isFileURL, !stores.isEmpty else { return nil }
    let path = StoreLocation(URL).path
    return stores.first { $0.url.map { $0.isFileURL && StoreLocation($0).path == path } ?? false }
  }

  /// URL of a store.
  public final func url(for store: NSPersistentStore) -> URL {
    store.url ?? URL(fileURLWithPath: "/dev/null")
  }

  final func append(_ store: NSPersistentStore) { _state.withLock { $0.stores.append(store) } }

  final func drop(_ store: NSPersistentStore) {
    _state.withLock { $0.stores.removeAll { $0 === store } }
    rowCache.removeAll()
  }

  // MARK: Contexts

  final func connect(_ context: NSManagedObjectContext) {
    _state.withLock { state in
      state.contexts.removeAll { $0.context == nil }
      state.contexts.append(WeakContext(context: context))
    }
  }

  final func disconnect(_ context: NSManagedObjectContext) {
    _state.withLock { $0.contexts.removeAll { $0.context == nil || $0.context === context } }
  }

  /// Has every other context that merges by itself take over a save, each on its own queue, on the main one
  /// in turn with its other work.
  final func broadcast(_ changes: SavedChanges, from saver: NSManagedObjectContext) {
    let contexts = _state.withLock { $0.contexts.compactMap(\.context) }
    for context in contexts where context !== saver && context.automaticallyMergesChangesFromParent {
      context.queue.inTurn { context.merge(changes) }
    }
  }

  // MARK: Assigning new objects to stores

  final func assign(_ id: NSManagedObjectID, to store: NSPersistentStore) {
    _state.withLock { $0.assignments[id] = store }
  }

  final func takeAssignment(_ id: NSManagedObjectID) -> NSPersistentStore? {
    _state.withLock { $0.assignments.isEmpty ? nil : $0.assignments[id] }
  }

  final func clearAssignments(_ ids: some Sequence<NSManagedObjectID>) {
    _state.withLock { state in
      guard !state.assignments.isEmpty else { return }
      for id in ids { state.assignments[id] = nil }
    }
  }
}

extension NSPersistentStoreCoordinator: NSLocking {
  /// Deprecated: use perform blocks.
  @available(*, deprecated, message: "Use perform blocks")
  public func lock() {}

  /// Deprecated: use perform blocks.
  @available(*, deprecated, message: "Use perform blocks")
  public func unlock() {}

  /// Deprecated: use perform blocks.
  @available(*, deprecated, message: "Use perform blocks")
  public func tryLock() -> Bool { true }
}

/// Models that some coordinator uses, for finding the entity of a class.
enum LoadedModels {
  private struct WeakModel { @Loose var model: FrozenModel? }
  private static let _models = Mutex<[WeakModel]>([])

  static func add(_ model: FrozenModel) {
    _models.withLock { models in
      models.removeAll { $0.model == nil }
      models.append(WeakModel(model: model))
    }
  }

  /// Models in use, the latest last.
  static var models: [FrozenModel] { _models.withLock { $0.compactMap(\.model) } }

  /// The one entity, by name, whose class this is; the latest model counts.
  static func onlyEntity(of type: NSManagedObject.Type) -> NSEntityDescription {
    for model in models.reversed() {
      let found = model.entities.filter { $0.shape.objectClass == type }
      if found.count == 1 { return found[0] }
      if found.count > 1 {
        programmerError(
          "several entities have the class \(type): \(found.compactMap(\.name).joined(separator: ", ")). Name one with "
            + "NSEntityDescription.entity(forEntityName:in:).")
      }
    }
    programmerError(
      "no model in use has an entity with the class \(type). Add its model to a coordinator first.")
  }
}
