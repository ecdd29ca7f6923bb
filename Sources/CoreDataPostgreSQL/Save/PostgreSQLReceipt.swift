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
  /// - Throws: `PostgreSQLStoreError.unknownOutcome` if the server cannot be queried.
  func isThere(in pool: PostgreSQLPool, after loss: PostgreSQLError) throws -> Bool {
    var last = loss
    for attempt in 0..<20 {
      if attempt > 0 { Thread.sleep(forTimeInterval: min(2, 0.05 * Double(1 << min(attempt, 6)))) }
      do {
        return try pool.withConnection("the outcome of a save") { connection in
          do {
            try connection.run(_insertion, _parameters, isRepeated: false)
            // Not committed, and this row now prevents a later commit.
            return false
          } catch let error as PostgreSQLError where error.isUniqueViolation {
            return true
          }
        }
      } catch let error as PostgreSQLError {
        last = error
      }
    }
    throw PostgreSQLStoreError.unknownOutcome(last)
  }
}
