import CoreDataModelSchema

// Internal observation of a context, with more detail than the notifications carry.

/// Observes the objects of a context. Called on the context's queue when it processes changes.
protocol ContextObserver: AnyObject {
  /// The context has processed changes; called before the notification is posted.
  func context(_ context: NSManagedObjectContext, didProcess changes: EventSets, merged: [MergedRow])

  /// The context has saved; called before the notification is posted. Inserted objects of a context on a
  /// coordinator have their permanent IDs.
  func contextDidSave(_ context: NSManagedObjectContext)

  /// The context has dropped all its objects.
  func contextWasReset(_ context: NSManagedObjectContext)

  /// What contradicts itself in what the observer keeps, for tests.
  var inconsistencies: [String] { get }
}

extension ContextObserver {
  var inconsistencies: [String] { [] }
}

/// A merged update of an object that is a fault or not registered. No notification reports it, but it may
/// enter a list or move within one.
struct MergedRow {
  let id: NSManagedObjectID
  /// The saved values; nil if the merge carried only IDs.
  let row: Row?
}

/// A weak reference to an observer.
struct WeakObserver {
  weak var observer: (any ContextObserver)?
}

extension NSManagedObjectContext {
  final func addObserver(_ observer: any ContextObserver) { events.add(observer) }

  final func removeObserver(_ observer: any ContextObserver) { events.remove(observer) }

  /// Records a merged update of an object that is not registered. Free without observers.
  final func recordUnseenMerge(_ id: NSManagedObjectID, _ row: Row?) {
    guard !events.observers.isEmpty else { return }
    events.unseenMerges.append(MergedRow(id: id, row: row))
  }

  final func notifyObservers(_ sets: EventSets) {
    guard !events.observers.isEmpty else { return }
    let merged = events.drainUnseenMerges()
    for observer in events.observers { observer.observer?.context(self, didProcess: sets, merged: merged) }
  }

  final func notifyObserversOfSave() {
    for observer in events.observers { observer.observer?.contextDidSave(self) }
  }

  final func notifyObserversOfReset() {
    events.unseenMerges = []
    for observer in events.observers { observer.observer?.contextWasReset(self) }
  }
}
