import CoreDataPostgreSQLBinding
import Dispatch
import Synchronization

/// Replicas behind one URL that objects are read from, as long as the one that answers has replayed all that this store has
/// written or read.
///
/// The primary's log position tells: a save, and every read, raises the one that a replica must have reached. Positions are
/// asked for in the round trip of the statement itself, so that they hold whichever server a connection leads to. A replica
/// that lags, or cannot be asked, is passed over.
final class PostgreSQLReplica: Sendable {
  private struct State {
    /// Position that a replica must have replayed; nil when it is unknown, and the primary has to be asked.
    var required: Int64?
    /// Raised when the position becomes unknown: what was asked for before does not tell it.
    var epoch = 0
    /// Position that some replica is known to have replayed: as long as it suffices, replicas are read without asking first.
    var replayed: Int64 = 0
    /// When to look for a replica again that could not be reached.
    var resumption = DispatchTime(uptimeNanoseconds: 0)
  }

  /// A replica has not replayed what a read needs.
  private struct LagError: Error {}

  /// Seconds for which a replica that could not be reached is left alone.
  private static let _rest = 5.0

  /// What a replica has replayed.
  private static let _replayed = """
    SELECT (CASE WHEN pg_is_in_recovery() THEN pg_last_wal_replay_lsn() ELSE pg_current_wal_lsn() END - '0/0')::int8
    """
  /// What the primary has written. A query that never fails: it may run inside of a transaction.
  private static let _written = """
    SELECT (CASE WHEN pg_is_in_recovery() THEN NULL ELSE pg_current_wal_insert_lsn() END - '0/0')::int8
    """

  private let _pool: PostgreSQLPool
  private let _state = Mutex(State())
  /// Reads that a replica has answered.
  private let _answers = Atomic<Int>(0)

  init(_ pool: PostgreSQLPool) { _pool = pool }

  var answerCount: Int { _answers.load(ordering: .relaxed) }

  /// Runs a read on a replica.
  ///
  /// - Returns: Nil when the read is the primary's.
  /// - Throws: What `body` throws, unless the replica is at fault.
  func read<Result>(_ use: String, _ body: (PostgreSQLConnection) throws -> Result) throws -> Result? {
    guard _state.withLock({ $0.required != nil && $0.resumption <= .now() }) else { return nil }
    do {
      return try _pool.withConnection(use) { connection in
        guard try _isCurrent(connection) else { return nil }
        // A snapshot is taken after the first position and before the second one.
        connection.companions = PostgreSQLCompanions(before: Self._replayed, after: Self._replayed) {
          [self] position in
          guard _suffices(position) else { throw LagError() }
        }
        defer { connection.companions = nil }
        let result = try body(connection)
        _raise(to: connection.companions?.numberAfter)
        _answers.wrappingAdd(1, ordering: .relaxed)
        return result
      }
    } catch let error as PostgreSQLError where error.isConnectionLost {
      _state.withLock { $0.resumption = .now() + Self._rest }
      _pool.dropIdle()
      return nil
    } catch let error as PostgreSQLError where error.isSerializationFailure {
      // The replica has ended the read because it was in the way of replaying.
      return nil
    } catch is PostgreSQLPool.ExhaustedError {
      return nil
    } catch is LagError {
      return nil
    }
  }

  /// Whether a server that has replayed so much may be read.
  private func _suffices(_ position: Int64?) -> Bool {
    _state.withLock { state in
      guard let position, let required = state.required, required <= position else {
        state.replayed = 0
        return false
      }
      state.replayed = max(state.replayed, position)
      return true
    }
  }

  /// Asks a server how far it is, unless the last one that answered was far enough.
  private func _isCurrent(_ connection: PostgreSQLConnection) throws -> Bool {
    if _state.withLock({ state in state.required.map { $0 <= state.replayed } ?? false }) { return true }
    let found = try connection.run(Self._replayed)
    return _suffices(found.int64(0, 0))
  }

  /// Runs `body`, with statements on the primary, and has replicas wait for everything that is written by then.
  ///
  /// When the primary cannot tell its position, reads are the primary's until it can.
  func following<Result>(_ connection: PostgreSQLConnection, _ body: () throws -> Result) throws -> Result {
    let epoch = _state.withLock { $0.epoch }
    connection.companions = PostgreSQLCompanions(after: Self._written)
    defer { connection.companions = nil }
    let result = try body()
    guard let position = connection.companions?.numberAfter else {
      forget()
      return result
    }
    _state.withLock { state in
      guard state.required != nil || state.epoch == epoch else { return }
      state.required = max(state.required ?? 0, position)
    }
    return result
  }

  /// Has other replicas wait for what was read on one.
  private func _raise(to position: Int64?) {
    guard let position else { return forget() }
    _state.withLock { state in state.required = state.required.map { max($0, position) } }
  }

  /// Leaves reads to the primary until it has been asked for its position.
  func forget() {
    _state.withLock { state in
      state.required = nil
      state.epoch += 1
    }
  }

  func close() { _pool.close() }
}
