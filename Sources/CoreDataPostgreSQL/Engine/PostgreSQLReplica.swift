import CoreDataPostgreSQLBinding
import Dispatch
import Synchronization

/// Replicas behind one URL, used to read objects while the one that answers has replayed everything that this
/// store has written or read.
///
/// Freshness is measured in log positions of the primary: every save and every read raises the position that
/// a replica must have reached. Positions are queried in the same round trip as the statement, so that they
/// apply to the server to which the connection leads. Replicas that lag or fail to report a position are
/// skipped.
final class PostgreSQLReplica: Sendable {
  private struct State {
    /// Position that a replica must have replayed; nil if unknown, in which case the primary must be queried.
    var required: Int64?
    /// Incremented when the position becomes unknown; answers to earlier queries are then ignored.
    var epoch = 0
    /// Position that some replica is known to have replayed. While it suffices, replicas are read without
    /// querying their position first.
    var replayed: Int64 = 0
    /// When to retry a replica that could not be reached.
    var resumption = DispatchTime(uptimeNanoseconds: 0)
  }

  /// A replica has not replayed what a read needs.
  private struct LagError: Error {}

  /// Seconds to wait before retrying a replica that could not be reached.
  private static let _rest = 5.0

  /// Queries the position that a replica has replayed.
  private static let _replayed = """
    SELECT (CASE WHEN pg_catalog.pg_is_in_recovery() THEN pg_catalog.pg_last_wal_replay_lsn() ELSE pg_catalog.pg_current_wal_lsn() END - '0/0')::int8
    """
  /// Queries the position that the primary has written. Never fails, since it may run inside a transaction.
  private static let _written = """
    SELECT (CASE WHEN pg_catalog.pg_is_in_recovery() THEN NULL ELSE pg_catalog.pg_current_wal_insert_lsn() END - '0/0')::int8
    """

  private let _pool: PostgreSQLPool
  private let _state = Mutex(State())
  /// Number of reads that a replica has answered.
  private let _answers = Atomic<Int>(0)

  private let _timelines: PostgreSQLTimelines

  init(_ pool: PostgreSQLPool, _ timelines: PostgreSQLTimelines) { (_pool, _timelines) = (pool, timelines) }

  var answerCount: Int { _answers.load(ordering: .relaxed) }

  /// Runs a read on a replica.
  ///
  /// - Returns: Nil if the primary must be read.
  /// - Throws: Errors of `body`, unless the replica is at fault.
  func read<Result>(
    _ use: String, until deadline: PostgreSQLDeadline, _ body: (PostgreSQLConnection) throws -> Result
  ) throws -> Result? {
    guard _state.withLock({ $0.required != nil && $0.resumption <= .now() }) else { return nil }
    do {
      return try _pool.withConnection(use, until: deadline) { connection in
        if !_timelines.isCurrent(connection) { try _timelines.begin(connection, isReplica: true) }
        guard _timelines.isCurrent(connection) else {
          _state.withLock { $0.resumption = .now() + Self._rest }
          return nil
        }
        guard try _isCurrent(connection) else { return nil }
        // The snapshot is taken between the two position queries.
        connection.companions = PostgreSQLCompanions(before: Self._replayed, after: Self._replayed) {
          [self] position, _ in
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
      // The replica cancelled the read because it conflicted with replay.
      return nil
    } catch is PostgreSQLPool.ExhaustedError {
      return nil
    } catch is LagError {
      return nil
    }
  }

  /// Returns whether a server that has replayed up to this position is current enough.
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

  /// Queries a server's position, unless the last known one suffices.
  private func _isCurrent(_ connection: PostgreSQLConnection) throws -> Bool {
    if _state.withLock({ state in state.required.map { $0 <= state.replayed } ?? false }) { return true }
    let found = try connection.run(Self._replayed)
    return _suffices(found.int64(0, 0))
  }

  /// Runs `body`, which executes statements on the primary, and requires replicas to have replayed everything
  /// written by its end.
  ///
  /// If the primary cannot report its position, reads go to the primary until it can.
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

  /// Requires other replicas to have replayed what was read on one.
  private func _raise(to position: Int64?) {
    guard let position else { return forget() }
    _state.withLock { state in state.required = state.required.map { max($0, position) } }
  }

  /// Sends reads to the primary until its position has been queried.
  func forget() {
    _state.withLock { state in
      state.required = nil
      state.epoch += 1
    }
  }

  /// Has replicas looked at anew: those that still follow the history that the primary has left are not read.
  func enterHistory() {
    forget()
    _pool.dropIdle()
  }

  func close() { _pool.close() }
}
