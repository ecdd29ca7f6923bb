import CoreDataCSQLite
import Synchronization

/// Tells whether other connections than a pool's, of this process or another, have committed to a database
/// with a write-ahead log.
///
/// Compares the log's index with what it was after the pool's own last commit, which takes no system call,
/// and never waits for a transaction: while one of the pool's own holds the write lock, nobody else commits.
package final class CommitWatch: Sendable {
  private struct State: @unchecked Sendable {
    // Unchecked: used under the lock only.
    /// Keeps the index mapped.
    var connection: Connection?
    var index: UnsafeRawPointer?
    var known: LogState?
    /// The changed rows of the writing connection when it began; nil unless the pool has the write lock.
    var changesBefore: Int32?
    var hasNews = false

    /// Notes what others have committed since the last look, while the pool does not write.
    mutating func look() {
      guard let index else {
        hasNews = true
        return
      }
      let now = LogState(index)
      if let known, known != now { hasNews = true }
      known = now
    }
  }

  private let _state = Mutex(State())

  /// Returns whether another connection has committed, or may have, since the last call.
  package func check() -> Bool {
    _state.withLock { state in
      if state.changesBefore == nil { state.look() }
      defer { state.hasNews = false }
      return state.hasNews
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
      state.look()
      state.changesBefore = connection.totalChanges
    }
  }

  /// Call it once the transaction has been committed, while no other of the pool's can have begun.
  func didCommit(_ connection: Connection) {
    _state.withLock { state in
      let now = state.index.map(LogState.init)
      let own = state.changesBefore == connection.totalChanges ? 0 : 1
      // Others may have committed since the lock was released. Each commit counts once.
      if let now, let known = state.known, now.commits &- known.commits != own { state.hasNews = true }
      state.known = now
      state.changesBefore = nil
    }
  }

  /// Call it before a transaction ends without a commit, while it has its lock.
  func willRollBack() { _state.withLock { $0.changesBefore = nil } }

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

  /// The number of commits, modulo 2^32; the index has it in the machine's byte order.
  var commits: UInt32 { withUnsafeBytes(of: _words.1) { $0.load(as: UInt32.self) } }

  @inline(__always)
  static func == (left: LogState, right: LogState) -> Bool { left._words == right._words }
}
