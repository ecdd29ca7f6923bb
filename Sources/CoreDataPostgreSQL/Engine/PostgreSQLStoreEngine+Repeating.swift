import CoreDataPostgreSQLBinding
import Foundation

// Transactions that are run again from their beginning.

extension PostgreSQLStoreEngine {
  /// Most times that a transaction is run.
  private static let _attempts = 4

  /// An error of a transaction that is to be run again.
  private struct Repetition: Error {
    let error: PostgreSQLError
  }

  /// Whether a transaction that failed with this error, short of COMMIT, may succeed when it is run again: it lost against
  /// another one, or its connection was lost.
  static func isPassing(_ error: PostgreSQLError) -> Bool {
    error.isSerializationFailure || error.isConnectionLost
  }

  /// Runs a transaction with a connection, and again with another one after errors that pass.
  ///
  /// - Parameters:
  ///   - use: What the connection is used for, as an exhausted pool's error says it.
  ///   - passes: Whether the transaction is run again after this error. A connection that is lost in COMMIT is no such
  ///     error: it comes as `PostgreSQLStoreError`.
  /// - Throws: `PostgreSQLStoreError`, or what `body` throws.
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
        // The transaction that won goes first.
        Thread.sleep(forTimeInterval: Double.random(in: 0.001...0.02) * Double(attempt))
      }
    }
  }
}
