import CoreDataSQLiteBinding
import Foundation
import Synchronization

/// Reports commits to one SQLite store by any connection of any process.
///
/// `PRAGMA data_version` on the feed's own connection changes with every commit of another connection. This
/// process's stores request a check right after a commit; inotify does when another process writes to the
/// file or its log. A commit becomes visible shortly after the last write to the log, so such a write
/// triggers several checks within two seconds.
final class SQLiteChangeFeed: @unchecked Sendable {
  // Unchecked: after `init`, `_connection`, `_version` and `_retries` are confined to `_queue`.

  private let _queue = DispatchQueue(label: "CoreData.remote-change", qos: .utility)
  private let _changed: @Sendable () -> Void
  private let _file: String
  private let _follower = Mutex<Int?>(nil)
  private let _watch = Mutex<FileWatch?>(nil)
  /// Nil for a database in memory or locked exclusively, to which no other process can write.
  private var _connection: Connection?
  private var _version: Binding?
  private var _retries = 0

  private static let _delays = [1, 5, 20, 100, 400, 1500]

  /// Starts watching until the feed is released.
  ///
  /// - Throws: `SQLiteError` if the file cannot be opened for reading.
  init(_ engine: SQLiteStoreEngine, _ changed: @escaping @Sendable () -> Void) throws {
    _changed = changed
    _file = engine.commitName
    if !engine.isAlone {
      let file = SQLiteStoreFile(url: URL(fileURLWithPath: engine.path))
      // A connection that participates in the log and therefore sees commits; a medium that does not allow
      // one has no changes to report.
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
      if _connection == nil { return _changed() }
      _check()
      guard again else { return }
      // Restart a series of checks in progress.
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
    _changed()
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
}
