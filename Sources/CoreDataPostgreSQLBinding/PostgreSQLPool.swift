import Dispatch
import Foundation
import Synchronization

/// Connections to one database, each lent to one thread at a time.
///
/// Connections are created on demand, up to a limit. Callers that find all connections lent, or the server
/// crowded, wait in line until a deadline. Idle connections are closed after some minutes, but for one, and
/// every connection after half an hour, so that a changed address or a second server gets its share.
package final class PostgreSQLPool: Sendable {
  /// All connections were in use until the deadline.
  package struct ExhaustedError: Error, Sendable, CustomStringConvertible {
    package let limit: Int
    package let seconds: Double
    /// The purposes for which the connections are in use.
    package let uses: [String]

    package var description: String {
      "all \(limit) connections were in use for \(seconds) s (by \(uses.joined(separator: ", "))); raise "
        + "NSPersistentStoreConnectionPoolMaxSizeKey, or do less at once"
    }
  }

  package struct ClosedError: Error, Sendable, CustomStringConvertible {
    package var description: String { "the connections were closed" }
  }

  private final class Waiter: Sendable {
    let semaphore = DispatchSemaphore(value: 0)
  }

  /// How many connections there are, and for how long.
  package struct Limits: Sendable {
    /// Maximum number of connections.
    package var count: Int
    /// Seconds to wait for one.
    package var wait: Double
    /// Seconds after which an idle connection is closed.
    package var idle = 300.0
    /// Number of idle connections that are not closed for that.
    package var kept = 1
    /// Seconds after which an idle connection is looked at before it is lent.
    package var trust = 5.0
    /// Told of what happens to the connections, and while one is awaited. Nil by default.
    package var listener: PostgreSQLOccurrenceHandler?
    /// Seconds after which a connection is closed when it is returned, give or take a tenth.
    package var age = 1_800.0

    package init(count: Int, wait: Double) {
      self.count = max(1, count)
      self.wait = wait
    }
  }

  private struct State {
    var idle: [Lent] = []
    var count = 0
    var uses: [Int: String] = [:]
    var waiters: [Waiter] = []
    var isClosed = false
    var nextUse = 0
    /// Whether idle connections will be looked at.
    var isTidying = false
  }

  /// A connection being handed between threads.
  private struct Lent: @unchecked Sendable {
    // Unchecked: owned by one thread at a time.
    let connection: PostgreSQLConnection
    let returned = DispatchTime.now()

    /// Whether it has been idle for longer than some seconds.
    func isOlder(than seconds: Double) -> Bool { returned + seconds < .now() }
  }

  private let _state = Mutex(State())
  private let _limits: Limits
  private let _connect: @Sendable (PostgreSQLDeadline) throws -> PostgreSQLConnection
  private let _end: @Sendable (PostgreSQLConnection.Session, PostgreSQLConnection) throws -> Void

  /// - Parameters:
  ///   - connect: Creates a connection.
  ///   - end: Ends the session of a connection that was given up, on another connection.
  package init(
    _ limits: Limits, _ connect: @escaping @Sendable (PostgreSQLDeadline) throws -> PostgreSQLConnection,
    end: @escaping @Sendable (PostgreSQLConnection.Session, PostgreSQLConnection) throws -> Void = { _, _ in }
  ) {
    _limits = limits
    _connect = connect
    _end = end
  }

  /// Runs `body` with a connection lent to it.
  ///
  /// - Parameters:
  ///   - use: Purpose, for the error of an exhausted pool.
  ///   - deadline: When the statements of `body` must be over, and the wait for the connection before them.
  /// - Throws: `ExhaustedError`, `ClosedError`, `PostgreSQLError`, `PostgreSQLDeadlineError`,
  ///   `PostgreSQLCancellationError`, or errors of `body`.
  package func withConnection<Result>(
    _ use: String, until deadline: PostgreSQLDeadline = .never,
    _ body: (PostgreSQLConnection) throws -> Result
  ) throws -> Result {
    let (connection, number) = try _lent(use, deadline)
    connection.deadline = deadline
    defer { _giveBack(connection, number) }
    return try body(connection)
  }

  /// Creates a connection outside the pool's limit, owned by the caller.
  ///
  /// - Parameter deadline: When it must be there; after as long as callers wait for one of the pool if nil.
  package func makeConnection(until deadline: PostgreSQLDeadline? = nil) throws -> PostgreSQLConnection {
    guard !_state.withLock({ $0.isClosed }) else { throw ClosedError() }
    return try _connected(until: deadline ?? PostgreSQLDeadline(after: _limits.wait))
  }

  /// Creates a connection in place of one that was lost, whose borrower still has it. Waits for no other
  /// borrower, and works after `close()`, too: the outcome of a save is of interest then as well.
  package func replacingLost(until deadline: PostgreSQLDeadline) throws -> PostgreSQLConnection {
    let connection = try _connected(until: deadline)
    connection.deadline = deadline
    return connection
  }

  /// Connects, and tells the listener.
  private func _connected(until deadline: PostgreSQLDeadline) throws -> PostgreSQLConnection {
    let connection = try PostgreSQLOccurrence.timing(
      _limits.listener, { _ in .connect }, { _, _ in }, { try _connect(deadline) })
    connection.listener = _limits.listener
    return connection
  }

  /// Acquires a connection, and tells the listener how long that took.
  private func _lent(_ use: String, _ deadline: PostgreSQLDeadline) throws -> (PostgreSQLConnection, Int) {
    try PostgreSQLOccurrence.timing(
      _limits.listener, { $0 is ExhaustedError ? .refused : .acquire },
      { occurrence, _ in occurrence.use = use }, { try _acquire(use, deadline) })
  }

  private enum Found {
    case idle(Lent)
    case room
    case wait(Waiter)
    case closed
  }

  /// Returns what there is for a caller.
  ///
  /// - Parameter isFirst: Whether the caller has not waited yet: those that have take precedence.
  private func _find(_ use: String, isFirst: Bool) -> (Found, Int) {
    _state.withLock { state in
      if state.isClosed { return (.closed, 0) }
      if isFirst, !state.waiters.isEmpty {
        let waiter = Waiter()
        state.waiters.append(waiter)
        return (.wait(waiter), 0)
      }
      let number = state.nextUse
      if let lent = state.idle.popLast() {
        state.nextUse += 1
        state.uses[number] = use
        return (.idle(lent), number)
      }
      if state.count < _limits.count {
        state.nextUse += 1
        state.count += 1
        state.uses[number] = use
        return (.room, number)
      }
      let waiter = Waiter()
      if isFirst { state.waiters.append(waiter) } else { state.waiters.insert(waiter, at: 0) }
      return (.wait(waiter), 0)
    }
  }

  private func _acquire(
    _ use: String, _ call: PostgreSQLDeadline
  ) throws -> (PostgreSQLConnection, Int) {
    let deadline = PostgreSQLDeadline(after: _limits.wait).orEarlier(call)
    var isFirst = true
    var pause = 0.05
    var refusal: PostgreSQLError?
    while true {
      let (found, number) = _find(use, isFirst: isFirst)
      isFirst = false
      switch found {
      case .closed: throw ClosedError()
      case .idle(let lent):
        if !lent.isOlder(than: _limits.trust) || lent.connection.isQuiet { return (lent.connection, number) }
        _free(number)
      case .room:
        do {
          return (try _connected(until: deadline), number)
        } catch let error as PostgreSQLError where error.isCrowded && !deadline.isPast {
          _free(number)
          refusal = error
          var occurrence = PostgreSQLOccurrence(.refused, error: error)
          occurrence.use = use
          _limits.listener?(occurrence)
          try _standInLine(for: pause, deadline, error)
          pause = min(1, pause * 2)
        } catch {
          _free(number)
          // The server has said why the time was not enough.
          if error is PostgreSQLDeadlineError, let refusal { throw refusal }
          throw error
        }
      case .wait(let waiter):
        if try !_waits(waiter, deadline) {
          let uses = _state.withLock { $0.uses.sorted { $0.key < $1.key }.map(\.value) }
          throw ExhaustedError(
            limit: _limits.count, seconds: deadline.seconds ?? _limits.wait, uses: uses)
        }
      }
    }
  }

  /// Gives up the place of a connection, and wakes a caller that waits for one.
  private func _free(_ number: Int) {
    _state.withLock { state in
      state.count -= 1
      state.uses[number] = nil
      if !state.waiters.isEmpty { state.waiters.removeFirst().semaphore.signal() }
    }
  }

  /// Waits until it is woken.
  ///
  /// - Parameter moment: Ends the wait before the deadline.
  /// - Returns: False if the time has come first.
  /// - Throws: `PostgreSQLCancellationError`.
  private func _waits(
    _ waiter: Waiter, _ deadline: PostgreSQLDeadline, until moment: DispatchTime = .distantFuture
  ) throws -> Bool {
    if deadline.waits(for: waiter.semaphore, until: moment) { return true }
    let isWoken = _state.withLock { state in
      // Woken just before: a connection is available.
      guard let place = state.waiters.firstIndex(where: { $0 === waiter }) else { return true }
      state.waiters.remove(at: place)
      return false
    }
    // A woken waiter has left the line, and acquires the connection even if it is cancelled: no other waiter is woken
    // for it.
    if !isWoken, deadline.isCancelled { throw PostgreSQLCancellationError() }
    return isWoken
  }

  /// Waits for a connection of the pool, or for a moment in which the server may have room for another one.
  ///
  /// - Throws: The server's refusal once the deadline has passed; `PostgreSQLCancellationError`.
  private func _standInLine(
    for pause: Double, _ deadline: PostgreSQLDeadline, _ refusal: PostgreSQLError
  ) throws {
    let waiter = Waiter()
    let isClosed = _state.withLock { state in
      state.waiters.insert(waiter, at: 0)
      return state.isClosed
    }
    if isClosed { throw ClosedError() }
    // Many that are refused at once do not come back at once.
    let moment = DispatchTime.now() + pause * Double.random(in: 0.5...1)
    if try !_waits(waiter, deadline, until: moment), deadline.isPast { throw refusal }
  }

  /// A session that will be ended.
  package struct Ending: Sendable {
    fileprivate let stopped = DispatchSemaphore(value: 0)

    /// Lets it be, unless its time has come.
    package func stop() { stopped.signal() }
  }

  /// Ends the session of a connection that was given up: without it the session's locks would stay until the server
  /// finds out that the network is gone.
  ///
  /// - Parameter delay: Seconds that the session has to end by itself.
  @discardableResult
  package func endSession(of connection: PostgreSQLConnection, after delay: Double = 0) -> Ending? {
    guard let session = connection.session else { return nil }
    let ending = Ending()
    Thread.detachNewThread { [_connect, _end] in
      if ending.stopped.wait(timeout: .now() + delay) == .success { return }
      // The network that is to blame may be bad for a while.
      for _ in 0..<3 {
        let deadline = PostgreSQLDeadline(after: 5)
        do {
          let other = try _connect(deadline)
          other.deadline = deadline
          return try _end(session, other)
        } catch {
          Thread.sleep(forTimeInterval: 1)
        }
      }
    }
    return ending
  }

  private func _giveBack(_ connection: PostgreSQLConnection, _ number: Int) {
    connection.deadline = connection.deadline.uncancelled
    connection.rollBack()
    if connection.isGivenUp { endSession(of: connection) }
    connection.deadline = .never
    let lent = Lent(connection: connection)
    let isUsable = connection.isUsable && !connection.isOlder(than: _limits.age)
    let tidies = _state.withLock { state in
      state.uses[number] = nil
      if isUsable, !state.isClosed { state.idle.append(lent) } else { state.count -= 1 }
      if !state.waiters.isEmpty { state.waiters.removeFirst().semaphore.signal() }
      if state.isTidying || state.idle.count <= _limits.kept { return false }
      state.isTidying = true
      return true
    }
    if tidies { _tidyLater() }
  }

  // MARK: Idle connections

  private func _tidyLater() {
    DispatchQueue.global(qos: .utility).asyncAfter(deadline: .now() + _limits.idle) { [weak self] in
      self?._tidy()
    }
  }

  /// Closes connections that have been idle for longer than the limit, except those that are kept.
  private func _tidy() {
    let (old, goesOn) = _state.withLock { state in
      // The last ones are lent first, and so the first ones are idle for longest.
      let count = min(
        state.idle.count - _limits.kept, state.idle.prefix { $0.isOlder(than: _limits.idle) }.count)
      let old = Array(state.idle.prefix(max(0, count)))
      state.idle.removeFirst(old.count)
      state.count -= old.count
      state.isTidying = state.idle.count > _limits.kept
      return (old, state.isTidying)
    }
    _ = old
    if goesOn { _tidyLater() }
  }

  /// Closes idle connections: after one was lost, the others probably are too.
  package func dropIdle() {
    let idle = _state.withLock { state in
      state.count -= state.idle.count
      defer { state.idle = [] }
      return state.idle
    }
    _ = idle
  }

  /// Closes idle connections, and the others when they are returned. Further calls throw `ClosedError`.
  package func close() {
    let idle = _state.withLock { state in
      state.isClosed = true
      for waiter in state.waiters { waiter.semaphore.signal() }
      state.waiters = []
      state.count -= state.idle.count
      defer { state.idle = [] }
      return state.idle
    }
    _ = idle
  }
}
