import CoreDataPostgreSQLBinding

/// What a server lets a role do beyond what every store needs, asked once when a store is opened.
///
/// For each there is a plainer way, which is taken where it is missing.
struct PostgreSQLCapabilities: Sendable {
  /// Whether rows may be inserted by COPY. It passes policies of row-level security by, and is refused where there are any that
  /// bind the role; then rows go by INSERT.
  let copies: Bool

  /// - Parameter tables: Names of the model's tables, with schema and quotes.
  init(_ tables: [String], on connection: PostgreSQLConnection) throws {
    var parameters = PostgreSQLParameters()
    parameters.add(PostgreSQLArray(tables))
    let found = try connection.run(
      "SELECT coalesce(bool_or(row_security_active(t)), false) FROM unnest($1::text[]) AS n(t)", parameters,
      isRepeated: false)
    copies = found.int64(0, 0) == 0
  }
}
