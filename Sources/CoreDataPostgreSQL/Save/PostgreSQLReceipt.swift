import CoreDataPostgreSQLBinding
import Foundation

/// A row that every save writes in its transaction, to determine whether a save was committed whose
/// connection was lost.
///
/// Transaction numbers cannot show that: after a crash, the server reuses numbers that were never flushed.
struct PostgreSQLReceipt {
  private let _id = UUID()
  private let _table: String

  init(schema: String) { _table = "\(PostgreSQLNames.quoted(schema)).\"_receipt\"" }

  private var _parameters: PostgreSQLParameters {
    var parameters = PostgreSQLParameters()
    withUnsafeBytes(of: _id.uuid) { parameters.add(uuid: $0) }
    return parameters
  }

  private var _insertion: String { "INSERT INTO \(_table) (\"id\") VALUES ($1::uuid)" }

  /// Writes the row along with the next statement.
  func write(on connection: PostgreSQLConnection) throws {
    try connection.runLater(_insertion, _parameters)
  }

  /// Returns whether the save was committed.
  ///
  /// Writes the same row again. This waits for the save's session while it lives; then the row is refused if
  /// the save was committed, and if it is accepted, the save can no longer commit.
  ///
  /// Asks on a connection of its own. The pool's may all be lent to saves that ask the same, each of which
  /// would wait for the others.
  ///
  /// - Throws: `PostgreSQLStoreError.unknownOutcome` if the server cannot be queried.
  func isThere(in pool: PostgreSQLPool, after loss: PostgreSQLError) throws -> Bool {
    var last = loss
    for attempt in 0..<20 {
      if attempt > 0 { Thread.sleep(forTimeInterval: min(2, 0.05 * Double(1 << min(attempt, 6)))) }
      do {
        let connection = try pool.replacingLost()
        do {
          try connection.run(_insertion, _parameters, isRepeated: false)
          // Not committed, and this row now prevents a later commit.
          return false
        } catch let error as PostgreSQLError where error.isUniqueViolation {
          try confirm(on: connection)
          return true
        }
      } catch let error as PostgreSQLError {
        last = error
      }
    }
    throw PostgreSQLStoreError.unknownOutcome(last)
  }

  /// Makes sure that what was committed is on the replicas for which a COMMIT waits.
  ///
  /// A session that ends, or is cancelled, while it waits leaves a transaction that is visible, though no
  /// replica may have it. A later commit waits for the same replicas, and arrives there after all earlier ones.
  ///
  /// - Throws: `PostgreSQLStoreError.unknownOutcome` if this commit does not wait either; errors of the server.
  func confirm(on connection: PostgreSQLConnection) throws {
    let warnings = connection.warningCount
    var parameters = PostgreSQLParameters()
    withUnsafeBytes(of: UUID().uuid) { parameters.add(uuid: $0) }
    try connection.run(_insertion, parameters, isRepeated: false)
    guard connection.warningCount == warnings else {
      throw PostgreSQLStoreError.unknownOutcome(
        PostgreSQLError(state: "01000", message: "it did not wait for its synchronous replica"))
    }
  }
}
