import CoreDataPostgreSQLBinding
import Foundation

// Retries of whole transactions.

extension PostgreSQLStoreEngine {
  /// Maximum number of times that a transaction runs.
  private static let _attempts = 4

  /// Wraps an error after which a transaction is retried.
  private struct Repetition: Error {
    let error: PostgreSQLError
  }

  /// Returns whether a transaction that failed with this error before COMMIT may succeed when retried: it
  /// lost against another transaction, or lost its connection.
  static func isPassing(_ error: PostgreSQLError) -> Bool {
    error.isSerializationFailure || error.isConnectionLost
  }

  /// Runs a transaction, and retries it on another connection after transient errors.
  ///
  /// - Parameters:
  ///   - use: What the connection is used for, for the error of an exhausted pool.
  ///   - passes: Whether the transaction is retried after this error. A connection lost during COMMIT is not
  ///     passed in: it is thrown as `PostgreSQLStoreError`.
  /// - Throws: `PostgreSQLStoreError`, or errors of `body`.
  func repeating<Result>(
    _ use: String, after passes: (PostgreSQLError) -> Bool, _ body: (PostgreSQLConnection) throws -> Result
  ) throws -> Result {
    var attempt = 1
    while true {
      do {
        return try withConnection(use) { connection in
          do {
            return try body(connection)
          } catch let error as PostgreSQLError where passes(error) {
            throw Repetition(error: error)
          }
        }
      } catch let repetition as Repetition {
        guard attempt < Self._attempts else {
          return try PostgreSQLStoreError.translating { throw repetition.error }
        }
        attempt += 1
        if repetition.error.isConnectionLost { pool.dropIdle() }
        // Lets the transaction that won finish first.
        Thread.sleep(forTimeInterval: Double.random(in: 0.001...0.02) * Double(attempt))
      }
    }
  }
}
