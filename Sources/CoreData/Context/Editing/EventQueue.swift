import CoreDataModelSchema

/// The changes that a context announces when it next processes changes, and its observers.
struct EventQueue {
  // MARK: To be processed

  /// Objects changed since changes were last processed.
  var changed: [NSManagedObject] = []
  /// Deleted objects whose delete rules have not been applied yet.
  var deletions: [NSManagedObject] = []
  /// Whether a main-queue turn that processes changes is enqueued.
  var isScheduled = false
  /// Whether changes are being processed.
  var isProcessing = false

  // MARK: Merging

  /// Whether a merge made the current changes.
  var isMerge = false
  /// Slots that the current merge changed, by observed object.
  var mergedSlots: [ObjectIdentifier: SlotSet] = [:]
  /// Merged updates of unregistered objects and faults, until the observers are notified.
  var unseenMerges: [MergedRow] = []

  // MARK: Announcing

  /// Observers of this context's objects; see `ContextObserver`.
  var observers: [WeakObserver] = []
  /// The sets of the last announcement if they contain all unsaved objects, or all that a child has saved; the save
  /// then reuses them.
  var announced: EventSets?
  /// Empty sets of an earlier small announcement, for reuse.
  var spareSets: EventSets?
  /// The reusable user info of notifications by combination of sets, created on demand.
  var userInfos = [ChangeUserInfo?](repeating: nil, count: ChangeUserInfo.combinations)

  /// Empties the list of changed objects.
  mutating func drainChanged() -> [NSManagedObject] {
    let drained = changed
    changed = []
    return drained
  }

  /// Empties the list of deletions.
  mutating func drainDeletions() -> [NSManagedObject] {
    let drained = deletions
    deletions = []
    return drained
  }

  /// Drops all pending events, after a rollback or a reset.
  mutating func discard() {
    changed = []
    deletions = []
    announced = nil
  }

  /// Empties the list of merged updates that no object shows.
  mutating func drainUnseenMerges() -> [MergedRow] {
    let drained = unseenMerges
    unseenMerges = []
    return drained
  }

  mutating func add(_ observer: any ContextObserver) {
    remove(observer)
    observers.append(WeakObserver(observer: observer))
  }

  mutating func remove(_ observer: any ContextObserver) {
    observers.removeAll { $0.observer == nil || $0.observer === observer }
  }
}
