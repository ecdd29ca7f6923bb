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
  /// lost against another transaction, lost its connection, or met a server that has become a replica.
  static func isPassing(_ error: PostgreSQLError) -> Bool {
    error.isSerializationFailure || error.isConnectionLost || error.isDemoted
  }

  /// Runs a transaction, and retries it on another connection after transient errors.
  ///
  /// - Parameters:
  ///   - use: What the connection is used for, for the error of an exhausted pool.
  ///   - deadline: When all of them must be over; none for work that takes as long as it takes.
  ///   - passes: Whether the transaction is retried after this error. A connection lost during COMMIT is not
  ///     passed in: it is thrown as `PostgreSQLStoreError`.
  /// - Throws: `PostgreSQLStoreError`, or errors of `body`.
  func repeating<Result>(
    _ use: String, until deadline: PostgreSQLDeadline = .never, after passes: (PostgreSQLError) -> Bool,
    _ body: (PostgreSQLConnection) throws -> Result
  ) throws -> Result {
    var attempt = 1
    var losses = 0
    while true {
      do {
        return try withConnection(use, until: deadline) { connection in
          do {
            return try body(connection)
          } catch let error as PostgreSQLError where passes(error) {
            // Another connection may lead to the server that has taken over.
            if error.isDemoted { connection.giveUp() }
            throw Repetition(error: error)
          }
        }
      } catch let repetition as Repetition {
        let isLost = repetition.error.isConnectionLost
        // The first connection may have been lost while it was idle. If the next one is lost as well, then perhaps
        // because of the work: a save that ends its session, or the server, is not repeated for ever.
        guard attempt < Self._attempts, !isLost || losses == 0, !deadline.isPast else {
          return try PostgreSQLStoreError.translating { throw repetition.error }
        }
        attempt += 1
        observation?.tell(.retry, error: repetition.error) { $0.use = use }
        if isLost { losses += 1 }
        if isLost || repetition.error.isDemoted { pool.dropIdle() }
        // Lets the transaction that won finish first.
        Thread.sleep(forTimeInterval: Double.random(in: 0.001...0.02) * Double(attempt))
      }
    }
  }
}
