import CoreData
import Foundation

/// Carries the saves of child contexts up, level by level, until they are in the store.
///
/// May be used from any thread.
final class SaveCarrier: @unchecked Sendable {
  // Unchecked: `_failure` and `_observer` are guarded by the lock; everything else is immutable.
  private let _lock = NSLock()
  private var _observer: (any NSObjectProtocol)?
  private var _failure: (@Sendable (any Error, NSManagedObjectContext) -> Void)?
  private let _mark = NSObject()
  private let _group = DispatchGroup()
  private static let _key = "CoreDataStack.SaveCarrier"

  init() {
    // One observer for all saves: observing each context by itself would keep it alive.
    let observer = NotificationCenter.default.addObserver(
      forName: .NSManagedObjectContextDidSave, object: nil, queue: nil
    ) { [weak self] notification in
      self?._didSave(notification.object as? NSManagedObjectContext)
    }
    _lock.withLock { _observer = observer }
  }

  deinit {
    if let _observer { NotificationCenter.default.removeObserver(_observer) }
  }

  /// Called with what a save that was carried up failed with, on the queue of the context that could not be
  /// saved.
  var onFailure: (@Sendable (any Error, NSManagedObjectContext) -> Void)? {
    get { _lock.withLock { _failure } }
    set { _lock.withLock { _failure = newValue } }
  }

  /// Has the saves of a context carried to its parent from now on. Call before the context is used.
  func watch(_ context: NSManagedObjectContext) { context.userInfo[Self._key as NSString] = _mark }

  /// Whether saves of this context are carried.
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

  /// Returns once no save is left to carry.
  func waitUntilIdle() async {
    await withCheckedContinuation { continuation in
      _group.notify(queue: .global()) { continuation.resume() }
    }
  }

  /// Calls a block on a queue once no save is left to carry.
  func whenIdle(on queue: DispatchQueue, _ block: @escaping @Sendable () -> Void) {
    _group.notify(queue: queue, execute: block)
  }
}
