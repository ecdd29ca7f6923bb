import CoreDataModelSchema
import Foundation
import Synchronization

/// A space in which managed objects are fetched, changed and saved.
///
/// A context is a serial executor: use it and its objects only inside `perform` blocks, or, for a main-queue
/// context, on the main queue. It saves to a coordinator or a parent context. Children read its unsaved state
/// without visiting its queue.
open class NSManagedObjectContext: NSObject, Reachable, @unchecked Sendable {
  // Unchecked: every member is used on the context's queue only, but `queue`, `overlay` and `generationPin`,
  // which are Sendable, and the few read from elsewhere while immutable (`parent`,
  // `persistentStoreCoordinator`: set once, before the context is used).

  final let lifeline = Lifeline()
  /// How often the context was reset, which ends asynchronous fetches.
  final let resets = Atomic<Int>(0)
  let queue: ContextQueue
  /// Unsaved state as children read it.
  let overlay = PublishedOverlay()
  /// State of the stores that is read; see `setQueryGenerationFrom(_:)`.
  let generationPin = GenerationPin()

  /// Whether uses from other queues are looked for.
  let isChecked: Bool
  let _concurrencyType: NSManagedObjectContextConcurrencyType
  @exclusivity(unchecked) var _parent: NSManagedObjectContext?
  @exclusivity(unchecked) var _coordinator: NSPersistentStoreCoordinator?
  /// Children that merge what this context saves.
  @exclusivity(unchecked) var _mergingChildren: [WeakContext] = []

  // MARK: Parts

  /// What is memoized of the coordinator's model and stores.
  @exclusivity(unchecked) var memo = ModelMemo()
  /// The registered objects.
  @exclusivity(unchecked) var table = ObjectTable()
  /// The objects with unsaved changes.
  @exclusivity(unchecked) var unsaved = UnsavedObjects()
  /// What is announced when changes are next processed.
  @exclusivity(unchecked) var events = EventQueue()
  /// The current save.
  @exclusivity(unchecked) var savePass = SavePass()
  /// Faults made lately without values, that load together.
  @exclusivity(unchecked) var faultBatch = FaultBatch()
  /// What is known of the to-manys that were read.
  @exclusivity(unchecked) var readMembers = ReadMembers()
  /// Undo manager and what is recorded for it; nil without one.
  @exclusivity(unchecked) var _undo: UndoLink?
  /// The highest epoch of the row cache of all saves that this context has merged.
  var mergedEpoch = 0
  /// Receives errors of reading faults and relationships, which then read as nil and empty; without it, only damaged
  /// files read so, and other errors stop the program.
  var readFailureHandler: ((any Error) -> Void)?
  /// Whether objects record reads for `Observation`.
  @exclusivity(unchecked) var recordsReads = false
  private let _userInfo = NSMutableDictionary()

  /// Creates a context that works on the given kind of queue.
  public init(concurrencyType: NSManagedObjectContextConcurrencyType) {
    _concurrencyType = concurrencyType
    isChecked = ConcurrencyCheck.mode != .off && concurrencyType != .confinement
    queue = ContextQueue(concurrencyType)
    super.init()
    lifeline.tie(to: self)
    queue.context = self
    recordsReads = concurrencyType == .mainQueueConcurrencyType
  }

  /// Creates a context that works on the given kind of queue.
  public convenience init(_ type: ConcurrencyType) { self.init(concurrencyType: type.rawValue) }

  /// Creates a confinement context.
  @available(*, deprecated, message: "Use init(concurrencyType:)")
  public convenience override init() { self.init(concurrencyType: .confinement) }

  deinit {
    lifeline.cut()
    queue.context = nil
    // Objects may outlive the context; they must not call it any more, nor keep each other alive.
    table.forEach { object in
      object._context = nil
      object._relations = nil
    }
  }

  // MARK: Place in the stack

  /// Kind of queue the context works on.
  open var concurrencyType: NSManagedObjectContextConcurrencyType { _concurrencyType }

  /// Coordinator that the context, or the root of its parents, is connected to. Set once, before the context
  /// is used.
  open var persistentStoreCoordinator: NSPersistentStoreCoordinator? {
    get { rootCoordinator }
    set { connect(to: newValue) }
  }

  /// Context that this one reads through and saves to. Set once, before the context is used.
  ///
  /// The parent must work on a queue; the child may be a confinement context. Traps for a confinement context
  /// as parent, for a context that has a coordinator, and for one that is in use.
  open var parent: NSManagedObjectContext? {
    get { _parent }
    set { connect(toParent: newValue) }
  }

  /// A label for debugging, also of the context's private queue.
  open var name: String? {
    didSet { if let name { queue.setLabel(name) } }
  }

  /// Values that the program keeps with the context.
  open var userInfo: NSMutableDictionary { _userInfo }

  /// Name recorded as author of this context's saves in the persistent history.
  @exclusivity(unchecked) open var transactionAuthor: String?

  /// Resolves the conflicts of a save: an `NSMergePolicy`; by default the save fails.
  @exclusivity(unchecked) open var mergePolicy: Any = NSMergePolicy.error

  // MARK: Behaviour

  /// Whether delete rules are applied when changes are processed (true) or only at save.
  @exclusivity(unchecked) open var propagatesDeletesAtEndOfEvent = true

  /// Whether the context keeps all its objects alive.
  @exclusivity(unchecked) open var retainsRegisteredObjects = false

  /// Whether a fault whose row is gone becomes a deleted object with nil values (true) or traps.
  @exclusivity(unchecked) open var shouldDeleteInaccessibleFaults = true

  /// Seconds after which cached values are read again; negative: never, 0: always.
  @exclusivity(unchecked) open var stalenessInterval: TimeInterval = -1

  /// Whether the context merges saves of its parent, or of other contexts of its coordinator, on its queue.
  ///
  /// A child merges what its parent saves, not what another child hands up to it. A merge has its place on the
  /// queue before the save is announced, so that a block which an observer of the save sends to the main queue
  /// finds it merged; beyond 16 merges that wait for the main queue, the others take turns with its other work.
  open var automaticallyMergesChangesFromParent = false {
    didSet {
      guard automaticallyMergesChangesFromParent != oldValue else { return }
      if automaticallyMergesChangesFromParent {
        _parent?.addMergingChild(self)
        _coordinator?.connect(self)
      }
    }
  }

  /// Called when a fault's row is gone.
  ///
  /// - Returns: True to treat the object as deleted; false to trap.
  open func shouldHandleInaccessibleFault(
    _ fault: NSManagedObject, for oid: NSManagedObjectID, triggeredByProperty property: NSPropertyDescription?
  ) -> Bool { shouldDeleteInaccessibleFaults }

  // MARK: Changes

  /// Inserts an object made without context.
  open func insert(_ object: NSManagedObject) {
    checkQueue()
    insertObject(object)
  }

  /// Marks an object to be deleted by the next save. Traps for an object of another context.
  open func delete(_ object: NSManagedObject) {
    checkQueue()
    deleteObject(object)
  }

  /// Saves to the parent or the stores.
  ///
  /// On failure everything stays as it was.
  ///
  /// - Throws: A Cocoa error: validation (1550...1690), conflicts (133020, 133021), or the store's.
  open func save() throws {
    checkQueue()
    try saveChanges()
  }

  /// Applies delete rules and announces what has changed since the last time.
  open func processPendingChanges() {
    checkQueue()
    processChanges()
  }

  /// Drops all objects and unsaved changes. Asynchronous fetches that are under way on a PostgreSQL store fail with
  /// `CocoaError.userCancelled`.
  open func reset() {
    checkQueue()
    resetAll()
  }

  /// Discards unsaved changes.
  open func rollback() {
    checkQueue()
    rollbackAll()
  }

  // MARK: Queue

  /// Runs a block on the context's queue, in turn, and returns at once. Changes are processed after it.
  @preconcurrency open func perform(_ block: @escaping @Sendable () -> Void) { enqueue(block) }

  /// Runs a block for the context and waits; calls nest. Changes are not processed after it.
  ///
  /// A private-queue context runs the block on the caller's thread; a main-queue one on the main queue.
  open func performAndWait(_ block: () -> Void) { queue.sync(block) }

  // MARK: Objects

  /// The object of this ID if the context has it; never reads anything.
  open func registeredObject(for objectID: NSManagedObjectID) -> NSManagedObject? { registered(objectID) }

  /// The object of this ID, as a fault if the context does not have it yet; never nil, never reads anything.
  ///
  /// Filling the fault shows whether there is such an object.
  open func object(with objectID: NSManagedObjectID) -> NSManagedObject { objectOrFault(objectID) }

  /// The object of this ID with its values loaded.
  ///
  /// - Throws: Cocoa error 133000 if there is no such object.
  open func existingObject(with objectID: NSManagedObjectID) throws -> NSManagedObject {
    try storedObject(objectID)
  }

  /// All objects of the context that are in use or changed.
  open var registeredObjects: Set<NSManagedObject> { allRegistered() }

  /// Objects that the next save inserts.
  open var insertedObjects: Set<NSManagedObject> { pending(.inserted) }

  /// Objects that the next save updates.
  open var updatedObjects: Set<NSManagedObject> { pending(.updated) }

  /// Objects that the next save deletes.
  open var deletedObjects: Set<NSManagedObject> { pending(.deleted) }

  /// Whether there is anything to save.
  open var hasChanges: Bool { hasUnsavedChanges }

  /// Gives objects permanent IDs before they are saved; objects that have one are left alone.
  ///
  /// - Throws: A Cocoa error if no store takes the entity or the store cannot be written.
  open func obtainPermanentIDs(for objects: [NSManagedObject]) throws { try givePermanentIDs(to: objects) }

  /// Reads an object's values again, or turns it into a fault.
  ///
  /// - Parameters:
  ///   - object: An object of this context.
  ///   - flag: True: unsaved changes are kept on top of the newer values. False: they are dropped and the
  ///     object becomes a fault.
  open func refresh(_ object: NSManagedObject, mergeChanges flag: Bool) {
    refreshObject(object, mergeChanges: flag)
  }

  /// Refreshes all registered objects, keeping unsaved changes.
  open func refreshAllObjects() { refreshRegistered() }

  // MARK: Requests

  /// Carries out any request but a save.
  ///
  /// A fetch gives an `NSAsynchronousFetchResult` that is complete at once; an asynchronous one is complete
  /// later. Batch and history requests go to the coordinator's stores and leave the context, and its parents'
  /// unsaved changes, as they are.
  ///
  /// - Throws: A Cocoa error.
  @discardableResult
  open func execute(_ request: NSPersistentStoreRequest) throws -> NSPersistentStoreResult {
    try carryOut(request)
  }

  /// Token of the state that the context reads; nil when it reads the latest, and always nil for a child
  /// context, which reads what its parent does.
  open var queryGenerationToken: NSQueryGenerationToken? { generationRead }

  /// Pins the context to a state of the stores: from now on it reads that state, and not what others save.
  ///
  /// `NSQueryGenerationToken.current` takes the state at the context's next read, another context's token the
  /// state that the other reads, and nil ends it. Objects read before keep their values; refresh or fetch
  /// them. The context moves on to the latest state when it saves, merges changes, or is reset.
  ///
  /// Needs SQLite stores with a write-ahead log, as they are by default; of any other store the latest state
  /// is read, and a context whose stores are all such stays unpinned. Stores added later are not read until
  /// the context moves on.
  ///
  /// A pinned state costs a connection to each store and holds a read transaction open there: as long as it
  /// lasts, SQLite cannot empty the write-ahead log into the file, and the log grows with everything that is
  /// written. Let tokens go, or pin to the current state again, from time to time.
  ///
  /// Traps for a child context, as Core Data raises.
  ///
  /// - Throws: A Cocoa error when a store cannot be read, or for the token of another coordinator's context.
  open func setQueryGenerationFrom(_ generation: NSQueryGenerationToken?) throws { try pin(to: generation) }

  /// Objects (or IDs, dictionaries, one count) that meet the request, unsaved changes of this context and its
  /// parents included.
  ///
  /// - Throws: A Cocoa error: an unknown entity, a predicate that cannot be translated, the store's own.
  open func fetch<T>(_ request: NSFetchRequest<T>) throws -> [T] { try fetchOverridably(request) }

  /// What `fetch(_:)` of any request goes through in a subclass, which may override it for all of them.
  ///
  /// - Throws: As `fetch(_:)`.
  open func fetch(_ request: NSFetchRequest<any NSFetchRequestResult>) throws -> [Any] {
    try fetchResults(request)
  }

  /// Number of objects that a fetch would return, without making them.
  ///
  /// - Throws: As `fetch(_:)`.
  open func count<T>(for request: NSFetchRequest<T>) throws -> Int { try countOverridably(request) }

  /// What `count(for:)` of any request goes through in a subclass, which may override it for all of them.
  ///
  /// - Throws: As `fetch(_:)`.
  open func count(for request: NSFetchRequest<any NSFetchRequestResult>) throws -> Int {
    try count(for: request as AnyFetchRequest)
  }

  // MARK: Merging and saving

  /// Makes the next save check the version of an unchanged object, and meet a conflict if another context has saved it.
  open func detectConflicts(for object: NSManagedObject) { lockVersion(of: object) }

  /// Chooses the store that a new object is saved to.
  ///
  /// Without it that is the first writable store, in the order in which they were added, whose configuration
  /// has the object's entity. Traps for a store of another coordinator, for one that does not take the
  /// entity, and for an object that lives in another store already.
  open func assign(_ object: Any, to store: NSPersistentStore) { chooseStore(store, for: object) }

  /// Refreshes objects updated elsewhere, registers those inserted, deletes those deleted; unsaved changes win.
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
  /// Changes are registered as one action when they are processed. With a manager whose `groupsByEvent` is
  /// off and no group open, where Core Data raises, the context puts each action into a group of its own.
  open var undoManager: UndoManager? {
    get { _undo?.manager }
    set { recordChanges(with: newValue) }
  }
}
