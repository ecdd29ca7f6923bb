import Dispatch
import Synchronization

/// Connections to one database, opened on demand: concurrent reads up to a limit, and one write.
///
/// With a write-ahead log a read sees the last commit and never waits for a writer. An in-memory database has
/// one connection for both.
///
/// Any connection serves for reading and for writing. Both prefer the one that wrote last: only its page
/// cache is current, while SQLite discards the cache of any other connection once that sees a foreign commit.
///
/// A connection that encountered an I/O fault, or that SQLite had to open read-only, finishes the current
/// operation and is closed after it; the next operation gets a new one.
package final class ConnectionPool: Sendable {
  private struct State {
    var idle: [Connection] = []
    var open: [Connection] = []
    /// Reads in progress, including those that wait for a connection to be opened.
    var reading = 0
    /// The connection that is writing.
    var writing: Connection?
    /// The connection that wrote last.
    var current: Connection?
    var waiters: [Waiter] = []
    var isClosed = false
    /// Whether a timer ends readers' idle transactions.
    var isWatched = false

    /// Removes and returns an idle connection, if any: preferably the one that wrote last.
    mutating func popIdle() -> Connection? {
      if let current, let index = idle.lastIndex(where: { $0 === current }) { return idle.remove(at: index) }
      return idle.popLast()
    }

    /// Forgets a connection that is not idle.
    mutating func remove(_ connection: Connection) {
      open.removeAll { $0 === connection }
      if current === connection { current = nil }
    }
  }

  /// A thread that waits for its turn to read.
  private final class Waiter: Sendable {
    let signal = DispatchSemaphore(value: 0)
    /// Nil if the thread has to retry.
    let connection = Mutex<Connection?>(nil)
  }

  private let _state: Mutex<State>
  /// Held while writing.
  private let _writeTurn = DispatchSemaphore(value: 1)
  private let _readBound: Int
  private let _hasOne: Bool
  private let _holdsReads: Bool
  /// Tells of commits by others; nil for a database without a write-ahead log that others can write to.
  package let commitWatch: CommitWatch?
  private let _files: DatabaseFiles?
  private let _replacesFaulty: Bool
  private let _open: @Sendable () throws -> Connection

  /// Creates a pool around an open connection.
  ///
  /// - Parameters:
  ///   - maximumReads: maximum number of concurrent reads.
  /// - hasOne: all operations use one connection, one at a time: for an in-memory database, and for a file
  ///   that its first connection locks exclusively.
  /// - replacesFaulty: whether a connection that encountered a fault is closed; false for an in-memory
  ///   database, which would be lost with it.
  /// - holdsReads: a connection keeps its transaction open between reads until a commit; only for a database
  ///   with a write-ahead log.
  /// - files: the files that all connections must have open; nil if they may be replaced.
  ///   - open: opens one more connection; called on the thread that needs it.
  package init(
    _ connection: Connection, maximumReads: Int, hasOne: Bool = false, holdsReads: Bool = false,
    replacesFaulty: Bool = true, files: DatabaseFiles? = nil,
    open: @escaping @Sendable () throws -> Connection
  ) {
    connection.files = files
    _state = Mutex(State(idle: [connection], open: [connection]))
    _readBound = max(1, maximumReads)
    _hasOne = hasOne
    _holdsReads = holdsReads && !hasOne
    _files = files
    _replacesFaulty = replacesFaulty
    _open = open
    if _holdsReads {
      commitWatch = CommitWatch()
      _watch(connection, files)
      commitWatch?.begin(with: connection)
    } else {
      commitWatch = nil
    }
    _announce(connection)
  }

  /// Lets writers of this process have idle connections closed that are in their way.
  private func _announce(_ connection: Connection) {
    if let use = connection.readingUse { SharedMemoryRights.shared.register(self, for: use) }
  }

  /// Closes idle connections that are in the way of a writer; those in use are closed after it.
  func closeUnwanted() {
    let closing = _state.withLock { state in
      let closing = state.idle.filter(\.isUnwanted)
      state.idle.removeAll { idle in closing.contains { $0 === idle } }
      for connection in closing { state.remove(connection) }
      return closing
    }
    for connection in closing {
      connection.heldRead.end(connection)
      commitWatch?.letGo(of: connection)
    }
  }

  deinit { commitWatch?.end() }

  /// Watches the log through a connection.
  ///
  /// - Parameter files: The files that the connection has opened, if they are known. Once all connections were closed, as after
  ///   a fault, the next one has another log.
  private func _watch(_ connection: Connection, _ files: DatabaseFiles? = nil) {
    guard _holdsReads else { return }
    connection.log = LogFile(of: files)
    connection.commitWatch = commitWatch
  }

  /// The pool was closed.
  package struct ClosedError: Error, Sendable, CustomStringConvertible {
    package var description: String { "the database was closed" }
  }

  /// Runs `body` with a connection for reading.
  ///
  /// - Throws: `ClosedError`, or errors of opening a connection or of `body`.
  package func read<Result>(_ body: (Connection) throws -> Result) throws -> Result {
    if _hasOne { return try write(body) }
    let connection = try _beginRead()
    defer { _endRead(connection) }
    if _holdsReads { connection.heldRead.prepare(connection) }
    do {
      return try body(connection)
    } catch {
      connection.heldRead.end(connection)
      connection.recordFault(in: error)
      throw error
    }
  }

  /// Runs `body` with a connection for writing; the pool has one writer at a time.
  ///
  /// - Throws: `ClosedError`, or errors of opening a connection or of `body`.
  package func write<Result>(_ body: (Connection) throws -> Result) throws -> Result {
    _writeTurn.wait()
    defer { _writeTurn.signal() }
    // A log cannot be started over under a reader.
    if _holdsReads { _endHeldReads(ifUnused: false) }
    let connection = try _beginWrite()
    defer { _endWrite(connection) }
    connection.heldRead.end(connection)
    do {
      return try body(connection)
    } catch let error as SQLiteError where error.isMoved || _files?.place ?? .same != .same {
      // A truncated file may have been reported as damaged before it was detected as moved.
      _retireLog(connection)
      throw error.isLogLost ? error : SQLiteError.moved(path: connection.path)
    } catch {
      connection.recordFault(in: error)
      throw error
    }
  }

  // MARK: Files taken away

  /// Ensures that the log of a database that was deleted, moved or replaced is not replayed over the file
  /// that is now at its path. Does nothing while the database is in place.
  package func retireLogIfMoved() {
    guard let _files, _files.place != .same else { return }
    try? write { _retireLog($0) }
  }

  private func _retireLog(_ connection: Connection) {
    guard let _files else { return }
    switch _files.place {
    case .same: return
    case .gone:
      // A moved file keeps the changes saved to it.
      try? connection.checkpoint(.passive)
    case .emptied:
      for open in _state.withLock({ $0.open }) { open.keepLogOnClosing() }
    }
    _files.removeStrayLog()
  }

  // MARK: Reading

  private enum Answer {
    case connection(Connection)
    case open
    case wait(Waiter)
    case closed
  }

  private func _beginRead() throws -> Connection {
    while true {
      let connection = try _nextForReading()
      guard let isOutdated = connection.isOutdated, isOutdated() else { return connection }
      commitWatch?.letGo(of: connection)
      _state.withLock { state in
        state.remove(connection)
        state.reading -= 1
      }
    }
  }

  private func _nextForReading() throws -> Connection {
    while true {
      let answer: Answer = _state.withLock { state in
        if state.isClosed { return .closed }
        if state.reading < _readBound {
          state.reading += 1
          return state.popIdle().map { .connection($0) } ?? .open
        }
        let waiter = Waiter()
        state.waiters.append(waiter)
        return .wait(waiter)
      }
      switch answer {
      case .connection(let connection): return connection
      case .closed: throw ClosedError()
      case .wait(let waiter):
        waiter.signal.wait()
        if let connection = waiter.connection.withLock({ $0 }) { return connection }
      case .open:
        do {
          return try _openOne()
        } catch {
          // No connection will be returned: wakes a waiting thread, so that it opens one itself.
          let waiter = _state.withLock { state -> Waiter? in
            state.reading -= 1
            return state.waiters.isEmpty ? nil : state.waiters.removeFirst()
          }
          waiter?.signal.signal()
          throw error
        }
      }
    }
  }

  private func _endRead(_ connection: Connection) {
    var startsWatch = false
    let waiter = _state.withLock { state -> Waiter? in
      if state.isClosed {
        state.reading -= 1
        return nil
      }
      if _isSpent(connection) {
        commitWatch?.letGo(of: connection)
        state.remove(connection)
        state.reading -= 1
        // The next waiting thread opens one.
        return state.waiters.isEmpty ? nil : state.waiters.removeFirst()
      }
      if connection.heldRead.isOpen, !state.isWatched {
        state.isWatched = true
        startsWatch = true
      }
      if state.waiters.isEmpty {
        state.reading -= 1
        state.idle.append(connection)
        return nil
      }
      return state.waiters.removeFirst()
    }
    if startsWatch { _watchHeldReads() }
    guard let waiter else { return }
    if !_isSpent(connection) { waiter.connection.withLock { $0 = connection } }
    waiter.signal.signal()
  }

  /// Whether a connection must not be lent again: it encountered a fault, or has a transaction that cannot be
  /// ended.
  private func _isSpent(_ connection: Connection) -> Bool {
    _replacesFaulty
      && (connection.isFaulty || !connection.isInAutocommit && !connection.heldRead.isOpen
        || connection.isUnwanted)
  }

  // MARK: Writing

  private func _beginWrite() throws -> Connection {
    let idle = try _state.withLock { state -> Connection? in
      if state.isClosed { throw ClosedError() }
      let connection = state.popIdle()
      if connection != nil { state.writing = connection }
      return connection
    }
    if let idle { return idle }
    let connection = try _openOne()
    try _state.withLock { state in
      if state.isClosed { throw ClosedError() }
      state.writing = connection
    }
    return connection
  }

  private func _endWrite(_ connection: Connection) {
    connection.rollback()
    _state.withLock { state in
      state.writing = nil
      guard !state.isClosed else { return }
      guard !_isSpent(connection) else {
        commitWatch?.letGo(of: connection)
        return state.remove(connection)
      }
      state.current = connection
      state.idle.append(connection)
    }
  }

  private func _openOne() throws -> Connection {
    // A different file at the same path would otherwise be read in its place.
    try _files?.expectInPlace()
    let connection = try _open()
    connection.files = _files
    _watch(connection)
    _announce(connection)
    try _files?.expectInPlace()
    _state.withLock { state in
      if !state.isClosed { state.open.append(connection) }
    }
    return connection
  }

  // MARK: Held reads

  /// How long an idle reader may keep its transaction, in milliseconds.
  private static let _patience = 20

  /// Ends the transactions of idle readers; with `ifUnused` only of those that have not read since the last
  /// call.
  ///
  /// - Returns: Whether any remain to be checked later.
  @discardableResult
  private func _endHeldReads(ifUnused: Bool) -> Bool {
    let (ending, remain) = _state.withLock { state -> ([Connection], Bool) in
      var ending: [Connection] = []
      var remain = state.reading > 0
      state.idle.removeAll { connection in
        guard connection.heldRead.isOpen else { return false }
        if ifUnused, connection.heldRead.isInUse {
          connection.heldRead.isInUse = false
          remain = true
          return false
        }
        ending.append(connection)
        return true
      }
      if ifUnused { state.isWatched = remain }
      return (ending, remain)
    }
    for connection in ending {
      connection.heldRead.end(connection)
      _putBack(connection)
    }
    return remain
  }

  /// Checks idle readers' transactions periodically until none is open.
  private func _watchHeldReads() {
    DispatchQueue.global(qos: .utility).asyncAfter(deadline: .now() + .milliseconds(Self._patience)) {
      if self._endHeldReads(ifUnused: true) { self._watchHeldReads() }
    }
  }

  /// Returns an idle connection after checking it.
  private func _putBack(_ connection: Connection) {
    _state.withLock { state in
      if !state.isClosed { state.idle.append(connection) }
    }
  }

  // MARK: Closing

  /// Interrupts reading statements, waits for the writer, and closes all connections.
  package func close() {
    retireLogIfMoved()
    commitWatch?.end()
    let (readers, waiters) = _state.withLock { state in
      state.isClosed = true
      let (idle, writing) = (state.idle, state.writing)
      let reading = state.open.filter { open in open !== writing && !idle.contains { $0 === open } }
      let result = (reading, state.waiters)
      state.idle = []
      state.open = []
      state.current = nil
      state.waiters = []
      return result
    }
    for reader in readers { reader.interrupt() }
    for waiter in waiters { waiter.signal.signal() }
    _writeTurn.wait()
    _writeTurn.signal()
  }

  /// Opens a connection that the caller owns and that does not count as one of the pool's.
  package func openConnection() throws -> Connection {
    try _files?.expectInPlace()
    return try _open()
  }

  /// Connections opened so far, for tests.
  package var connectionCount: Int { _state.withLock { $0.open.count } }

  /// Idle connections that have a transaction open, for tests.
  package var heldReadCount: Int { _state.withLock { $0.idle.count(where: \.heldRead.isOpen) } }
}
