import CoreData
import Foundation

/// When a monitor reports.
public enum FireFrequency: Sendable, Hashable {
  /// Whenever the context processes changes.
  case onChange
  /// Whenever the context saves.
  case onSave
}

/// Receives the changes of an entity's objects from a monitor, on the context's queue.
///
/// ```swift
/// final class Counter: EntityMonitorDelegate {
///   func entityMonitorObservedInserts(_ monitor: EntityMonitor<Book>, entities: Set<Book>) {
///     print("\(entities.count) new books")
///   }
///   func entityMonitorObservedDeletions(_ monitor: EntityMonitor<Book>, entities: Set<Book>) {}
///   func entityMonitorObservedModifications(_ monitor: EntityMonitor<Book>, entities: Set<Book>) {}
/// }
/// let monitor = EntityMonitor<Book>(context: context, entity: Book.entity())
/// let counter = Counter()
/// monitor.setDelegate(counter)
/// ```
public protocol EntityMonitorDelegate: AnyObject {
  /// Class of the objects.
  associatedtype T: NSManagedObject

  /// Objects were inserted.
  func entityMonitorObservedInserts(_ monitor: EntityMonitor<T>, entities: Set<T>)

  /// Objects were deleted; their values are still readable.
  func entityMonitorObservedDeletions(_ monitor: EntityMonitor<T>, entities: Set<T>)

  /// Objects were changed.
  func entityMonitorObservedModifications(_ monitor: EntityMonitor<T>, entities: Set<T>)
}

/// Changes of an entity's objects, as IDs.
public struct EntityChanges<T: NSManagedObject>: Sendable, Hashable {
  /// Objects inserted.
  public let inserted: Set<ObjectID<T>>
  /// Objects changed.
  public let modified: Set<ObjectID<T>>
  /// Objects deleted.
  public let deleted: Set<ObjectID<T>>
}

/// Observes the objects of one entity in a context: exactly this entity, not its subentities.
///
/// Retained by its owner. Delegates are called on the context's queue, insertions first, then deletions, then
/// modifications.
///
/// ```swift
/// let monitor = EntityMonitor<Book>(context: context, entity: Book.entity(), frequency: .onSave)
/// for await changes in monitor.changes {
///   print(changes.inserted.count, changes.modified.count, changes.deleted.count)
/// }
/// ```
public final class EntityMonitor<T: NSManagedObject>: @unchecked Sendable {
  // Unchecked: `_observation`, `_delegate` and `_streams` are guarded by the lock; all other members are
  // immutable.

  private struct Groups {
    let inserted: Set<T>
    let deleted: Set<T>
    let modified: Set<T>
    var isEmpty: Bool { inserted.isEmpty && deleted.isEmpty && modified.isEmpty }
  }

  private let _lock = NSLock()
  private weak var _context: NSManagedObjectContext?
  private let _entity: NSEntityDescription
  private let _filter: NSPredicate?
  private var _observation: NotificationObservation?
  private var _delegate: ((EntityMonitor<T>, Set<T>, Set<T>, Set<T>) -> Void)?
  private var _streams: [UUID: AsyncStream<EntityChanges<T>>.Continuation] = [:]

  /// Starts observing.
  ///
  /// - Parameters:
  ///   - context: The context to observe.
  ///   - entity: The entity. Traps unless its class is `T`.
  ///   - frequency: The kind of event to observe.
  ///   - filterPredicate: The condition for reported objects.
  public init(
    context: NSManagedObjectContext, entity: NSEntityDescription, frequency: FireFrequency = .onSave,
    filterPredicate: NSPredicate? = nil
  ) {
    let name = entity.managedObjectClassName.flatMap { $0.isEmpty ? nil : $0 } ?? "NSManagedObject"
    // Models may name a class without its module.
    precondition(
      NSClassFromString(name) == T.self
        || name.split(separator: ".").last.map(String.init) == String(describing: T.self),
      "an EntityMonitor of \(T.self) cannot watch entity '\(entity.name ?? "?")', whose class is '\(name)'")
    _context = context
    _entity = entity
    _filter = filterPredicate
    let notification: Notification.Name =
      frequency == .onChange ? .NSManagedObjectContextObjectsDidChange : .NSManagedObjectContextDidSave
    let observation = NotificationObservation(of: notification) { [weak self] notification in
      guard let self, let context = self._context, notification.object as AnyObject === context else {
        return
      }
      context.performAndWait { self._look(at: notification.userInfo ?? [:]) }
    }
    _lock.withLock { _observation = observation }
  }

  deinit {
    for stream in _streams.values { stream.finish() }
  }

  /// Sets the delegate; held weakly.
  public func setDelegate<Delegate: EntityMonitorDelegate>(_ delegate: Delegate) where Delegate.T == T {
    let tell: (EntityMonitor<T>, Set<T>, Set<T>, Set<T>) -> Void = {
      [weak delegate] monitor, inserted, deleted, modified in
      guard let delegate else { return }
      if !inserted.isEmpty { delegate.entityMonitorObservedInserts(monitor, entities: inserted) }
      if !deleted.isEmpty { delegate.entityMonitorObservedDeletions(monitor, entities: deleted) }
      if !modified.isEmpty { delegate.entityMonitorObservedModifications(monitor, entities: modified) }
    }
    _lock.withLock { _delegate = tell }
  }

  /// Changes from now on, as IDs; ends with the monitor.
  public var changes: AsyncStream<EntityChanges<T>> {
    AsyncStream { continuation in
      let id = UUID()
      _lock.withLock { _streams[id] = continuation }
      continuation.onTermination = { [weak self] _ in
        guard let self else { return }
        self._lock.withLock { self._streams[id] = nil }
      }
    }
  }

  private func _look(at userInfo: [AnyHashable: Any]) {
    let groups = Groups(
      inserted: _mine(userInfo[NSInsertedObjectsKey]), deleted: _mine(userInfo[NSDeletedObjectsKey]),
      modified: _mine(userInfo[NSUpdatedObjectsKey]))
    guard !groups.isEmpty else { return }
    let (tell, streams) = _lock.withLock { (_delegate, Array(_streams.values)) }
    tell?(self, groups.inserted, groups.deleted, groups.modified)
    guard !streams.isEmpty else { return }
    func ids(_ objects: Set<T>) -> Set<ObjectID<T>> { Set(objects.map { ObjectID($0) }) }
    let changes = EntityChanges<T>(
      inserted: ids(groups.inserted), modified: ids(groups.modified), deleted: ids(groups.deleted))
    for stream in streams { stream.yield(changes) }
  }

  private func _mine(_ objects: Any?) -> Set<T> {
    guard let objects = objects as? Set<NSManagedObject> else { return [] }
    var mine = Set<T>()
    for object in objects where object.entity.name == _entity.name {
      if let _filter, !_filter.evaluate(with: object) { continue }
      guard let typed = object as? T else {
        preconditionFailure(
          "entity '\(_entity.name ?? "")' has class \(type(of: object)); the monitor expects \(T.self)")
      }
      mine.insert(typed)
    }
    return mine
  }
}
