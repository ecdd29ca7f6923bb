import CoreDataModelSchema

/// What a context announces when it next processes changes, and to whom.
struct EventQueue {
  // MARK: To be processed

  /// Objects changed since changes were last processed.
  var changed: [NSManagedObject] = []
  /// Deleted objects whose delete rules have not been applied yet.
  var deletions: [NSManagedObject] = []
  /// Whether a turn of the main queue that processes changes is enqueued.
  var isScheduled = false
  /// Whether changes are being processed.
  var isProcessing = false

  // MARK: Merging

  /// Whether a merge makes the changes.
  var isMerge = false
  /// Slots that the current merge has brought changes of, for observed objects.
  var mergedSlots: [ObjectIdentifier: SlotSet] = [:]
  /// Merged updates of objects that the context does not show, until the observers are notified.
  var unseenMerges: [MergedRow] = []

  // MARK: Announcing

  /// Observers of this context's objects; see `ContextObserver`.
  var observers: [WeakObserver] = []
  /// The sets of the last announcement if these are all unsaved objects: the save then announces the same sets.
  var announced: EventSets?
  /// Empty sets of an earlier small announcement, to be filled again.
  var spareSets: EventSets?
  /// The user info of a notification by its combination of sets; made for the first one.
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

  /// Drops what is to be processed, after a rollback or a reset.
  mutating func discard() {
    changed = []
    deletions = []
    announced = nil
  }

  /// Empties the list of merges that no object shows.
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
