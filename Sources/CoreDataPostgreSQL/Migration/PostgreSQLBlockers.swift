import CoreDataPostgreSQLBinding

/// The sessions for which a migration waits, for the message of one that gives up.
enum PostgreSQLBlockers {
  /// Returns who has used tables of a schema for longest in a transaction, in words; empty if there is none, or the server
  /// does not say.
  ///
  /// - Parameter connection: Outside a transaction. Its own locks are left out.
  static func text(_ connection: PostgreSQLConnection, schema: String) -> String {
    var parameters = PostgreSQLParameters()
    parameters.add(schema)
    let found = try? connection.run(
      """
      SELECT a.pid, coalesce(a.usename, '?')::text, coalesce(a.application_name, '')::text, \
      extract(epoch FROM pg_catalog.clock_timestamp() - a.xact_start)::int8 \
      FROM pg_catalog.pg_stat_activity a WHERE a.pid <> pg_catalog.pg_backend_pid() AND EXISTS (\
      SELECT FROM pg_catalog.pg_locks l JOIN pg_catalog.pg_class c ON c.oid = l.relation \
      JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace \
      WHERE l.pid = a.pid AND l.granted AND n.nspname = $1::text) \
      ORDER BY a.xact_start NULLS LAST LIMIT 3
      """, parameters, isRepeated: false)
    guard let found, found.rowCount > 0 else { return "" }
    let sessions = (0..<found.rowCount).map { row in
      let name = found.string(row, 2)
      let age = found.isNull(row, 3) ? "" : ", for \(found.int64(row, 3)) s"
      let program = name.isEmpty ? "" : " (\(name))"
      return "session \(found.int64(row, 0)) of '\(found.string(row, 1))'\(program)\(age)"
    }
    return "; its tables are in use in transactions by \(sessions.joined(separator: ", ")). Let them end, "
      + "or end them with pg_terminate_backend"
  }
}
