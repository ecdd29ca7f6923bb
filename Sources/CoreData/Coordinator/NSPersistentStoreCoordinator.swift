import CoreDataModelSchema
import Foundation
import Synchronization

/// Connects contexts to stores under one model. May be used from any thread.
///
/// Reads run concurrently on the callers' threads; saves of different contexts are serialized per store.
///
/// ```swift
/// let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
/// try coordinator.addPersistentStore(type: .sqlite, at: storeURL)
/// ```
open class NSPersistentStoreCoordinator: NSObject, Reachable, @unchecked Sendable {
  // Unchecked: `_state` is guarded by its lock, all other members are immutable.

  final let weakAnchor = WeakAnchor()
  private final let _model: NSManagedObjectModel
  private final let _state = Mutex(State())
  final let queue = ContextQueue(.privateQueueConcurrencyType)
  final let rowCache = RowCache()
  /// Held while a save is written and the row cache updated.
  final let commitOrder = Mutex(())
  /// Epoch of the row cache after the last save that may have inserted a deleted row again: deletions up to
  /// it may be overtaken.
  final let lastReinsertion = Atomic<Int>(0)
  /// Number of reads of rows by key, which batches of faults keep low.
  final let rowReads = Atomic<Int>(0)
  /// Number of reads for faults: of the values of an object, and its neighbours, or of the members of a to-many.
  package final let faultReads = Atomic<Int>(0)
  /// Number of fetch and count requests of contexts.
  package final let fetchRequests = Atomic<Int>(0)
  /// Whether any store ends fetches of cancelled Tasks and reset contexts.
  final let endsCancelledFetches = Atomic<Bool>(false)
  /// Whether any store is on a server.
  final let hasRemoteStore = Atomic<Bool>(false)
  /// Version of the set of stores, unique in the process; invalidates caches in contexts.
  final let storesVersion = Atomic<Int>(NSPersistentStoreCoordinator._nextStoresVersion())
  private static let _lastStoresVersion = Atomic<Int>(0)
  private static func _nextStoresVersion() -> Int {
    _lastStoresVersion.wrappingAdd(1, ordering: .relaxed).newValue
  }

  private struct State {
    var stores: [NSPersistentStore] = []
    var frozen: FrozenModel?
    var name: String?
    /// Directly connected contexts, for automatic merging.
    var contexts: [WeakContext] = []
    /// Assigned stores of unsaved objects, by temporary ID.
    var assignments: [NSManagedObjectID: NSPersistentStore] = [:]
    /// The program's; nil if it has set none.
    var readFailurePolicy: ReadFailurePolicy?
  }

  /// Creates a coordinator for a model; the model becomes immutable when it is first used.
  public init(managedObjectModel model: NSManagedObjectModel) {
    _model = model
    super.init()
    weakAnchor.tie(to: self)
    _ = TraceRecorder.startsAsEnvironmentAsks
  }

  /// Creates a coordinator for a model without entities.
  public convenience override init() { self.init(managedObjectModel: NSManagedObjectModel()) }

  deinit {
    weakAnchor.cut()
    TraceRecorder.end(of: self)
    for store in _state.withLock({ $0.stores }) {
      // First: the last connection to close checkpoints the log, and a read-only one cannot.
      store.remoteChanges.withLock { $0 = nil }
      store.engine?.close()
    }
  }

  /// The model.
  open var managedObjectModel: NSManagedObjectModel { _model }
  package final var model: NSManagedObjectModel { _model }

  /// Stores in the order in which they were added.
  open var persistentStores: [NSPersistentStore] { _state.withLock { $0.stores } }

  /// A label for debugging.
  open var name: String? {
    get { _state.withLock { $0.name } }
    set { _state.withLock { $0.name = newValue } }
  }

  /// What the coordinator's contexts do, unless they set a policy of their own, if a store cannot be read
  /// where no error can be thrown; by default `.fail` with a store on a server, which comes and goes while the program
  /// runs, otherwise `.trap`. Not in Core Data.
  public final var readFailurePolicy: ReadFailurePolicy {
    get {
      _state.withLock { $0.readFailurePolicy }
        ?? (hasRemoteStore.load(ordering: .relaxed) ? .fail : .trap)
    }
    set { _state.withLock { $0.readFailurePolicy = newValue } }
  }

  /// The frozen model; nil for an invalid model.
  final var frozen: FrozenModel? {
    if let frozen = _state.withLock({ $0.frozen }) { return frozen }
    guard let frozen = try? _model.frozen() else { return nil }
    LoadedModels.add(frozen)
    _state.withLock { $0.frozen = frozen }
    return frozen
  }

  // MARK: Queue

  /// Enqueues a block on the coordinator's queue and returns immediately.
  @preconcurrency open func perform(_ block: @escaping @Sendable () -> Void) { queue.async(block) }

  /// Runs a block on the coordinator's queue and waits. Reentrant.
  open func performAndWait(_ block: () -> Void) { queue.sync(block) }

  /// Runs a block on the coordinator's queue without blocking the caller.
  @preconcurrency
  public final func perform<T, E: Error>(
    _ block: @escaping @Sendable () throws(E) -> T
  ) async throws(E) -> T {
    let awaited = AwaitedBlock(self, block)
    let outcome: Handover<Result<T, E>> = await withCheckedContinuation { continuation in
      queue.async { continuation.resume(returning: awaited.run { _, block in Result.of(block) }) }
    }
    return try outcome.value.get()
  }

  // MARK: Stores

  /// Adds a store and creates its file if necessary.
  ///
  /// ```swift
  /// try coordinator.addPersistentStore(
  ///   ofType: NSSQLiteStoreType, configurationName: nil, at: storeURL,
  ///   options: [NSMigratePersistentStoresAutomaticallyOption: true])
  /// ```
  ///
  /// - Parameters:
  ///   - storeType: `NSSQLiteStoreType`, `NSInMemoryStoreType` or a registered type.
  ///   - configuration: Configuration of the model for the store; nil for all entities.
  ///   - storeURL: URL of the file; nil for memory.
  ///   - options: Options by their constants.
  /// - Throws: A Cocoa error: 134000 unknown type, 134010 a file of another format, 134080 cannot be opened,
  ///   134081 the store was added already, 134100 a file of another model version, 134060 an invalid model.
  @discardableResult
  open func addPersistentStore(
    ofType storeType: String, configurationName configuration: String?, at storeURL: URL?,
    options: [AnyHashable: Any]? = nil
  ) throws -> NSPersistentStore {
    try addStore(ofType: storeType, configurationName: configuration, at: storeURL, options: options)
  }

  /// Adds the store specified by a description.
  ///
  /// - Parameter block: Called with the description and the error, if any: before this method returns, or on
  ///   a background queue if the description requests that.
  open func addPersistentStore(
    with storeDescription: NSPersistentStoreDescription,
    completionHandler block: @escaping (NSPersistentStoreDescription, (any Error)?) -> Void
  ) {
    addStore(with: storeDescription, completionHandler: block)
  }

  /// Removes a store, whose objects become unreadable. The file remains.
  ///
  /// ```swift
  /// if let store = coordinator.persistentStore(for: storeURL) { try coordinator.remove(store) }
  /// ```
  ///
  /// - Throws: A Cocoa error if the store does not belong to this coordinator.
  open func remove(_ store: NSPersistentStore) throws { try removeStore(store) }

  /// Returns the store at this URL, by any path to its file; nil if it was not added.
  open func persistentStore(for URL: URL) -> NSPersistentStore? {
    let stores = persistentStores
    if let store = stores.first(where: { $0.url?.standardizedFileURL == URL.standardizedFileURL }) {
      return store
    }
    guard URL.isFileURL, !stores.isEmpty else { return nil }
    let path = StoreLocation(URL).path
    return stores.first { $0.url.map { $0.isFileURL && StoreLocation($0).path == path } ?? false }
  }

  /// URL of a store.
  open func url(for store: NSPersistentStore) -> URL { store.url ?? URL(fileURLWithPath: "/dev/null") }

  /// Moves a store to another URL.
  ///
  /// A SQLite store reconnects to the existing store at that URL; nothing may use it meanwhile, and its
  /// objects are reread. A store that is written as a whole writes its next save there.
  ///
  /// - Returns: False, with nothing changed, for a store of another coordinator, or if a SQLite store finds
  ///   no file of the same model version.
  open func setURL(_ url: URL, for store: NSPersistentStore) -> Bool { move(store, to: url) }

  /// Returns the metadata of a store.
  open func metadata(for store: NSPersistentStore) -> [String: Any] { store.metadata ?? [:] }

  /// Sets metadata, which are written to the file with the next save. Keeps type and UUID unless given.
  open func setMetadata(_ metadata: [String: Any]?, for store: NSPersistentStore) {
    replaceMetadata(of: store, with: metadata)
  }

  // MARK: Store files

  /// Copies all objects of a store to a new one, of any type, which replaces it in the coordinator.
  ///
  /// The old store is removed from the coordinator; its file remains unchanged. The objects get new IDs, and
  /// contexts must fetch them again: `NSPersistentStoreCoordinatorStoresDidChange` maps old to new IDs under
  /// `NSUUIDChangedPersistentStoresKey`. The application's metadata are copied. A failure leaves the
  /// coordinator and the old store unchanged, and no new file. The migration holds all objects in memory.
  ///
  /// Fails if a file exists at the URL, which Core Data would overwrite.
  ///
  /// - Parameters:
  ///   - store: A store of this coordinator.
  ///   - URL: Location of the new store; ignored for one in memory.
  ///   - options: Options of the new store.
  ///   - storeType: Type of the new store.
  /// - Returns: The new store.
  /// - Throws: A Cocoa error: 516 if a file exists already, 134070 for a store of another coordinator, and
  ///   any error from adding the new store and saving to it.
  @discardableResult
  open func migratePersistentStore(
    _ store: NSPersistentStore, to URL: URL, options: [AnyHashable: Any]? = nil, withType storeType: String
  ) throws -> NSPersistentStore {
    try migrateStore(store, to: URL, options: options, withType: storeType)
  }

  /// Destroys a store. A store of this coordinator is removed from it first.
  ///
  /// A SQLite store is emptied in place, respecting other programs' locks: this leaves an empty database
  /// without external data, even if there was no file. `file:///dev/null` and anything else that is not a
  /// regular file are left alone. Stores of other types are deleted.
  ///
  /// - Parameter options: `NSPersistentStoreTimeoutOption` limits the wait for another program that writes;
  ///   `NSPersistentStoreForceDestroyOption` also empties a file that is not a readable store.
  /// - Throws: A Cocoa error: 134010 or 259 for a file that is not a store of the type, 134080 if no store
  ///   can exist there or the file cannot be written, 134090 if another program keeps it locked.
  open func destroyPersistentStore(
    at url: URL, ofType storeType: String, options: [AnyHashable: Any]? = nil
  ) throws {
    try destroyStore(at: url, ofType: storeType, options: options)
  }

  /// Replaces a store by a copy of another: its rows, its metadata with the UUID, and its external data.
  /// Neither must belong to this coordinator; if the destination does, it is removed first.
  ///
  /// An existing destination is replaced in one transaction: readers see either the old or the new store, and
  /// a failure leaves the old one. The source remains unchanged.
  ///
  /// - Throws: A Cocoa error: 134000 for a type without files, 260 without a source, 134010 for a file that
  ///   is not a store, 134070 if the destination cannot be written.
  open func replacePersistentStore(
    at destinationURL: URL, destinationOptions: [AnyHashable: Any]? = nil,
    withPersistentStoreFrom sourceURL: URL, sourceOptions: [AnyHashable: Any]? = nil, ofType storeType: String
  ) throws {
    try replaceStore(
      at: destinationURL, destinationOptions: destinationOptions, withPersistentStoreFrom: sourceURL,
      sourceOptions: sourceOptions, ofType: storeType)
  }

  /// Does nothing: a lightweight migration completes in the transaction that adds the store. Core Data
  /// finishes deferred parts here.
  open func finishDeferredLightweightMigration() throws {}

  /// Does nothing, like the other method.
  open func finishDeferredLightweightMigrationTask() throws {}

  // MARK: Requests

  /// Returns the ID for a URI if a store of this coordinator has its UUID. Does not check whether the row
  /// exists.
  ///
  /// ```swift
  /// let id = coordinator.managedObjectID(forURIRepresentation: book.objectID.uriRepresentation())
  /// ```
  open func managedObjectID(forURIRepresentation url: URL) -> NSManagedObjectID? { objectID(forURI: url) }

  /// Executes a request for a context: a fetch, batch or history request.
  ///
  /// Call it on the context's queue. Save through the context.
  ///
  /// - Returns: An array of results for a fetch request, an `NSPersistentStoreResult` for any other.
  /// - Throws: A Cocoa error.
  open func execute(_ request: NSPersistentStoreRequest, with context: NSManagedObjectContext) throws -> Any {
    try carryOut(request, in: context)
  }

  /// Returns the token of the stores' current position in history.
  ///
  /// ```swift
  /// let token = coordinator.currentPersistentHistoryToken(fromStores: nil)
  /// ```
  ///
  /// - Parameter stores: Stores of this coordinator; nil for all.
  /// - Returns: Nil if none of them records history.
  open func currentPersistentHistoryToken(fromStores stores: [Any]?) -> NSPersistentHistoryToken? {
    historyToken(ofStores: stores)
  }

  // MARK: Managing stores

  final func append(_ store: NSPersistentStore) {
    _state.withLock {
      $0.stores.append(store)
      _updateStoreKinds($0.stores)
    }
    storesVersion.store(Self._nextStoresVersion(), ordering: .releasing)
  }

  private func _updateStoreKinds(_ stores: [NSPersistentStore]) {
    endsCancelledFetches.store(
      stores.contains { $0.engine?.endsCancelledFetches ?? false }, ordering: .relaxed)
    let isRemote = stores.contains { $0.engine?.isRemote ?? false }
    hasRemoteStore.store(isRemote, ordering: .relaxed)
    if isRemote { rowCache.keepTimes() }
    rowCache.setAge(stores.compactMap { $0.engine?.rowAge }.min())
  }

  final func drop(_ store: NSPersistentStore) {
    _state.withLock {
      $0.stores.removeAll { $0 === store }
      _updateStoreKinds($0.stores)
    }
    storesVersion.store(Self._nextStoresVersion(), ordering: .releasing)
    rowCache.removeAll()
  }

  /// Counts a read of the stores for a fault.
  final func countFault() { faultReads.wrappingAdd(1, ordering: .relaxed) }

  /// Counts a fetch or count request of a context.
  final func countFetch() { fetchRequests.wrappingAdd(1, ordering: .relaxed) }

  /// Drops the rows that are cached for the contexts; what they read next comes from the stores. For load
  /// tests, which measure what is held besides the cache.
  package final func emptyRowCache() { rowCache.removeAll() }

  // MARK: Contexts

  // The array is replaced as a whole: `broadcast` reads one without the lock, which a change in place would
  // copy anyway.
  final func connect(_ context: NSManagedObjectContext) {
    _state.withLock { state in
      state.contexts =
        state.contexts.filter { $0.context != nil } + CollectionOfOne(WeakContext(context: context))
    }
  }

  final func disconnect(_ context: NSManagedObjectContext) {
    _state.withLock { state in
      state.contexts = state.contexts.filter { $0.context != nil && $0.context !== context }
    }
  }

  /// Sends a save to all other contexts that merge automatically. Each merges it on its own queue, with
  /// others that wait there.
  final func broadcast(_ changes: SavedChanges, from saver: NSManagedObjectContext) {
    // One at a time: savers that each hold all contexts would keep those alive for each other that were let
    // go.
    for reference in _state.withLock({ $0.contexts }) {
      guard let context = reference.context, context !== saver, context.automaticallyMergesChangesFromParent
      else { continue }
      context.queue.enqueueMerge { $0.append(changes) }
    }
  }

  // MARK: Assigning new objects to stores

  final func assign(_ id: NSManagedObjectID, to store: NSPersistentStore) {
    _state.withLock { $0.assignments[id] = store }
  }

  final func assignedStore(for id: NSManagedObjectID) -> NSPersistentStore? {
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

/// Models in use by any coordinator, for finding the entity of a class.
enum LoadedModels {
  private struct WeakModel { @Loose var model: FrozenModel? }
  private static let _models = Mutex<[WeakModel]>([])

  static func add(_ model: FrozenModel) {
    _models.withLock { models in
      models.removeAll { $0.model == nil }
      models.append(WeakModel(model: model))
    }
  }

  /// Models in use, latest last.
  static var models: [FrozenModel] { _models.withLock { $0.compactMap(\.model) } }

  /// Returns the only entity of a class in the latest model that has one; a description without a name if
  /// there is none, or more than one.
  static func onlyEntity(of type: NSManagedObject.Type) -> NSEntityDescription {
    for model in models.reversed() {
      let found = model.entities.filter { $0.shape.objectClass == type }
      if found.count == 1 { return found[0] }
      if found.count > 1 {
        Console.warnOnce(
          about: "entity() of \(type)",
          "several entities have the class \(type): \(found.compactMap(\.name).joined(separator: ", ")). Name one with "
            + "NSEntityDescription.entity(forEntityName:in:).")
        break
      }
    }
    return .missing
  }
}

extension GivingWay where Self: NSPersistentStoreCoordinator {
  /// Runs a block on the coordinator's queue and waits. Returns or throws what the block does.
  public func performAndWait<T>(_ block: () throws -> T) rethrows -> T { try queue.sync(block) }
}
