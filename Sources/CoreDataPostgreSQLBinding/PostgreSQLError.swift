/// What a server, or the connection to it, has reported.
///
/// Holds neither parameters nor the server's DETAIL, which shows values of rows.
package struct PostgreSQLError: Error, Sendable, CustomStringConvertible {
  /// The five characters of the SQL standard; nil when the connection itself failed.
  package let state: String?
  /// The server's primary message, or libpq's for a connection.
  package let message: String
  /// Name of the constraint that a row breaks.
  package let constraint: String?
  /// Table of that constraint.
  package let table: String?
  /// The statement, without values.
  package let sql: String?

  package init(
    state: String?, message: String, constraint: String? = nil, table: String? = nil, sql: String? = nil
  ) {
    self.state = state
    self.message = message
    self.constraint = constraint
    self.table = table
    self.sql = sql
  }

  package var description: String {
    let head = state.map { "PostgreSQL error \($0): \(message)" } ?? "PostgreSQL connection: \(message)"
    guard let sql else { return head }
    return "\(head) - in: \(sql.count > 2_000 ? sql.prefix(2_000) + "…" : sql)"
  }

  /// Whether a row breaks a unique constraint.
  package var isUniqueViolation: Bool { state == "23505" }
  /// Whether something of that name is there already, made by another program at the same time perhaps.
  package var isDuplicate: Bool { isUniqueViolation || ["42P06", "42P07", "42710"].contains(state) }
  /// Whether the transaction lost against another one and may be run again as a whole.
  package var isSerializationFailure: Bool { state == "40001" || state == "40P01" }
  /// Whether a lock was not given in time.
  package var isBusy: Bool { state == "55P03" }
  /// Whether the connection is of no more use.
  package var isConnectionLost: Bool {
    guard let state else { return true }
    return state.hasPrefix("08") || state == "57P01" || state == "57P02" || state == "57P03"
      || state == "25P03"
  }
  /// Whether arithmetic of one row failed the whole statement.
  package var isArithmetic: Bool {
    ["22003", "22012", "2201E", "2201F", "22P02"].contains(state)
  }
  /// Whether a query asks for a value that a group or a distinct row does not have.
  package var isUngrouped: Bool { state == "42P10" || state == "42803" }
  /// Whether the statement was ended from outside.
  package var isCancelled: Bool { state == "57014" }
  /// Whether a table, schema or function is not there.
  package var isMissing: Bool { ["42P01", "3F000", "42883"].contains(state) }
  /// Whether a role lacks a right.
  package var isDenied: Bool { state == "42501" }
}
