import Dispatch
import Synchronization

/// Connections to one database, each lent to one thread at a time.
///
/// Connections are created on demand, up to a limit. Callers that find all connections lent wait in line,
/// until a deadline.
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

  private struct State {
    var idle: [Lent] = []
    var count = 0
    var uses: [Int: String] = [:]
    var waiters: [Waiter] = []
    var isClosed = false
    var nextUse = 0
  }

  /// A connection being handed between threads.
  private struct Lent: @unchecked Sendable {
    // Unchecked: owned by one thread at a time.
    let connection: PostgreSQLConnection
  }

  private let _state = Mutex(State())
  private let _limit: Int
  private let _deadline: Double
  private let _connect: @Sendable () throws -> PostgreSQLConnection

  /// - Parameters:
  ///   - limit: Maximum number of connections.
  ///   - deadline: Seconds to wait for one.
  ///   - connect: Creates a connection.
  package init(
    limit: Int, deadline: Double, _ connect: @escaping @Sendable () throws -> PostgreSQLConnection
  ) {
    _limit = max(1, limit)
    _deadline = deadline
    _connect = connect
  }

  /// Runs `body` with a connection lent to it.
  ///
  /// - Parameter use: Purpose, for the error of an exhausted pool.
  /// - Throws: `ExhaustedError`, `ClosedError`, `PostgreSQLError`, or errors of `body`.
  package func withConnection<Result>(
    _ use: String, _ body: (PostgreSQLConnection) throws -> Result
  ) throws -> Result {
    let (connection, number) = try _acquire(use)
    defer { _giveBack(connection, number) }
    return try body(connection)
  }

  /// Creates a connection outside the pool's limit, owned by the caller.
  package func makeConnection() throws -> PostgreSQLConnection {
    guard !_state.withLock({ $0.isClosed }) else { throw ClosedError() }
    return try _connect()
  }

  /// Creates a connection in place of one that was lost, whose borrower still has it. Waits for no other
  /// borrower, and works after `close()`, too: the outcome of a save is of interest then as well.
  package func replacingLost() throws -> PostgreSQLConnection { try _connect() }

  private enum Found {
    case idle(Lent)
    case room
    case wait(Waiter)
    case closed
  }

  private func _acquire(_ use: String) throws -> (PostgreSQLConnection, Int) {
    let deadline = DispatchTime.now() + _deadline
    var isFirst = true
    while true {
      let (found, number) = _state.withLock { state -> (Found, Int) in
        if state.isClosed { return (.closed, 0) }
        // Woken waiters take precedence over new callers.
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
        if state.count < _limit {
          state.nextUse += 1
          state.count += 1
          state.uses[number] = use
          return (.room, number)
        }
        let waiter = Waiter()
        if isFirst { state.waiters.append(waiter) } else { state.waiters.insert(waiter, at: 0) }
        return (.wait(waiter), 0)
      }
      isFirst = false
      switch found {
      case .closed: throw ClosedError()
      case .idle(let lent): return (lent.connection, number)
      case .room:
        do {
          return (try _connect(), number)
        } catch {
          _state.withLock { state in
            state.count -= 1
            state.uses[number] = nil
            if !state.waiters.isEmpty { state.waiters.removeFirst().semaphore.signal() }
          }
          throw error
        }
      case .wait(let waiter):
        if waiter.semaphore.wait(timeout: deadline) == .timedOut {
          let uses = _state.withLock { state -> [String]? in
            // Woken just before the deadline: a connection is available.
            guard let place = state.waiters.firstIndex(where: { $0 === waiter }) else { return nil }
            state.waiters.remove(at: place)
            return state.uses.sorted { $0.key < $1.key }.map(\.value)
          }
          if let uses { throw ExhaustedError(limit: _limit, seconds: _deadline, uses: uses) }
        }
      }
    }
  }

  private func _giveBack(_ connection: PostgreSQLConnection, _ number: Int) {
    connection.rollBack()
    let lent = Lent(connection: connection)
    let isUsable = connection.isUsable
    _state.withLock { state in
      state.uses[number] = nil
      if isUsable, !state.isClosed { state.idle.append(lent) } else { state.count -= 1 }
      if !state.waiters.isEmpty { state.waiters.removeFirst().semaphore.signal() }
    }
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
