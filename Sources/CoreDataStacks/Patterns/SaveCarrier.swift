import CoreData
import Foundation

/// Propagates the saves of child contexts up, level by level, to the store.
///
/// May be used from any thread.
final class SaveCarrier: @unchecked Sendable {
  // Unchecked: `_failure` and `_observation` are guarded by the lock; all other members are immutable.
  private let _lock = NSLock()
  private var _observation: NotificationObservation?
  private var _failure: (@Sendable (any Error, NSManagedObjectContext) -> Void)?
  private let _mark = NSObject()
  private let _group = DispatchGroup()
  private static let _key = "CoreDataStack.SaveCarrier"

  init() {
    // One observation for all saves, however many children come and go.
    let observation = NotificationObservation(of: .NSManagedObjectContextDidSave) {
      [weak self] notification in
      self?._didSave(notification.object as? NSManagedObjectContext)
    }
    _lock.withLock { _observation = observation }
  }

  /// Called with the error of a propagated save, on the queue of the context that failed to save.
  var onFailure: (@Sendable (any Error, NSManagedObjectContext) -> Void)? {
    get { _lock.withLock { _failure } }
    set { _lock.withLock { _failure = newValue } }
  }

  /// Propagates the saves of a context to its parent from now on. Call before the context is used.
  func watch(_ context: NSManagedObjectContext) { context.userInfo[Self._key as NSString] = _mark }

  /// Whether saves of this context are propagated.
  private func _watches(_ context: NSManagedObjectContext) -> Bool {
    (context.userInfo[Self._key as NSString] as? NSObject) === _mark
  }

  private func _didSave(_ saved: NSManagedObjectContext?) {
    guard let saved, _watches(saved), let parent = saved.parent else { return }
    _group.enter()
    parent.saveContext { result in
      if case .failure(let error) = result { self.onFailure?(error, parent) }
      self._group.leave()
    }
  }

  /// Returns once no save is pending.
  func waitUntilIdle() async {
    await withCheckedContinuation { continuation in
      _group.notify(queue: .global()) { continuation.resume() }
    }
  }

  /// Calls a block on a queue once no save is pending.
  func whenIdle(on queue: DispatchQueue, _ block: @escaping @Sendable () -> Void) {
    _group.notify(queue: queue, execute: block)
  }
}
