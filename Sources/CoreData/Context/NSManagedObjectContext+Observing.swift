import CoreDataModelSchema

// What the framework's own followers of a context are told: more than the notification says.

/// Follows the objects of a context; called on its queue, when the context processes changes.
protocol ContextObserver: AnyObject {
  /// The context has processed changes; called before the notification is posted.
  func context(_ context: NSManagedObjectContext, didProcess changes: EventSets, merged: [MergedRow])

  /// The context has saved; called before the notification is posted. Inserted objects of a context on a
  /// coordinator have their permanent IDs.
  func contextDidSave(_ context: NSManagedObjectContext)

  /// The context has forgotten all its objects.
  func contextWasReset(_ context: NSManagedObjectContext)
}

/// A merged update of an object that the context does not show: not registered, or a fault. No notification
/// tells of it, but it may belong into a list, or to another place there.
struct MergedRow {
  let id: NSManagedObjectID
  /// Values as saved; nil where the merge brought identities only.
  let row: Row?
}

/// An observer held without keeping it alive.
struct WeakObserver {
  weak var observer: (any ContextObserver)?
}

extension NSManagedObjectContext {
  final func addObserver(_ observer: any ContextObserver) { events.add(observer) }

  final func removeObserver(_ observer: any ContextObserver) { events.remove(observer) }

  /// Records a merged update of an object that is not registered. Costs nothing without observers.
  final func recordUnseenMerge(_ id: NSManagedObjectID, _ row: Row?) {
    guard !events.observers.isEmpty else { return }
    events.unseenMerges.append(MergedRow(id: id, row: row))
  }

  final func tellObservers(_ sets: EventSets) {
    guard !events.observers.isEmpty else { return }
    let merged = events.drainUnseenMerges()
    for observer in events.observers { observer.observer?.context(self, didProcess: sets, merged: merged) }
  }

  final func tellObserversOfSave() {
    for observer in events.observers { observer.observer?.contextDidSave(self) }
  }

  final func tellObserversOfReset() {
    events.unseenMerges = []
    for observer in events.observers { observer.observer?.contextWasReset(self) }
  }
}
