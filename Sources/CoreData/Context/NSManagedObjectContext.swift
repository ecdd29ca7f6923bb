import CoreDataModelSchema
import Foundation
import Synchronization

/// A space in which managed objects are fetched, changed and saved.
///
/// A context is a serial executor: use it and its objects only inside `perform` blocks, or, for a main-queue
/// context, on the main queue. It saves to a coordinator or a parent context. Children read its unsaved state
/// without visiting its queue.
open class NSManagedObjectContext: NSObject, Reachable, @unchecked Sendable {
  // Unchecked: all members are confined to the context's queue except `queue`, `overlay`, `generationPin` and
  // `failurePolicy`, which are Sendable, and `parent` and `persistentStoreCoordinator`, which are set once,
  // before the context is used.

  final let weakAnchor = WeakAnchor()
  /// Number of resets so far. A reset ends asynchronous fetches.
  final let resets = Atomic<Int>(0)
  let queue: ContextQueue
  /// The unsaved state that children read.
  let overlay = PublishedOverlay()
  /// The state of the stores that this context reads; see `setQueryGenerationFrom(_:)`.
  let generationPin = GenerationPin()

  /// Whether access from other queues is detected.
  let isChecked: Bool
  let _concurrencyType: NSManagedObjectContextConcurrencyType
  @exclusivity(unchecked) var _parent: NSManagedObjectContext?
  @exclusivity(unchecked) var _coordinator: NSPersistentStoreCoordinator?

  // MARK: Parts

  /// Values memoized from the coordinator, its model and its stores.
  @exclusivity(unchecked) var memo = ModelMemo()
  /// The registered objects.
  @exclusivity(unchecked) var table = ObjectTable()
  /// The objects with unsaved changes.
  let unsaved = UnsavedObjects()
  /// Rows that the next save deletes and that have no objects here.
  @exclusivity(unchecked) var unreadDeletions: [KeyRun] = []
  /// Pending events.
  @exclusivity(unchecked) var events = EventQueue()
  /// Changes discarded here that a descendant may not have reread yet.
  @exclusivity(unchecked) var discards = RecentDiscards()
  /// How many objects have had their temporary ID replaced by a permanent one.
  @exclusivity(unchecked) var issuedIDCount = 0
  /// The current save.
  @exclusivity(unchecked) var saving = SaveState()
  /// Recently created faults without values, which load together.
  @exclusivity(unchecked) var faultBatch = FaultBatch()
  /// The to-manys read so far.
  @exclusivity(unchecked) var readMembers = ReadMembers()
  /// When the rows of the context's objects were read, and how old they may be.
  @exclusivity(unchecked) var ages = RowAges()
  /// The undo manager and its recorder; nil without undo.
  @exclusivity(unchecked) var _undo: UndoLink?
  /// The highest epoch of the row cache of all saves that this context has merged.
  var mergedEpoch = 0
  /// Deletions that an ancestor may still discard.
  @exclusivity(unchecked) var revocableDeletions = RevocableDeletions()
  /// The context's own policy; nil if it is inherited. Children read it on their queues.
  let failurePolicy = Mutex<ReadFailurePolicy?>(nil)
  /// The reads that have failed where no error can be thrown.
  @exclusivity(unchecked) var readFailures = ReadFailures()
  /// Called for the first failed read of an object.
  @exclusivity(unchecked) package final var readFailureObserver: ((NSManagedObject, any Error) -> Void)?
  /// Called with what a save announces as IDs, before the notification is posted.
  @exclusivity(unchecked) package final var saveObserver: (([AnyHashable: Any]) -> Void)?
  /// Whether it is logged, once for each entity, that a merged deletion drops unsaved changes.
  @exclusivity(unchecked) package final var recordsLosses = false
  /// The context's number in a recording; 0 until it, or a child, has done something.
  final let traceNumber = Atomic<Int>(0)
  /// Whether objects record reads for `Observation`.
  @exclusivity(unchecked) var recordsReads = false
  private let _userInfo = NSMutableDictionary()

  /// Creates a context that works on the given kind of queue.
  public init(concurrencyType: NSManagedObjectContextConcurrencyType) {
    _concurrencyType = concurrencyType
    isChecked = ConcurrencyCheck.mode != .off && concurrencyType != .confinement
    queue = ContextQueue(concurrencyType)
    super.init()
    OverriddenFetch.connect(type(of: self))
    weakAnchor.tie(to: self)
    queue.attach(to: self)
    recordsReads = concurrencyType == .mainQueueConcurrencyType
  }

  /// Creates a context that works on the given kind of queue.
  public convenience init(_ type: ConcurrencyType) { self.init(concurrencyType: type.rawValue) }

  /// Creates a confinement context.
  @available(*, deprecated, message: "Use init(concurrencyType:)")
  public convenience override init() { self.init(concurrencyType: .confinement) }

  deinit {
    weakAnchor.cut()
    queue.changeMerges { $0.removeAll() }
    // Objects may outlive the context; they must neither call it nor retain each other any longer.
    table.forEach { $0.leaveContext() }
  }

  // MARK: Place in the stack

  /// Kind of queue the context works on.
  open var concurrencyType: NSManagedObjectContextConcurrencyType { _concurrencyType }

  /// The coordinator of the context or of its root ancestor. Set once, before the context is used.
  open var persistentStoreCoordinator: NSPersistentStoreCoordinator? {
    get { rootCoordinator }
    set { connect(to: newValue) }
  }

  /// The context that this one reads from and saves to. Set once, before the context is used.
  ///
  /// The parent must have a queue; the child may be a confinement context. Traps if the parent is a
  /// confinement context, if this context has a coordinator, or if it is already in use.
  open var parent: NSManagedObjectContext? {
    get { _parent }
    set { connect(toParent: newValue) }
  }

  /// A label for debugging, which also names the context's private queue.
  open var name: String? {
    didSet { if let name { queue.setLabel(name) } }
  }

  /// Arbitrary values that the program attaches to the context.
  open var userInfo: NSMutableDictionary { _userInfo }

  /// The author recorded for this context's saves in persistent history.
  @exclusivity(unchecked) open var transactionAuthor: String?

  /// Resolves save conflicts: an `NSMergePolicy`. By default a save with conflicts fails.
  @exclusivity(unchecked) open var mergePolicy: Any = NSMergePolicy.error

  // MARK: Behaviour

  /// Whether delete rules are applied when changes are processed (true) or only at save.
  @exclusivity(unchecked) open var propagatesDeletesAtEndOfEvent = true

  /// The objects whose delete rules have been applied; nil to collect none.
  package final var followedDeletions: [NSManagedObject]?

  /// Whether the context retains all its objects.
  @exclusivity(unchecked) open var retainsRegisteredObjects = false

  /// Whether a fault whose row is gone becomes a deleted object with nil values (true) or traps (false).
  @exclusivity(unchecked) open var shouldDeleteInaccessibleFaults = true

  /// Age in seconds after which values that were read before are read again when a fault fires or an object
  /// is refreshed or prefetched; negative, the default: never, 0: always.
  ///
  /// Objects whose values are loaded keep them. With a negative interval, a fault gets the newest values that
  /// the coordinator knows: those of the last read or save of any of its contexts. With 0, only values that
  /// the context's own last fetch has read are not read again. Ages are exact to some milliseconds, and do
  /// not apply to a context pinned to a query generation.
  ///
  /// Of a store on a server a context shows nothing, apart from what it shows already, that was read before the context
  /// was created, reset, refreshed as a whole or last saved, since other programs write there; nor, unless the program
  /// has set this property, anything older than the store's option says, which is five seconds by default.
  open var stalenessInterval: TimeInterval {
    get { ages.interval }
    set {
      ages.interval = newValue
      ages.isIntervalSet = true
    }
  }

  /// Whether the context merges saves of its parent, or of other contexts of its coordinator, on its queue.
  ///
  /// A child merges the saves of its parent, not those that siblings save to the parent. A merge is enqueued
  /// before the save is announced, so a block that an observer of the save sends to the main queue runs after
  /// the merge. Saves that wait are merged as one, in groups of at most 2,000 objects; on the main queue,
  /// other work runs between the groups.
  open var automaticallyMergesChangesFromParent = false {
    didSet {
      guard automaticallyMergesChangesFromParent != oldValue else { return }
      if automaticallyMergesChangesFromParent { _coordinator?.connect(self) }
    }
  }

  /// Called when a fault's row is gone.
  ///
  /// - Returns: True to treat the object as deleted; false to trap.
  open func shouldHandleInaccessibleFault(
    _ fault: NSManagedObject, for oid: NSManagedObjectID, triggeredByProperty property: NSPropertyDescription?
  ) -> Bool { shouldDeleteInaccessibleFaults }

  // MARK: Changes

  /// Inserts an object that was created without a context.
  open func insert(_ object: NSManagedObject) {
    checkQueue()
    editing.insert(object)
  }

  /// Marks an object for deletion by the next save. Traps for an object of another context.
  open func delete(_ object: NSManagedObject) {
    checkQueue()
    editing.delete(object)
  }

  /// Saves to the parent or the stores.
  ///
  /// A failed save leaves everything unchanged.
  ///
  /// - Throws: A Cocoa error: validation (1550...1690), conflicts (133020, 133021), or the store's; the error
  ///   of a failed read if an object that could not be read is among the changes (see `readFailurePolicy`).
  open func save() throws {
    checkQueue()
    try SavePass(self).run()
  }

  /// Applies delete rules and posts the changes made since the last call.
  open func processPendingChanges() {
    checkQueue()
    EventPass(self).run()
  }

  /// Drops all objects and unsaved changes. Asynchronous fetches in progress on a PostgreSQL store fail with
  /// `CocoaError.userCancelled`.
  open func reset() {
    checkQueue()
    DiscardPass(self).reset()
    TraceRecorder.current?.add(.reset, in: self)
  }

  /// Discards unsaved changes.
  open func rollback() {
    checkQueue()
    DiscardPass(self).rollback()
    TraceRecorder.current?.add(.rollback, in: self)
  }

  // MARK: Queue

  /// Enqueues a block on the context's queue and returns immediately. Changes are processed after the block.
  @preconcurrency open func perform(_ block: @escaping @Sendable () -> Void) { enqueue(block) }

  /// Runs a block for the context and waits; calls nest. Changes are not processed after it.
  ///
  /// A private-queue context runs the block on the caller's thread, a main-queue context on the main queue.
  open func performAndWait(_ block: () -> Void) { queue.sync(block) }

  // MARK: Objects

  /// Returns the registered object with this ID, or nil. Never reads from a store.
  open func registeredObject(for objectID: NSManagedObjectID) -> NSManagedObject? {
    registry.registered(objectID)
  }

  /// Returns the object with this ID, as a fault if it is not registered. Never reads from a store.
  ///
  /// The fault may turn out to have no row when it is filled.
  open func object(with objectID: NSManagedObjectID) -> NSManagedObject { registry.objectOrFault(objectID) }

  /// Returns the object with this ID and loads its values.
  ///
  /// - Throws: Cocoa error 133000 if there is no such object.
  open func existingObject(with objectID: NSManagedObjectID) throws -> NSManagedObject {
    try FaultPass(self).existing(objectID)
  }

  /// All objects of the context that are referenced or changed.
  open var registeredObjects: Set<NSManagedObject> { registry.all() }

  /// Objects that the next save inserts.
  open var insertedObjects: Set<NSManagedObject> { unsavedView.objects(.inserted) }

  /// Objects that the next save updates.
  open var updatedObjects: Set<NSManagedObject> { unsavedView.objects(.updated) }

  /// Objects that the next save deletes, and those that others have deleted, as merged, since the last save.
  /// Of the latter a context that never saves keeps, unlike in Core Data, a few hundred and those that the
  /// program references.
  open var deletedObjects: Set<NSManagedObject> { unsavedView.objects(.deleted) }

  /// Whether the context has unsaved changes.
  open var hasChanges: Bool { !unsavedView.isEmpty }

  /// Assigns permanent IDs to objects before they are saved; skips objects that have one.
  ///
  /// - Throws: A Cocoa error if no store holds the entity or the store cannot be written.
  open func obtainPermanentIDs(for objects: [NSManagedObject]) throws { try givePermanentIDs(to: objects) }

  /// Reloads an object's values or turns it into a fault.
  ///
  /// - Parameters:
  ///   - object: An object of this context.
  ///   - flag: True keeps unsaved changes on top of the newer values; false drops them and turns the object
  ///     into a fault.
  open func refresh(_ object: NSManagedObject, mergeChanges flag: Bool) {
    DiscardPass(self).refresh(object, mergeChanges: flag)
  }

  /// Refreshes all registered objects, keeping unsaved changes.
  open func refreshAllObjects() { DiscardPass(self).refreshAll() }

  // MARK: Requests

  /// Executes any request except a save request.
  ///
  /// A fetch returns a completed `NSAsynchronousFetchResult`; an asynchronous fetch completes later. Batch
  /// and history requests go to the coordinator's stores and leave the unsaved changes of the context and its
  /// ancestors untouched.
  ///
  /// - Throws: A Cocoa error.
  @discardableResult
  open func execute(_ request: NSPersistentStoreRequest) throws -> NSPersistentStoreResult {
    try carryOut(request)
  }

  /// Token of the state that the context reads. Nil if it reads the latest state, and always nil for a child
  /// context, which reads from its parent.
  open var queryGenerationToken: NSQueryGenerationToken? { generationRead }

  /// Pins the context to a state of the stores: it reads that state and ignores later saves.
  ///
  /// `NSQueryGenerationToken.current` pins to the state at the context's next read, a token of another
  /// context to the state which that context reads, and nil unpins. Objects already loaded keep their values;
  /// refresh or fetch them. The context advances to the latest state when it saves, merges changes, or is
  /// reset.
  ///
  /// Requires SQLite stores with a write-ahead log, the default. Other stores always read the latest state,
  /// and a context with only such stores stays unpinned. Stores added later are not read until the context
  /// advances.
  ///
  /// A pin costs a connection and an open read transaction per store. While it lasts, SQLite cannot
  /// checkpoint the write-ahead log, which grows with every write. Release tokens, or pin to the current
  /// state again, from time to time.
  ///
  /// Traps for a child context, as Core Data raises.
  ///
  /// - Throws: A Cocoa error when a store cannot be read, or for the token of another coordinator's context.
  open func setQueryGenerationFrom(_ generation: NSQueryGenerationToken?) throws { try pin(to: generation) }

  /// Returns the objects (or IDs, dictionaries, one count) that match the request, including unsaved changes
  /// of this context and its ancestors.
  ///
  /// - Throws: A Cocoa error: an unknown entity, an untranslatable predicate, or a store error.
  @_optimize(none)
  open func fetch<T>(_ request: NSFetchRequest<T>) throws -> [T] {
    // Not optimized: a client's optimizer that knows the class of a context would call this method instead of
    // the one in the class's method table (OverriddenFetch).
    try fetchOverridably(request)
  }

  /// In a subclass, every `fetch(_:)` goes through this method; override it to intercept all fetches.
  ///
  /// A call with an untyped request chooses the generic method, whose result is
  /// `[any NSFetchRequestResult]`, unless `[Any]` is asked for in a class that overrides this one.
  ///
  /// - Throws: As `fetch(_:)`.
  @_disfavoredOverload
  open func fetch(_ request: NSFetchRequest<any NSFetchRequestResult>) throws -> [Any] {
    try FetchPass(self).results(request)
  }

  /// Returns the number of objects that a fetch would return, without creating them.
  ///
  /// - Throws: As `fetch(_:)`.
  open func count<T>(for request: NSFetchRequest<T>) throws -> Int { try countOverridably(request) }

  /// In a subclass, every `count(for:)` goes through this method; override it to intercept all counts.
  ///
  /// - Throws: As `fetch(_:)`.
  open func count(for request: NSFetchRequest<any NSFetchRequestResult>) throws -> Int {
    try FetchPass(self).count(for: request as AnyFetchRequest)
  }

  // MARK: Merging and saving

  /// Makes the next save check the version of an unchanged object, and report a conflict if another context
  /// has saved it.
  open func detectConflicts(for object: NSManagedObject) { lockVersion(of: object) }

  /// Chooses the store that a new object is saved to.
  ///
  /// By default, that is the first writable store, in the order in which they were added, whose configuration
  /// has the object's entity. Traps for a store of another coordinator, for one that does not hold the
  /// entity, and for an object that is already saved in another store.
  open func assign(_ object: Any, to store: NSPersistentStore) { chooseStore(store, for: object) }

  /// Refreshes objects updated elsewhere, registers those inserted, deletes those deleted; unsaved changes
  /// win.
  ///
  /// Call it on this context's queue. Objects that this context has not registered cost nothing.
  ///
  /// - Parameter notification: A did-save notification of another context, with objects or with object IDs.
  open func mergeChanges(fromContextDidSave notification: Notification) { mergeSave(notification) }

  // MARK: Undo

  /// Undoes the last group of changes; does nothing without an undo manager.
  open func undo() { undoChanges() }

  /// Redoes the last undone group; does nothing without an undo manager.
  open func redo() { redoChanges() }

  /// Records changes for undo and redo; nil, the default, records nothing.
  ///
  /// Each processing of changes registers one action. Where Core Data raises, with a manager whose
  /// `groupsByEvent` is off and no open group, the context wraps each action in a group of its own.
  open var undoManager: UndoManager? {
    get { _undo?.manager }
    set { recordChanges(with: newValue) }
  }
}
