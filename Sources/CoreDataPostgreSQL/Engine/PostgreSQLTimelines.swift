import CoreDataPostgreSQLBinding
import Dispatch
import Synchronization

/// The histories of its database that a store has met: after a failover to a server that had not received every commit, or a
/// restore, a database goes on from an earlier state.
///
/// Versions of rows and keys of new objects are then assigned a second time, to other values: the version 7 that this program
/// has read is not the version 7 that is there. So each history has a number here, by which a connection is marked, and which
/// is part of the versions of rows in memory (`PostgreSQLVersion`). A save finds that a row was read from another history and
/// compares values in place of versions, and a row that is read after a failover is newer than any from before it, whatever
/// its version.
///
/// The server calls a history a timeline, and begins one with each promotion and each recovery to a point in time. Files that
/// were copied back go on with the timeline that they had: their log is shorter than it was. A replica notes the timeline that
/// it follows at its next restart point, and is not read before.
final class PostgreSQLTimelines: Sendable {
  /// What a server says of its history.
  private struct Place {
    /// A hash of its system identifier and its timeline.
    let history: Int64
    /// Position in the write-ahead log.
    let position: Int64
  }

  /// A history, with the furthest position that was seen on it.
  private struct Line {
    let history: Int64
    var position: Int64
  }

  private struct State {
    var lines: [Line] = []
    /// Number of the history that was met last, other than by a replica.
    var current: Int64 = 0
    /// When it was.
    var moment = DispatchTime(uptimeNanoseconds: 0)
    /// Whether the server can say.
    var isKnown = true
    var changed: (@Sendable () -> Void)?
  }

  private let _state = Mutex(State())
  /// Whether a connection leads to a pooler: then the server may change between two transactions.
  private let _isPooled: Bool

  /// Seconds for which a pooler's connections are not asked again before a read.
  private static let _trust = 5.0

  init(isPooled: Bool) { _isPooled = isPooled }

  /// Has `body` called when a connection leads to another history than those before, before the connection is used.
  func onChange(_ body: @escaping @Sendable () -> Void) { _state.withLock { $0.changed = body } }

  /// Whether the server says what its history is.
  private var _isKnown: Bool { _state.withLock { $0.isKnown } }

  /// Whether a connection leads to the history of the server that can be written.
  func isCurrent(_ connection: PostgreSQLConnection) -> Bool {
    _state.withLock { $0.current == connection.timeline }
  }

  /// Marks a new connection. Costs one round trip.
  ///
  /// - Parameter isReplica: Whether it leads to a replica that is read in place of the server. Its history is one of those
  ///   that are known, or not that of the server.
  /// - Throws: `PostgreSQLError` if the connection is lost; `PostgreSQLDeadlineError`.
  func begin(_ connection: PostgreSQLConnection, isReplica: Bool = false) throws {
    do {
      try _mark(connection, isReplica: isReplica)
    } catch let error as PostgreSQLError where !error.isConnectionLost {
      // A server of another make does not know these things. One that did says why it does not now; a replica that does not
      // say is not read.
      if isReplica, _isKnown { return connection.timeline = -1 }
      try _state.withLock { state in
        guard state.lines.isEmpty else { throw error }
        state.isKnown = false
      }
    }
  }

  /// Marks a pooler's connection before a read; once in some seconds that costs a round trip.
  ///
  /// - Throws: As `begin`.
  func beginReading(_ connection: PostgreSQLConnection) throws {
    guard _isPooled, !connection.isInTransaction else { return }
    let (current, isOld) = _state.withLock { ($0.current, $0.isKnown && $0.moment + Self._trust < .now()) }
    if isOld { try begin(connection) } else { connection.timeline = current }
  }

  /// Has the server asked along with the first statement of a transaction that writes on a pooler's connection: from then on it
  /// stays with one server. Costs no round trip. The statement fails if the history is another one, and the transaction is
  /// to be repeated.
  func beginWriting(_ connection: PostgreSQLConnection) {
    let (known, isKnown) = _state.withLock { ($0.lines, $0.isKnown) }
    guard _isPooled, isKnown else { return }
    let timeline = connection.timeline
    connection.companions = PostgreSQLCompanions(before: Self._history, after: Self._position, once: true) {
      [self] history, position in
      guard let history, let position else { return }
      let number = _enter(Place(history: history, position: position), known)
      if number != timeline {
        throw PostgreSQLError(state: "40001", message: "the pooler leads to another history of the database")
      }
    }
  }

  private func _mark(_ connection: PostgreSQLConnection, isReplica: Bool) throws {
    // What is known before the server is asked: another connection may be told of a later position sooner.
    let known = _state.withLock { $0.lines }
    guard let place = try Self._place(of: connection) else { return }
    if isReplica {
      connection.timeline = Int64(known.lastIndex { $0.history == place.history } ?? -1)
      return
    }
    connection.timeline = _enter(place, known)
  }

  /// Returns the number of the history that the server has now.
  private func _enter(_ place: Place, _ known: [Line]) -> Int64 {
    let (number, changed) = _state.withLock { state -> (Int64, (@Sendable () -> Void)?) in
      let number = Self._number(of: place, known, &state.lines)
      state.moment = .now()
      defer { state.current = number }
      return (number, state.current == number ? nil : state.changed)
    }
    changed?()
    return number
  }

  /// Returns the number of a history, which is added if it is new.
  ///
  /// - Parameter known: The histories that were known before the server was asked.
  private static func _number(of place: Place, _ known: [Line], _ lines: inout [Line]) -> Int64 {
    if let last = lines.lastIndex(where: { $0.history == place.history }),
      last >= known.count || place.position >= known[last].position
    {
      lines[last].position = max(lines[last].position, place.position)
      return Int64(last)
    }
    lines.append(Line(history: place.history, position: place.position))
    return Int64(lines.count - 1)
  }

  private static let _history = """
    SELECT pg_catalog.hashint8extended(s.system_identifier, \
    CASE WHEN r.recovers THEN (SELECT timeline_id FROM pg_catalog.pg_control_checkpoint())::int8 ELSE \
    ('x' || pg_catalog.left(pg_catalog.pg_walfile_name(pg_catalog.pg_current_wal_insert_lsn()), 8))::bit(32)::int8 END) \
    FROM pg_catalog.pg_control_system() s, pg_catalog.pg_is_in_recovery() r(recovers)
    """
  private static let _position = """
    SELECT ((CASE WHEN r.recovers THEN pg_catalog.pg_last_wal_replay_lsn() ELSE pg_catalog.pg_current_wal_flush_lsn() END) \
    - '0/0')::int8 FROM pg_catalog.pg_is_in_recovery() r(recovers)
    """

  /// Asks the server for its history; nil if it does not say.
  private static func _place(of connection: PostgreSQLConnection) throws -> Place? {
    let found = try connection.run("SELECT (\(_history)), (\(_position))", isRepeated: false)
    guard found.rowCount == 1, !found.isNull(0, 0), !found.isNull(0, 1) else { return nil }
    return Place(history: found.int64(0, 0), position: found.int64(0, 1))
  }
}

/// The version of a row in memory: the stored one in the lower 48 bits, and above them the number of the history from which
/// it was read. On the first history, and so mostly, they are the same.
enum PostgreSQLVersion {
  static let bits: Int64 = 48
  private static let _stored: Int64 = 1 << bits - 1

  /// Returns the version in memory of a row that was read on a connection.
  @inline(__always) static func read(_ stored: Int64, on timeline: Int64) -> Int64 {
    timeline == 0 ? stored : stored & _stored | timeline << bits
  }

  /// Returns the version to be stored by a connection.
  @inline(__always) static func stored(_ version: Int64, on timeline: Int64) -> Int64 {
    timeline == 0 ? version : version & _stored
  }

  /// Returns the version that a row must have on a connection so as to be as it was read; one that no row has if it was read
  /// from another history.
  static func expected(_ version: Int64, on timeline: Int64) -> Int64 {
    read(version, on: timeline) == version ? stored(version, on: timeline) : -1
  }
}
