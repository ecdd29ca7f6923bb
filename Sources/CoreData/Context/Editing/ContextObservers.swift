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

/// The observers of a context, and what they are told.
struct ContextObservers {
  let context: NSManagedObjectContext

  func add(_ observer: any ContextObserver) { context.events.add(observer) }

  /// Records a merged update of an object that is a fault or not registered, for the next announcement. Free
  /// without observers.
  func noteUnseenMerge(_ id: NSManagedObjectID, _ row: Row?) {
    guard !context.events.observers.isEmpty else { return }
    context.events.unseenMerges.append(MergedRow(id: id, row: row))
  }

  func tell(of sets: EventSets) {
    guard !context.events.observers.isEmpty else { return }
    let merged = context.events.drainUnseenMerges()
    for observer in context.events.observers {
      observer.observer?.context(context, didProcess: sets, merged: merged)
    }
  }

  func tellOfSave() {
    for observer in context.events.observers { observer.observer?.contextDidSave(context) }
  }

  func tellOfReset() {
    context.events.unseenMerges = []
    for observer in context.events.observers { observer.observer?.contextWasReset(context) }
  }
}

extension NSManagedObjectContext {
  /// What tells the observers of the context's objects.
  @inline(__always) final var observers: ContextObservers { ContextObservers(context: self) }
}
