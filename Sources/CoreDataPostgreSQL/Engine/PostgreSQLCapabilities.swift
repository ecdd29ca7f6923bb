import CoreDataPostgreSQLBinding

/// The optional rights that a server grants a role, queried once when a store is opened.
///
/// Each capability has a fallback.
struct PostgreSQLCapabilities: Sendable {
  /// Whether rows may be inserted by COPY, which the server refuses on tables whose row-level security
  /// applies to the role. The fallback is INSERT.
  let copies: Bool

  /// - Parameter tables: Qualified, quoted names of the model's tables.
  init(_ tables: [String], on connection: PostgreSQLConnection) throws {
    var parameters = PostgreSQLParameters()
    parameters.add(PostgreSQLArray(tables))
    let found = try connection.run(
      "SELECT coalesce(pg_catalog.bool_or(pg_catalog.row_security_active(t)), false) FROM pg_catalog.unnest($1::text[]) AS n(t)",
      parameters,
      isRepeated: false)
    copies = found.int64(0, 0) == 0
  }
}
