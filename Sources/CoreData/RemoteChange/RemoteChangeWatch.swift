import CoreDataSQLiteBinding
import Dispatch
import Foundation
import Synchronization

/// Posts `NSPersistentStoreRemoteChange` for one store whenever anybody has written to it.
///
/// Whether something was written is asked of SQLite itself: `PRAGMA data_version` on a connection of the
/// watch's own changes with every commit of any other connection, of whatever process. When to ask is told by
/// the stores of this process right after a commit, and by the kernel when another process writes to the file
/// or its log. A commit becomes visible a little after the last write to the log, so after such a write it is
/// asked several times within two seconds.
final class RemoteChangeWatch: @unchecked Sendable {
  // Unchecked: `_connection`, `_version` and `_retries` are used on `_queue` only, once the watch is made,
  // and `_store` and `_coordinator` are not written again.

  private let _queue = DispatchQueue(label: "CoreData.remote-change", qos: .utility)
  @Loose private var _store: NSPersistentStore?
  @Loose private var _coordinator: NSPersistentStoreCoordinator?
  private let _file: String
  private let _follower = Mutex<Int?>(nil)
  private let _watch = Mutex<FileWatch?>(nil)
  /// Nil for a database in memory, or locked exclusively, which no other process can write to.
  private var _connection: Connection?
  private var _version: Binding?
  private var _retries = 0

  private static let _delays = [1, 5, 20, 100, 400, 1500]

  /// Starts watching, until the watch is let go.
  ///
  /// - Throws: `SQLiteError` when the file cannot be opened for reading.
  init(_ store: NSPersistentStore, engine: SQLiteStoreEngine, coordinator: NSPersistentStoreCoordinator)
    throws
  {
    _store = store
    _coordinator = coordinator
    _file = engine.commitName
    if !engine.isAlone {
      let file = SQLiteStoreFile(url: URL(fileURLWithPath: engine.path))
      // A connection that takes part in the log, so that it notices; on a medium that allows none there is
      // nothing to notice.
      let connection =
        try engine.options.isReadOnly
        ? ((try? file.openAnother(.readOnly)) ?? file.openForReading()) : file.openAnother(.readOnly)
      _version = try connection.firstValue("PRAGMA data_version")
      _connection = connection
    }
    let follower = CommitBoard.shared.follow(_file) { [weak self] in self?._look(again: false) }
    _follower.withLock { $0 = follower }
    guard !engine.isAlone else { return }
    let watch = FileWatch(path: engine.path) { [weak self] in self?._look(again: true) }
    _watch.withLock { $0 = watch }
  }

  deinit {
    if let follower = _follower.withLock({ $0 }) { CommitBoard.shared.end(follower, of: _file) }
  }

  private func _look(again: Bool) {
    _queue.async { [weak self] in
      guard let self else { return }
      if _connection == nil { return _post() }
      _check()
      guard again else { return }
      // A series of looks that is on its way starts over.
      let isWaiting = _retries > 0
      _retries = Self._delays.count
      if !isWaiting { _checkLater() }
    }
  }

  private func _check() {
    guard let version = try? _connection?.firstValue("PRAGMA data_version"), version != _version else {
      return
    }
    _version = version
    _post()
  }

  private func _checkLater() {
    guard _retries > 0 else { return }
    let delay = Self._delays[Self._delays.count - _retries]
    _queue.asyncAfter(deadline: .now() + .milliseconds(delay)) { [weak self] in
      guard let self else { return }
      _retries -= 1
      _check()
      _checkLater()
    }
  }

  private func _post() {
    guard let store = _store, let coordinator = _coordinator else { return }
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
  /// Posted by a coordinator, on an arbitrary thread, after anybody has written to one of its stores that was
  /// added with `NSPersistentStoreRemoteChangeNotificationPostOptionKey`: a context of this coordinator,
  /// another coordinator, another process. Several writes may come as one.
  ///
  /// The user info has the store's UUID (`NSStoreUUIDKey`), its URL (`NSPersistentStoreURLKey`) and, with
  /// history tracking, the token of the last transaction (`NSPersistentHistoryTokenKey`).
  public static let NSPersistentStoreRemoteChange = NSNotification.Name(
    "NSPersistentStoreRemoteChangeNotification")
}

/// Key for the URL of a store that somebody has written to.
public let NSPersistentStoreURLKey = "storeURL"
/// Key for the history token of what somebody has written.
public let NSPersistentHistoryTokenKey = "historyToken"
