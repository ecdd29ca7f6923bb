import CoreDataCSQLite
import Synchronization

/// Tells whether other connections than a pool's, of this process or another, have committed to a database
/// with a write-ahead log.
///
/// Compares the log's index with what it was after the pool's own last commit, which takes no system call,
/// and never waits for a transaction.
package final class CommitWatch: Sendable {
  private struct State: @unchecked Sendable {
    // Unchecked: used under the lock only.
    /// Keeps the index mapped.
    var connection: Connection?
    var index: UnsafeRawPointer?
    var known: LogState?
    /// Whether the pool has a transaction open that may commit.
    var isWriting = false
    var hasNews = false
  }

  private let _state = Mutex(State())

  package enum Answer: Sendable {
    /// No other connection has committed since the last answer.
    case unchanged
    /// Another connection has, or may have.
    case changed
    /// One of the pool's own transactions is under way. Ask again later.
    case unknown
  }

  /// Returns the answer for the time since the last one.
  package func check() -> Answer {
    _state.withLock { state in
      if state.isWriting { return .unknown }
      if let index = state.index {
        let now = LogState(index)
        if let known = state.known, known != now { state.hasNews = true }
        state.known = now
      } else {
        state.hasNews = true
      }
      defer { state.hasNews = false }
      return state.hasNews ? .changed : .unchanged
    }
  }

  /// Records the present state. Call it before anything that is to be watched is read.
  func begin(with connection: Connection) {
    _state.withLock { state in
      _attach(connection, &state)
      state.known = state.index.map(LogState.init)
    }
  }

  /// Call it once a write transaction has its lock.
  func willWrite(_ connection: Connection) {
    _state.withLock { state in
      if state.index == nil {
        state.hasNews = true
        _attach(connection, &state)
      }
      if let index = state.index, let known = state.known, known != LogState(index) { state.hasNews = true }
      state.isWriting = true
    }
  }

  /// Call it once the transaction has ended, while no other of the pool's can have begun.
  func didWrite() {
    _state.withLock { state in
      state.isWriting = false
      state.known = state.index.map(LogState.init)
    }
  }

  /// Call it before a connection is closed.
  func letGo(of connection: Connection) {
    let released = _state.withLock { state -> Connection? in
      guard state.connection === connection else { return nil }
      state.index = nil
      return state.connection.take()
    }
    withExtendedLifetime(released) {}
  }

  /// Lets go of any connection.
  func end() {
    let released = _state.withLock { state -> Connection? in
      state.index = nil
      return state.connection.take()
    }
    withExtendedLifetime(released) {}
  }

  private func _attach(_ connection: Connection, _ state: inout State) {
    guard let index = coredata_log_state(connection.handle) else { return }
    state.connection = connection
    state.index = index
  }
}

/// The header of the log's index, which every commit of every process changes; see SQLite's "WAL-mode File
/// Format".
struct LogState: Equatable {
  private let _words: (UInt64, UInt64, UInt64, UInt64, UInt64, UInt64)

  @inline(__always)
  init(_ index: UnsafeRawPointer) {
    atomicMemoryFence(ordering: .acquiring)
    _words = index.loadUnaligned(as: (UInt64, UInt64, UInt64, UInt64, UInt64, UInt64).self)
  }

  @inline(__always)
  static func == (left: LogState, right: LogState) -> Bool { left._words == right._words }
}
