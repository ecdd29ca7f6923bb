import CoreDataPostgreSQLBinding
import Synchronization

/// Marks connections with the epoch of their program's model, by a shared advisory lock with the epoch in its key, which other
/// programs can list and never wait for.
///
/// A contraction asks whether programs with earlier versions are connected. Connections through a pooler serve many programs
/// and are not marked; a server without advisory locks lists none.
final class PostgreSQLPresence: Sendable {
  private let _key: UInt32
  private let _epoch = Atomic<Int64>(0)

  init(schema: String) { _key = Self._key(of: schema) }

  /// A number that is the same in all programs.
  private static func _key(of schema: String) -> UInt32 {
    "coredata:\(schema)".utf8.reduce(2_166_136_261) { ($0 ^ UInt32($1)) &* 16_777_619 }
  }

  /// Sets the epoch, once a store knows it, for the connections that are opened from then on.
  func begin(_ epoch: Int64) { _epoch.store(epoch, ordering: .relaxed) }

  /// Marks a connection; does nothing before the epoch is known.
  ///
  /// - Throws: `PostgreSQLError` if the connection is lost; `PostgreSQLDeadlineError`.
  func mark(_ connection: PostgreSQLConnection) throws {
    let epoch = _epoch.load(ordering: .relaxed)
    if epoch == 0 { return }
    var parameters = PostgreSQLParameters()
    parameters.add(Int64(Int32(bitPattern: _key)))
    parameters.add(epoch)
    do {
      try connection.run(
        "SELECT pg_catalog.pg_try_advisory_lock_shared($1::int8::int4, $2::int8::int4)", parameters,
        isRepeated: false)
    } catch let error as PostgreSQLError where !error.isConnectionLost {}
  }

  /// A connection of a program that has a store open.
  struct Session: Sendable {
    let epoch: Int64
    let process: Int64
    let role: String
    let application: String
    /// The address of its machine; empty for a connection without network.
    let address: String
  }

  /// Returns the marked connections to a store.
  static func sessions(
    _ connection: PostgreSQLConnection, schema: String
  ) throws -> [Session] {
    var parameters = PostgreSQLParameters()
    parameters.add(Int64(_key(of: schema)))
    let found = try connection.run(
      """
      SELECT DISTINCT l.objid::int8, l.pid::int8, coalesce(a.usename, '?')::text, \
      coalesce(a.application_name, '')::text, coalesce(pg_catalog.host(a.client_addr), '')::text \
      FROM pg_catalog.pg_locks l JOIN pg_catalog.pg_stat_activity a ON a.pid = l.pid \
      WHERE l.locktype = 'advisory' AND l.objsubid = 2 AND l.classid = $1::int8::oid AND l.granted \
      AND l.database = (SELECT oid FROM pg_catalog.pg_database WHERE datname = pg_catalog.current_database()) \
      ORDER BY 1, 2
      """, parameters, isRepeated: false)
    return (0..<found.rowCount).map { row in
      Session(
        epoch: found.int64(row, 0), process: found.int64(row, 1), role: found.string(row, 2),
        application: found.string(row, 3), address: found.string(row, 4))
    }
  }
}
