import CoreDataModelSchema
import Foundation

/// On which queue a context works; raw values are Apple's.
public enum NSManagedObjectContextConcurrencyType: UInt, Sendable {
  /// Legacy: the context is used on the thread that made it, without perform blocks.
  @available(*, deprecated, message: "Use a private-queue or main-queue context and its perform methods")
  case confinementConcurrencyType = 0
  /// A queue of its own.
  case privateQueueConcurrencyType = 1
  /// The main queue.
  case mainQueueConcurrencyType = 2

  /// The legacy kind, for the engine itself, which goes on supporting it.
  package static let confinement = NSManagedObjectContextConcurrencyType(rawValue: 0)!
}

/// A space in which managed objects are fetched, changed and saved.
///
/// A context is a serial executor: use it and its objects only inside `perform` blocks, or, for a main-queue
/// context, on the main queue. Its upstream is a coordinator or a parent context; what differs between the
/// two stays behind that line. The context publishes its unsaved state, so that children read it without
/// visiting its queue.
open class NSManagedObjectContext: NSObject, Reachable, @unchecked Sendable {
  // Unchecked: every member is used on the context's queue only, but `queue`, `overlay` and `generationPin`,
  // which are Sendable, and the few read from elsewhere while immutable (`parent`,
  // `persistentStoreCoordinator`: set once, before the context is used).

  final let lifeline = Lifeline()
  let queue: ContextQueue
  /// Unsaved state as children read it.
  let overlay = PublishedOverlay()
  /// State of the stores that is read; see `setQueryGenerationFrom(_:)`.
  let generationPin = GenerationPin()

  /// Whether uses from other queues trap.
  let isChecked: Bool
  private let _concurrencyType: NSManagedObjectContextConcurrencyType
  @exclusivity(unchecked) var _parent: NSManagedObjectContext?
  @exclusivity(unchecked) var _coordinator: NSPersistentStoreCoordinator?
  /// The coordinator's model once it is in use.
  @exclusivity(unchecked) var _frozen: FrozenModel?
  /// What temporary IDs of an entity share, by entity number - 1.
  @exclusivity(unchecked) var _temporarySpaces: [ObjectIDSpace?] = []
  /// Children that merge what this context saves.
  @exclusivity(unchecked) var _mergingChildren: [WeakContext] = []

  // MARK: Registry and changes

  @exclusivity(unchecked) var table = ObjectTable()
  /// Objects with unsaved changes of their own, in the order in which they were first changed. Some may have
  /// lost their flags since; lists are filtered when read.
  @exclusivity(unchecked) var listed: [NSManagedObject] = []
  /// Objects changed since changes were last processed.
  @exclusivity(unchecked) var eventList: [NSManagedObject] = []
  /// Objects deleted whose delete rules have not been applied yet.
  @exclusivity(unchecked) var unpropagatedDeletions: [NSManagedObject] = []
  /// Whether anything was deleted here since the last save.
  @exclusivity(unchecked) var hasPendingDeletions = false
  /// Entity numbers of which objects' to-manys may hold members here: what was deleted elsewhere is looked
  /// for in none else.
  var knownMemberKinds: Set<Int> = []
  /// Pending objects by attribute value, for look-ups among them; see `PendingIndex`.
  var pendingIndex = PendingIndex()
  /// Faults made lately without values, that load together.
  @exclusivity(unchecked) var faultBatch = FaultBatch()
  @exclusivity(unchecked) var isSaving = false
  /// Whether objects' `willSave` is being called.
  var isCallingWillSave = false
  /// What objects wrote through primitives in their last `willSave`: saved as it is, unchecked.
  var primitivesInWillSave: [ObjectIdentifier: SlotSet] = [:]
  /// What the last save wrote, kept while an insertion waits for the next one.
  var savedLately: [NSManagedObject] = []
  /// Place in history that the save under way has led to.
  @exclusivity(unchecked) var savedToken: NSPersistentHistoryToken?
  /// Mark of the row cache's state that the last save into stores has led to.
  @exclusivity(unchecked) var savedEpoch = 0
  @exclusivity(unchecked) var isFlushing = false
  @exclusivity(unchecked) var isFlushScheduled = false
  /// Entity that a class was last found to stand for.
  @exclusivity(unchecked) var lastEntity: NSEntityDescription?
  /// Whether objects note reads for `Observation`.
  @exclusivity(unchecked) var notesReads = false
  /// Undo manager and what is recorded for it; nil without one.
  @exclusivity(unchecked) var _undo: UndoLink?
  /// Who follows this context's objects; see `ContextObserver`.
  @exclusivity(unchecked) var changeObservers: [WeakObserver] = []
  /// Merged updates of objects that are not shown, until the observers are told.
  @exclusivity(unchecked) var unseenMerges: [MergedRow] = []
  /// Whether members were left out of a to-many that was read, because they are pointed elsewhere here.
  @exclusivity(unchecked) var hasLeftOutMembers = false
  /// The sets of the last announcement if these are all unsaved objects: then the save tells of the same
  /// ones.
  @exclusivity(unchecked) var announcedUnsaved: EventSets?
  /// Empty sets of a small announcement made before, to be filled again.
  @exclusivity(unchecked) var spareEventSets: EventSets?
  /// What every notification of changes carries; made for the first one.
  @exclusivity(unchecked) var changeUserInfos = [ChangeUserInfo?](repeating: nil, count: 16)
  private let _userInfo = NSMutableDictionary()

  /// Creates a context that works on the given kind of queue.
  public init(concurrencyType: NSManagedObjectContextConcurrencyType) {
    _concurrencyType = concurrencyType
    isChecked = ConcurrencyCheck.isOn && concurrencyType != .confinement
    queue = ContextQueue(concurrencyType)
    super.init()
    lifeline.tie(to: self)
    queue.context = self
    notesReads = concurrencyType == .mainQueueConcurrencyType
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
    get { _coordinator ?? _parent?.persistentStoreCoordinator }
    set {
      guard newValue !== _coordinator else { return }
      if _parent != nil {
        programmerError("\(label) has a parent context; it cannot have a coordinator of its own.")
      }
      if let old = _coordinator {
        guard table.count == 0 else {
          programmerError(
            "\(label) is in use; its coordinator cannot be changed. Make a new context instead.")
        }
        old.disconnect(self)
        _frozen = nil
        lastEntity = nil
      }
      _coordinator = newValue
      if automaticallyMergesChangesFromParent { newValue?.connect(self) }
    }
  }

  /// Context that this one reads through and saves to. Set once, before the context is used; both must work
  /// on queues.
  open var parent: NSManagedObjectContext? {
    get { _parent }
    set {
      guard newValue !== _parent else { return }
      if _coordinator != nil {
        programmerError("\(label) has a coordinator; it cannot have a parent context too.")
      }
      guard table.count == 0, listed.isEmpty else {
        programmerError("\(label) is in use; its parent cannot be changed. Make a new context instead.")
      }
      if let newValue {
        if _concurrencyType == .confinement
          || newValue._concurrencyType == .confinement
        {
          programmerError("parent and child contexts must both work on queues; confinement contexts do not.")
        }
        newValue.overlay.addReader()
        // What was changed before the first child came has not been marked yet.
        if !newValue.listed.isEmpty { newValue.overlay.markStale() }
      }
      _parent = newValue
      if automaticallyMergesChangesFromParent { newValue?.addMergingChild(self) }
    }
  }

  /// A free label, for debugging; a private queue takes it as its label.
  open var name: String? {
    didSet { if let name { queue.setLabel(name) } }
  }

  /// Whatever the owner of the context wants to keep with it.
  open var userInfo: NSMutableDictionary { _userInfo }

  /// Name recorded as author of this context's saves in the persistent history.
  @exclusivity(unchecked) open var transactionAuthor: String?

  /// How conflicts in a save are settled: an `NSMergePolicy`; by default the save fails.
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

  /// Whether saves of the parent, or of other contexts of the same coordinator, are merged on this context's
  /// queue.
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

  /// Name or kind and address, for messages.
  final var label: String {
    if let name { return "context '\(name)'" }
    let kind =
      switch _concurrencyType {
      case .mainQueueConcurrencyType: "main-queue"
      case .privateQueueConcurrencyType: "private-queue"
      default: "confinement"
      }
    return "\(kind) context \(Unmanaged.passUnretained(self).toOpaque())"
  }

  // MARK: Overridable operations

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

  /// Forgets all objects and unsaved changes.
  open func reset() {
    checkQueue()
    resetAll()
  }

  /// Throws unsaved changes away.
  open func rollback() {
    checkQueue()
    rollbackAll()
  }
}

/// A context held without keeping it alive, and without making every retain of it slower, as a weak reference
/// would.
package struct WeakContext: Sendable {
  @Loose private var _context: NSManagedObjectContext?

  /// Refers to a context.
  package init(context: NSManagedObjectContext) { _context = context }

  /// The context, or nil when it is gone.
  package var context: NSManagedObjectContext? { _context }
}

extension NSManagedObjectContext {
  /// On which queue a context works, in Swift's spelling.
  public struct ConcurrencyType: Hashable, RawRepresentable, Sendable {
    public let rawValue: NSManagedObjectContextConcurrencyType
    public init(rawValue: NSManagedObjectContextConcurrencyType) { self.rawValue = rawValue }
    /// A queue of its own.
    public static let privateQueue = ConcurrencyType(rawValue: .privateQueueConcurrencyType)
    /// The main queue.
    public static let mainQueue = ConcurrencyType(rawValue: .mainQueueConcurrencyType)
  }

  /// When an async `perform` runs its block.
  public enum ScheduledTaskType: Hashable, Sendable {
    /// At once if already executing for the context, else in turn.
    case immediate
    /// Always in turn.
    case enqueued
  }
}
