import CoreData
import Foundation

#if canImport(Darwin)
private struct WeakContext { weak var context: NSManagedObjectContext? }
#endif

/// Merges the saves of each context into the others, each on its own queue. Only one merge at a time waits on
/// the main queue, so that other work can run in between.
///
/// Ignores saves of unknown coordinators (other databases) and a context's own. May be used from any thread.
final class SaveMerger: @unchecked Sendable {
  // Unchecked: `_contexts`, `_observer` and `_handler` are guarded by the lock; all other members are
  // immutable.
  private let _lock = NSLock()
  private var _observer: (any NSObjectProtocol)?
  private var _contexts: [WeakContext] = []
  private var _handler: (@Sendable (NSManagedObjectContext, Notification) -> Void)?
  private let _coordinators: [NSPersistentStoreCoordinator]
  private let _turns = Turns()
  private let _group = DispatchGroup()

  /// Creates a merger for the saves of some coordinators of one store.
  ///
  /// - Parameter handler: Called on a context's queue instead of merging.
  init(
    _ coordinators: [NSPersistentStoreCoordinator],
    handler: (@Sendable (NSManagedObjectContext, Notification) -> Void)? = nil
  ) {
    _coordinators = coordinators
    _handler = handler
    let observer = NotificationCenter.default.addObserver(
      forName: .NSManagedObjectContextDidSave, object: nil, queue: nil
    ) { [weak self] notification in
      self?._didSave(notification)
    }
    _lock.withLock { _observer = observer }
  }

  deinit {
    if let _observer { NotificationCenter.default.removeObserver(_observer) }
  }

  /// Merges the saves of the others into a context, which is not retained.
  func add(_ context: NSManagedObjectContext) {
    _lock.withLock {
      _contexts.removeAll { $0.context == nil }
      _contexts.append(WeakContext(context: context))
    }
  }

  private func _didSave(_ notification: Notification) {
    guard let saved = notification.object as? NSManagedObjectContext, saved.parent == nil,
      let coordinator = saved.persistentStoreCoordinator,
      _coordinators.contains(where: { $0 === coordinator })
    else { return }
    let (contexts, handler) = _lock.withLock { (_contexts.compactMap(\.context), _handler) }
    for context in contexts where context !== saved {
      let saved = Handover(value: notification)
      _group.enter()
      let merge: @Sendable () -> Void = {
        if let handler {
          handler(context, saved.value)
        } else {
          context.mergeChanges(fromContextDidSave: saved.value)
        }
        self._group.leave()
      }
      if context.concurrencyType == .mainQueueConcurrencyType {
        _turns.add(on: context, merge)
      } else {
        context.perform(merge)
      }
    }
  }

  /// Returns once no merge is pending.
  func waitUntilIdle() async {
    await withCheckedContinuation { continuation in
      _group.notify(queue: .global()) { continuation.resume() }
    }
  }
}
