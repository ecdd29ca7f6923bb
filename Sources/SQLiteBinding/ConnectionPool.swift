import Dispatch
import Synchronization

/// Connections to one database: any number of readers at once, up to a bound and opened when needed, and one
/// writer.
///
/// With a write-ahead log readers see the last commit and never wait for the writer. A database in memory has
/// one connection for both.
package final class ConnectionPool: Sendable {
  private struct State {
    var idle: [Connection] = []
    var open: [Connection] = []
    /// Connections being opened, which count against the bound.
    var opening = 0
    var waiters: [Waiter] = []
    var isClosed = false
    /// Whether somebody looks after readers' open transactions.
    var isWatched = false
  }

  /// Somebody who waits for a reader.
  private final class Waiter: Sendable {
    let signal = DispatchSemaphore(value: 0)
    let connection = Mutex<Connection?>(nil)
  }

  private let _state = Mutex(State())
  private let _writer: Writer
  private let _readerBound: Int
  private let _isShared: Bool
  private let _holdsReads: Bool
  private let _openReader: @Sendable () throws -> Connection

  /// The writer with its lock.
  private final class Writer: @unchecked Sendable {
    // Unchecked: `connection` is touched only while `lock` is held (or, by `interrupt`, as SQLite allows
    // anywhere).
    let lock = DispatchSemaphore(value: 1)
    var connection: Connection?
    init(_ connection: Connection) { self.connection = connection }
  }

  /// A pool around an open writer.
  ///
  /// - Parameters:
  ///   - sharesWriter: readers use the writer's connection, one at a time: for a database in memory.
  ///   - holdsReads: readers keep their transaction from one read to the next while nobody commits; only for a database
  ///     with a write-ahead log.
  ///   - openReader: opens one more reader; called on the thread that needs it.
  package init(
    writer: Connection, maximumReaders: Int, sharesWriter: Bool = false, holdsReads: Bool = false,
    openReader: @escaping @Sendable () throws -> Connection
  ) {
    _writer = Writer(writer)
    _readerBound = max(1, maximumReaders)
    _isShared = sharesWriter
    _holdsReads = holdsReads && !sharesWriter
    _openReader = openReader
  }

  /// The pool was closed.
  package struct ClosedError: Error, Sendable, CustomStringConvertible {
    package var description: String { "the database was closed" }
  }

  /// Runs `body` with a connection for reading.
  ///
  /// - Throws: `ClosedError`, or what opening a connection or `body` throws.
  package func read<Result>(_ body: (Connection) throws -> Result) throws -> Result {
    if _isShared { return try write(body) }
    let connection = try _checkOut()
    defer { _checkIn(connection) }
    guard _holdsReads else { return try body(connection) }
    connection.heldRead.prepare(connection)
    do {
      return try body(connection)
    } catch {
      connection.heldRead.end(connection)
      throw error
    }
  }

  /// Runs `body` with the writer, alone.
  package func write<Result>(_ body: (Connection) throws -> Result) throws -> Result {
    _writer.lock.wait()
    defer { _writer.lock.signal() }
    guard let connection = _writer.connection else { throw ClosedError() }
    // A log cannot be started over under a reader.
    if _holdsReads { _endHeldReads(ifUnused: false) }
    return try body(connection)
  }

  // MARK: Held reads

  /// How long an unused reader may keep its transaction, in milliseconds.
  private static let _patience = 20

  /// Ends the transactions of idle readers; with `ifUnused` only of those that have not read since this was last asked.
  ///
  /// - Returns: Whether any remain to be looked after.
  @discardableResult
  private func _endHeldReads(ifUnused: Bool) -> Bool {
    let (ending, remain) = _state.withLock { state -> ([Connection], Bool) in
      var ending: [Connection] = []
      var remain = state.idle.count < state.open.count
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
      _checkIn(connection)
    }
    return remain
  }

  /// Looks after idle readers' transactions until none is open.
  private func _watchHeldReads() {
    DispatchQueue.global(qos: .utility).asyncAfter(deadline: .now() + .milliseconds(Self._patience)) {
      if self._endHeldReads(ifUnused: true) { self._watchHeldReads() }
    }
  }

  /// Ends running statements of readers, waits for the writer, and closes all connections.
  package func close() {
    let (readers, waiters) = _state.withLock { state in
      state.isClosed = true
      let result = (state.open, state.waiters)
      state.idle = []
      state.open = []
      state.waiters = []
      return result
    }
    for reader in readers { reader.interrupt() }
    for waiter in waiters { waiter.signal.signal() }
    _writer.lock.wait()
    _writer.connection = nil
    _writer.lock.signal()
  }

  /// Opens a connection for reading that is the caller's own and does not count as one of the pool's.
  package func openReader() throws -> Connection { try _openReader() }

  /// Readers opened so far, for tests.
  package var readerCount: Int { _state.withLock { $0.open.count } }

  /// Idle readers that have a transaction open, for tests.
  package var heldReadCount: Int { _state.withLock { $0.idle.count(where: \.heldRead.isOpen) } }

  private enum Answer {
    case connection(Connection)
    case open
    case wait(Waiter)
    case closed
  }

  private func _checkOut() throws -> Connection {
    while true {
      let connection = try _next()
      guard let isOutdated = connection.isOutdated, isOutdated() else { return connection }
      _state.withLock { state in state.open.removeAll { $0 === connection } }
    }
  }

  private func _next() throws -> Connection {
    let bound = _readerBound
    let answer: Answer = _state.withLock { state in
      if state.isClosed { return .closed }
      if let connection = state.idle.popLast() { return .connection(connection) }
      if state.open.count + state.opening < bound {
        state.opening += 1
        return .open
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
      guard let connection = waiter.connection.withLock({ $0 }) else { return try _retry() }
      return connection
    case .open:
      do {
        let connection = try _openReader()
        _state.withLock { state in
          state.opening -= 1
          if !state.isClosed { state.open.append(connection) }
        }
        return connection
      } catch {
        // Whoever waits must not wait for a connection that never comes.
        let waiter = _state.withLock { state -> Waiter? in
          state.opening -= 1
          return state.waiters.isEmpty ? nil : state.waiters.removeFirst()
        }
        waiter?.signal.signal()
        throw error
      }
    }
  }

  /// Woken without a connection: the pool was closed, or opening one failed elsewhere.
  private func _retry() throws -> Connection { try _next() }

  private func _checkIn(_ connection: Connection) {
    var startsWatch = false
    let waiter = _state.withLock { state -> Waiter? in
      guard !state.isClosed else { return nil }
      if connection.heldRead.isOpen, !state.isWatched {
        state.isWatched = true
        startsWatch = true
      }
      if state.waiters.isEmpty {
        state.idle.append(connection)
        return nil
      }
      return state.waiters.removeFirst()
    }
    if startsWatch { _watchHeldReads() }
    guard let waiter else { return }
    waiter.connection.withLock { $0 = connection }
    waiter.signal.signal()
  }
}
