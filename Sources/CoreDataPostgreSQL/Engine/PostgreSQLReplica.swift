import CoreDataPostgreSQLBinding
import Dispatch
import Synchronization

/// A replica that objects are read from, as long as it has replayed all that this store has written or read on the
/// primary.
///
/// The primary's log position tells: a save, and every read on the primary, raises the one that the replica must have
/// reached. A replica that lags, or cannot be asked, is passed over.
final class PostgreSQLReplica: Sendable {
  private struct State {
    /// Position that the replica must have replayed; nil when it is unknown, and the primary has to be asked.
    var required: Int64?
    /// Position that the replica is known to have replayed.
    var replayed: Int64 = 0
    /// Server of the connections: another one may be behind it.
    var server: String?
    /// When to look for a replica again that could not be reached.
    var resumption = DispatchTime(uptimeNanoseconds: 0)
  }

  /// Seconds for which a replica that could not be reached is left alone.
  private static let _rest = 5.0

  private let _pool: PostgreSQLPool
  private let _state = Mutex(State())
  /// Reads that the replica has answered.
  private let _answers = Atomic<Int>(0)

  init(_ pool: PostgreSQLPool) { _pool = pool }

  var answerCount: Int { _answers.load(ordering: .relaxed) }

  /// Runs a read on the replica.
  ///
  /// - Returns: Nil when the read is the primary's.
  /// - Throws: What `body` throws, unless the replica is at fault.
  func read<Result>(_ use: String, _ body: (PostgreSQLConnection) throws -> Result) throws -> Result? {
    guard _state.withLock({ $0.required != nil && $0.resumption <= .now() }) else { return nil }
    do {
      return try _pool.withConnection(use) { connection in
        guard try _isCurrent(connection) else { return nil }
        let result = try body(connection)
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
    }
  }

  private func _isCurrent(_ connection: PostgreSQLConnection) throws -> Bool {
    let server = connection.server
    let isKnown = _state.withLock { state in
      if state.server != server {
        // What was read may be more than this server has.
        state.required = state.server == nil ? state.required : nil
        state.server = server
        state.replayed = 0
      }
      return state.required.map { $0 <= state.replayed }
    }
    guard let isKnown else { return false }
    if isKnown { return true }
    let found = try connection.run(
      "SELECT (CASE WHEN pg_is_in_recovery() THEN pg_last_wal_replay_lsn() ELSE pg_current_wal_lsn() END - '0/0')::int8"
    )
    let replayed = found.int64(0, 0)
    return _state.withLock { state in
      guard state.server == server else { return false }
      state.replayed = max(state.replayed, replayed)
      return state.required.map { $0 <= state.replayed } ?? false
    }
  }

  /// Has the replica wait for everything that the primary has written by now.
  ///
  /// - Parameter connection: One to the primary. When it cannot tell, reads are the primary's until one can.
  func follow(_ connection: PostgreSQLConnection) {
    let found = try? connection.run("SELECT (pg_current_wal_insert_lsn() - '0/0')::int8")
    let position = found.flatMap { $0.rowCount == 1 && !$0.isNull(0, 0) ? $0.int64(0, 0) : nil }
    _state.withLock { state in
      guard let position else { return state.required = nil }
      state.required = max(state.required ?? 0, position)
    }
  }

  /// Leaves reads to the primary until it has been asked for its position.
  func forget() { _state.withLock { $0.required = nil } }

  func close() { _pool.close() }
}
