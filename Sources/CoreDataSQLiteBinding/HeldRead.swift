import CoreDataCSQLite

/// A reader's transaction that stays open across reads, until a commit.
///
/// Each SELECT on its own acquires and releases a lock of the file: two system calls, a quarter of the cost
/// of finding one row. An open transaction saves them. It does not make reads staler: before each read the
/// state of the write-ahead log (its header in shared memory, which every commit of every process changes;
/// see SQLite's "WAL-mode File Format") is compared with its state when the transaction began, and the
/// transaction is restarted if it differs.
///
/// Only for databases with a write-ahead log. Not thread-safe: belongs to the connection's user. The pool
/// ends it before it writes, and when the reader has been idle for a moment, so that the log can be
/// checkpointed and restarted.
struct HeldRead {
  private static let _begin = SQLText("BEGIN")
  private static let _end = SQLText("COMMIT")

  /// Log state before the transaction's first read; the transaction sees that state or a later one.
  private var _known: LogState?
  private var _log: UnsafeRawPointer?
  /// Whether the connection has read before, so that SQLite has opened the log.
  private var _hasRead = false
  /// Whether the transaction is open.
  private(set) var isOpen = false
  /// For the pool: whether a read has happened since its last check.
  var isInUse = false

  /// To be called before each read.
  mutating func prepare(_ connection: Connection) {
    isInUse = true
    if isOpen {
      if let _log, let _known, LogState(_log) == _known { return }
      end(connection)
    }
    guard _hasRead else {
      _hasRead = true
      return
    }
    guard let log = coredata_log_state(connection.handle) else { return }
    let state = LogState(log)
    // Held once a second read arrives without a commit in between; for a single read it gains nothing.
    if let _known, state == _known, connection.isInAutocommit,
      (try? connection.withStatement(Self._begin) { try $0.run() }) != nil
    {
      isOpen = true
      _log = log
    }
    _known = state
  }

  /// Ends the transaction, so that its lock is free.
  mutating func end(_ connection: Connection) {
    guard isOpen else { return }
    isOpen = false
    _log = nil
    // A transaction that cannot be ended has been ended by SQLite.
    if !connection.isInAutocommit { try? connection.withStatement(Self._end) { try $0.run() } }
  }
}
