import CoreData
import Foundation

/// What waits to be merged into a context. Only one block at a time waits on its queue, and merges a bounded
/// number of objects, so that other work can run in between.
///
/// May be used from any thread.
final class MergeLine: @unchecked Sendable {
  // Unchecked: `_waiting`, `_parts` and `_isTaken` are guarded by the lock; all other members are immutable.
  /// The most objects that are merged into a context in one block of its queue.
  static let mostMerged = 1_000

  private(set) weak var context: NSManagedObjectContext?
  private let _handler: (@Sendable (NSManagedObjectContext) -> Void)?
  private let _group: DispatchGroup
  private let _lock = NSLock()
  /// Saves of which nothing is merged yet, as one.
  private var _waiting = NetChanges()
  /// Earlier saves, the next part last.
  private var _parts: [[AnyHashable: Any]] = []
  private var _isTaken = false

  /// - Parameters:
  ///   - group: Entered while changes wait.
  ///   - handler: Called instead of merging.
  init(
    _ context: NSManagedObjectContext, _ group: DispatchGroup,
    _ handler: (@Sendable (NSManagedObjectContext) -> Void)?
  ) {
    self.context = context
    _group = group
    _handler = handler
  }

  /// Adds a save, given by its notification with object IDs.
  func add(_ save: Notification) {
    let kinds: [(String, NSPersistentHistoryChangeType)] = [
      (NSInsertedObjectIDsKey, .insert), (NSUpdatedObjectIDsKey, .update), (NSDeletedObjectIDsKey, .delete),
    ]
    let isFirst = _lock.withLock {
      for (key, kind) in kinds {
        for id in save.userInfo?[key] as? Set<NSManagedObjectID> ?? [] { _waiting.add(kind, of: id) }
      }
      defer { _isTaken = _isTaken || !_waiting.isEmpty }
      return !_isTaken && !_waiting.isEmpty
    }
    guard isFirst else { return }
    _group.enter()
    _runNext()
  }

  private func _runNext() {
    guard let context else { return _group.leave() }
    context.perform { [weak context] in
      guard let context else { return self._group.leave() }
      let part = self._nextPart()
      if let handler = self._handler {
        handler(context)
      } else {
        NSManagedObjectContext.mergeChanges(fromRemoteContextSave: part, into: [context])
      }
      let hasMore = self._lock.withLock {
        self._isTaken = !self._parts.isEmpty || !self._waiting.isEmpty
        return self._isTaken
      }
      // At the end of the queue: work enqueued meanwhile runs first.
      if hasMore { self._runNext() } else { self._group.leave() }
    }
  }

  private func _nextPart() -> [AnyHashable: Any] {
    _lock.withLock {
      if _parts.isEmpty {
        _parts = _handler == nil ? _waiting.parts(of: Self.mostMerged).reversed() : [[:]]
        _waiting = NetChanges()
      }
      return _parts.removeLast()
    }
  }
}
