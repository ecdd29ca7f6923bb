import Foundation
import Synchronization

/// Posts `NSPersistentStoreRemoteChange` after each commit to a store. Detecting commits is up to the kind of
/// the store.
final class RemoteChangeWatch: @unchecked Sendable {
  // Unchecked: `_store` and `_coordinator` are not written after `init`.

  @Loose private var _store: NSPersistentStore?
  @Loose private var _coordinator: NSPersistentStoreCoordinator?
  private let _posts: Bool
  /// Released with the watch, which ends the feed.
  private let _feed = Mutex<Feed?>(nil)

  private struct Feed: @unchecked Sendable {
    // Unchecked: retained, but never used.
    let feed: AnyObject
  }

  /// Starts watching; nil for a kind of store that does not report commits.
  ///
  /// - Parameter posts: Whether commits are posted, and not only followed by the store.
  /// - Throws: A Cocoa error if the store cannot be watched.
  init?(_ store: NSPersistentStore, coordinator: NSPersistentStoreCoordinator, posts: Bool) throws {
    _posts = posts
    _store = store
    _coordinator = coordinator
    let changed: @Sendable () -> Void = { [weak self] in self?._post() }
    guard let feed = try StoreKinds.known(store.type)?.follow(store, changed) else { return nil }
    let kept = Feed(feed: feed)
    _feed.withLock { $0 = kept }
  }

  private func _post() {
    guard _posts, let store = _store, let coordinator = _coordinator else { return }
    var userInfo: [AnyHashable: Any] = [NSStoreUUIDKey: store.identifier ?? ""]
    if let url = store.url { userInfo[NSPersistentStoreURLKey] = url }
    if let history = store.engine as? any HistoryKeeping, history.keepsHistory,
      let last = try? history.lastTransaction()
    {
      userInfo[NSPersistentHistoryTokenKey] = NSPersistentHistoryToken([store.identifier: last])
    }
    NotificationCenter.default.post(
      name: .NSPersistentStoreRemoteChange, object: coordinator, userInfo: userInfo)
  }
}

extension NSNotification.Name {
  /// Posted by a coordinator, on an arbitrary thread, after a write to one of its stores that was added with
  /// `NSPersistentStoreRemoteChangeNotificationPostOptionKey`: by a context of this coordinator, another
  /// coordinator, or another process. Several writes may be coalesced.
  ///
  /// The user info contains the store's UUID (`NSStoreUUIDKey`), its URL (`NSPersistentStoreURLKey`) and,
  /// with history tracking, the token of the last transaction (`NSPersistentHistoryTokenKey`).
  ///
  /// ```swift
  /// NotificationCenter.default.addObserver(
  ///   forName: .NSPersistentStoreRemoteChange, object: coordinator, queue: nil
  /// ) { notification in
  ///   print("Someone wrote to \(notification.userInfo?[NSPersistentStoreURLKey] ?? "a store").")
  /// }
  /// ```
  public static let NSPersistentStoreRemoteChange = NSNotification.Name(
    "NSPersistentStoreRemoteChangeNotification")
}

/// Key for the URL of the store that was written to.
public let NSPersistentStoreURLKey = "storeURL"
/// Key for the history token of the write.
public let NSPersistentHistoryTokenKey = "historyToken"
