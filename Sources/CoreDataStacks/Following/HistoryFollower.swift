import CoreData
import Foundation

/// Merges changes that other coordinators and processes write to a store into contexts.
///
/// On every remote change of the store (`NSPersistentStoreRemoteChange`), reads the store's persistent
/// history on a background context and merges all new transactions in one round into each context on its
/// queue, parents first. Add the stores with ``storeOptions``. Retained by its owner; may be used from any
/// thread.
///
/// A context without `transactionAuthor` is assigned one, so that its own saves are not merged into itself.
/// With an author of yours, its own saves come back as updates without effect.
///
/// ```swift
/// try coordinator.addPersistentStore(type: .sqlite, at: storeURL, options: HistoryFollower.storeOptions)
/// let follower = try HistoryFollower(context)
/// follower.onFailure = { print("The history cannot be read: \($0)") }
/// ```
public final class HistoryFollower: @unchecked Sendable {
  // Unchecked: `_token` is confined to the reader's queue, `_failure`, `_observation` and `_isReading` are guarded by the
  // lock, and all other members are immutable.
  private let _contexts: [FollowingContext]
  private let _coordinator: NSPersistentStoreCoordinator
  private let _reader: NSManagedObjectContext
  /// Author of the contexts that had none.
  private let _author = "CoreDataStack.HistoryFollower \(UUID().uuidString)"
  private var _token: NSPersistentHistoryToken?
  private let _lock = NSLock()
  private var _failure: (@Sendable (any Error) -> Void)?
  private var _observation: NotificationObservation?
  /// Whether a read is enqueued that has not begun.
  private var _isReading = false

  /// Posted on a context's queue, with the context as object, when part of the history was deleted before it
  /// could be read: all objects were refreshed, and those that are gone deleted; fetch again to find insertions.
  public static let didMissHistory = Notification.Name("CoreDataStack.HistoryFollower.didMissHistory")

  /// The stack's default options, with history tracking and remote change notifications. Every program that
  /// writes to the store must add it with these.
  public static var storeOptions: [AnyHashable: Any] {
    var options = NSPersistentStoreCoordinator.stockSQLiteStoreOptions
    options[NSPersistentHistoryTrackingKey] = true as NSNumber
    options[NSPersistentStoreRemoteChangeNotificationPostOptionKey] = true as NSNumber
    return options
  }

  /// Starts following the stores of the contexts' coordinator. Call it before the contexts are used, or on
  /// their queue.
  ///
  /// - Parameter contexts: A context and, for a nested design, its ancestors, all of the same coordinator. They are not
  ///   retained.
  /// - Throws: `StackError.needsHistory` for a store without history.
  public init(_ contexts: NSManagedObjectContext...) throws {
    guard let coordinator = contexts.lazy.compactMap(\.persistentStoreCoordinator).first else {
      throw StackError.needsHistory(at: nil)
    }
    for store in coordinator.persistentStores {
      let options = [NSPersistentHistoryTrackingKey, NSPersistentStoreRemoteChangeNotificationPostOptionKey]
      guard options.allSatisfy({ (store.options?[$0] as? NSNumber)?.boolValue ?? false }) else {
        throw StackError.needsHistory(at: store.url)
      }
    }
    _contexts = contexts.map(FollowingContext.init)
    _coordinator = coordinator
    _reader = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    _reader.persistentStoreCoordinator = coordinator
    _reader.name = "History reader"
    for context in contexts where context.transactionAuthor == nil { context.transactionAuthor = _author }
    _token = coordinator.currentPersistentHistoryToken(fromStores: nil)
    let observation = NotificationObservation(of: .NSPersistentStoreRemoteChange, from: coordinator) {
      [weak self] _ in
      self?._readSoon()
    }
    _lock.withLock { _observation = observation }
  }

  /// Called on a background queue with an error of reading the history; the next change retries.
  public var onFailure: (@Sendable (any Error) -> Void)? {
    get { _lock.withLock { _failure } }
    set { _lock.withLock { _failure = newValue } }
  }

  /// Returns when the contexts show everything written so far, whether or not it was announced.
  ///
  /// ```swift
  /// let follower = try HistoryFollower(context)
  /// try await follower.catchUp()
  /// let count = try context.count(for: Book.fetchRequest())
  /// ```
  ///
  /// - Throws: Errors of reading the history.
  public func catchUp() async throws { try await _reader.perform { try self._read() } }

  // MARK: Reading

  /// Enqueues a read, which covers all changes until it begins.
  private func _readSoon() {
    let isFirst = _lock.withLock {
      defer { _isReading = true }
      return !_isReading
    }
    guard isFirst else { return }
    _reader.perform { [weak self] in
      guard let self else { return }
      self._lock.withLock { self._isReading = false }
      do {
        try self._read()
      } catch {
        self.onFailure?(error)
      }
    }
  }

  /// On the reader's queue.
  private func _read() throws {
    let request = NSPersistentHistoryChangeRequest.fetchHistory(after: _token)
    request.resultType = .transactionsAndChanges
    do {
      let result = try _reader.execute(request) as? NSPersistentHistoryResult
      guard let news = result?.result as? [NSPersistentHistoryTransaction], let last = news.last else {
        return
      }
      var changes = NetChanges()
      for change in news.lazy.filter({ $0.author != self._author }).flatMap({ $0.changes ?? [] }) {
        changes.add(change.changeType, of: change.changedObjectID)
      }
      for part in changes.parts(of: MergeLine.mostMerged) {
        NSManagedObjectContext.mergeChanges(
          fromRemoteContextSave: part, into: _contexts.compactMap(\.context))
      }
      _token = last.token
    } catch let error as CocoaError where Self._isLost(error) {
      // Part of the history was deleted before it was read, or the store was replaced: any value may be stale.
      let current = _coordinator.currentPersistentHistoryToken(fromStores: nil)
      try _readAgain()
      _token = current
    }
  }

  /// Whether the token names no place in the stores' history. Of other stores: 134501, which has no name.
  private static func _isLost(_ error: CocoaError) -> Bool {
    [NSPersistentHistoryTokenExpiredError, 134501].contains(error.code.rawValue)
  }

  /// Rereads every object that the contexts show, a block of their queue for each part.
  private func _readAgain() throws {
    for context in _contexts.reversed().compactMap(\.context) {
      let ids = Handover(
        value: context.performAndWait {
          context.registeredObjects.map(\.objectID).filter { !$0.isTemporaryID }
        }
      ).value
      for start in stride(from: 0, to: ids.count, by: MergeLine.mostMerged) {
        let part = Array(ids[start..<min(start + MergeLine.mostMerged, ids.count)])
        let there = try _existing(part)
        NSManagedObjectContext.mergeChanges(
          fromRemoteContextSave: [
            NSUpdatedObjectsKey: part.filter(there.contains),
            NSDeletedObjectsKey: part.filter { !there.contains($0) },
          ], into: [context])
      }
      context.performAndWait { NotificationCenter.default.post(name: Self.didMissHistory, object: context) }
    }
  }

  /// Returns those of some objects that have rows. On the reader's queue.
  private func _existing(_ ids: [NSManagedObjectID]) throws -> Set<NSManagedObjectID> {
    var found = Set<NSManagedObjectID>()
    for (entity, ids) in Dictionary(grouping: ids, by: \.entity) {
      let request = NSFetchRequest<NSManagedObjectID>()
      request.entity = entity
      request.resultType = .managedObjectIDResultType
      request.includesPendingChanges = false
      request.predicate = NSPredicate(format: "SELF IN %@", ids)
      found.formUnion(try _reader.fetch(request))
    }
    return found
  }
}

/// A followed context, which its owner keeps.
private struct FollowingContext { weak var context: NSManagedObjectContext? }
