/// An error reported by a server or by the connection to it.
///
/// Contains neither parameters nor the server's DETAIL, which shows values of rows.
package struct PostgreSQLError: Error, Sendable, CustomStringConvertible {
  /// The SQLSTATE, five characters; nil if the connection itself failed.
  package let state: String?
  /// The server's primary message, or libpq's for a connection.
  package let message: String
  /// Name of the violated constraint.
  package let constraint: String?
  /// Table of the violated constraint.
  package let table: String?
  /// The statement, without values.
  package let sql: String?
  /// The SQLSTATE with which a server refuses a connection.
  package let refusal: String?

  package init(
    state: String?, message: String, constraint: String? = nil, table: String? = nil, sql: String? = nil,
    refusal: String? = nil
  ) {
    self.state = state
    self.message = message
    self.constraint = constraint
    self.table = table
    self.sql = sql
    self.refusal = refusal
  }

  package var description: String {
    let head = state.map { "PostgreSQL error \($0): \(message)" } ?? "PostgreSQL connection: \(message)"
    guard let sql else { return head }
    return "\(head) - in: \(sql.count > 2_000 ? sql.prefix(2_000) + "…" : sql)"
  }

  /// Whether a row violates a unique constraint.
  package var isUniqueViolation: Bool { state == "23505" }
  /// Whether an object of that name exists already, possibly created concurrently by another program.
  package var isDuplicate: Bool { isUniqueViolation || ["42P06", "42P07", "42710"].contains(state) }
  /// Whether the transaction lost against another one and may be retried as a whole.
  package var isSerializationFailure: Bool { state == "40001" || state == "40P01" }
  /// Whether a lock was not granted in time.
  package var isBusy: Bool { state == "55P03" }
  /// Whether the connection is unusable.
  package var isConnectionLost: Bool {
    guard let state else { return true }
    return state.hasPrefix("08") || state == "57P01" || state == "57P02" || state == "57P03"
      || state == "25P03"
  }
  /// Whether the server takes no more connections for the moment: it has as many as it may, or starts.
  package var isCrowded: Bool { refusal == "53300" || refusal == "57P03" }
  /// Whether the server is read-only: it has become a replica of another one.
  package var isDemoted: Bool { state == "25006" }
  /// Whether arithmetic in one row failed the whole statement.
  package var isArithmetic: Bool {
    ["22003", "22012", "2201E", "2201F", "22P02"].contains(state)
  }
  /// Whether a query uses a value that a group or distinct row does not have.
  package var isUngrouped: Bool { state == "42P10" || state == "42803" }
  /// Whether the statement was cancelled.
  package var isCancelled: Bool { state == "57014" }
  /// Whether a table, schema or function does not exist.
  package var isMissing: Bool { ["42P01", "3F000", "42883"].contains(state) }
  /// Whether a table or a column does not exist.
  package var isMissingColumn: Bool { state == "42P01" || state == "42703" }
  /// Whether an object other than a table, schema or function does not exist, such as a collation.
  package var isMissingObject: Bool { state == "42704" }
  /// Whether a role lacks a right.
  package var isDenied: Bool { state == "42501" }
}
