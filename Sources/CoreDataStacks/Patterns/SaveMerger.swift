import CoreData
import Foundation

/// Merges the saves of a coordinator's contexts into contexts of another coordinator of the same store, each
/// on its own queue. Within one coordinator, contexts merge automatically.
///
/// Keeps nothing of a save but object IDs, and neither its target contexts nor those that have saved. May be
/// used from any thread.
final class SaveMerger: @unchecked Sendable {
  // Unchecked: `_lines` and `_observation` are guarded by the lock; all other members are immutable.
  private let _lock = NSLock()
  private var _observation: NotificationObservation?
  private var _lines: [MergeLine] = []
  private let _coordinator: NSPersistentStoreCoordinator
  private let _handler: (@Sendable (NSManagedObjectContext) -> Void)?
  private let _group = DispatchGroup()

  /// Creates a merger for the saves of a coordinator's contexts.
  ///
  /// - Parameter handler: Called on a context's queue instead of merging, once for all saves that wait.
  init(
    _ coordinator: NSPersistentStoreCoordinator, handler: (@Sendable (NSManagedObjectContext) -> Void)? = nil
  ) {
    _coordinator = coordinator
    _handler = handler
    let observation = NotificationObservation(of: .NSManagedObjectContextDidSaveObjectIDs) {
      [weak self] notification in
      self?._didSave(notification)
    }
    _lock.withLock { _observation = observation }
  }

  /// Merges the saves into a context, which is not retained.
  func add(_ context: NSManagedObjectContext) {
    _lock.withLock {
      _lines.removeAll { $0.context == nil }
      _lines.append(MergeLine(context, _group, _handler))
    }
  }

  private func _didSave(_ notification: Notification) {
    guard let saved = notification.object as? NSManagedObjectContext, saved.parent == nil,
      saved.persistentStoreCoordinator === _coordinator
    else { return }
    let lines = _lock.withLock { _lines }
    for line in lines { line.add(notification) }
  }

  /// Returns once no merge is pending.
  func waitUntilIdle() async {
    await withCheckedContinuation { continuation in
      _group.notify(queue: .global()) { continuation.resume() }
    }
  }
}
