import CoreDataPostgreSQLBinding

/// The sessions of a store's connections, as the server sees them.
enum PostgreSQLSession {
  /// Notes which session a new connection has, so that another connection can end it, and has the server notice within
  /// a minute that a client is gone. Its own setting lets the locks of one stay for two hours.
  ///
  /// Does nothing on a server that does not know these things.
  ///
  /// - Throws: `PostgreSQLError` if the connection is lost; `PostgreSQLDeadlineError`.
  static func begin(on connection: PostgreSQLConnection) throws {
    do {
      try _note(connection)
    } catch let error as PostgreSQLError where !error.isConnectionLost {}
  }

  private static func _note(_ connection: PostgreSQLConnection) throws {
    let found = try connection.run(
      """
      SELECT extract(epoch FROM a.backend_start)::text, \
      pg_catalog.set_config('tcp_keepalives_idle', '30', false), \
      pg_catalog.set_config('tcp_keepalives_interval', '10', false), \
      pg_catalog.set_config('tcp_keepalives_count', '3', false), \
      pg_catalog.set_config('tcp_user_timeout', '60000', false) \
      FROM pg_catalog.pg_stat_get_activity(pg_catalog.pg_backend_pid()) a
      """, isRepeated: false)
    guard found.rowCount == 1, !found.isNull(0, 0) else { return }
    connection.session = .init(process: connection.processID, start: found.string(0, 0))
  }

  /// Ends a session whose client is gone, and with it its transaction and locks. A session that has the same process
  /// number later is another one.
  ///
  /// - Throws: `PostgreSQLError`, `PostgreSQLDeadlineError`.
  static func end(_ session: PostgreSQLConnection.Session, on connection: PostgreSQLConnection) throws {
    var parameters = PostgreSQLParameters()
    parameters.add(Int64(session.process))
    parameters.add(session.start)
    try connection.run(
      """
      SELECT pg_catalog.pg_terminate_backend(a.pid) \
      FROM pg_catalog.pg_stat_get_activity($1::int8::int4) a \
      WHERE extract(epoch FROM a.backend_start)::text = $2::text
      """, parameters, isRepeated: false)
  }
}
