import CoreData
import CoreDataPostgreSQLBinding
import Foundation

// Saves.

extension PostgreSQLStoreEngine {
  /// Times that a save is run again which lost against another one or met a new unique value.
  private static let _attempts = 4

  func save(_ changes: ChangeSet, along others: () throws -> Void) throws -> SaveOutcome {
    guard !isReadOnly else { throw PostgreSQLStoreError.readOnly(schema: address.schema) }
    if changes.isEmpty {
      try others()
      return SaveOutcome()
    }
    var isCareful = false
    var attempt = 1
    while true {
      do {
        return try withConnection("a save") { connection in
          do {
            return try _commit(changes, on: connection, isCareful: isCareful, along: others)
          } catch let error as PostgreSQLError where error.isUniqueViolation {
            throw Retry.carefully(error)
          } catch let error as PostgreSQLError where error.isSerializationFailure || error.isConnectionLost {
            // Nothing of it is committed: what is lost in COMMIT comes as another error.
            throw Retry.again(error)
          }
        }
      } catch let retry as Retry {
        guard attempt < Self._attempts else { throw PostgreSQLStoreError.server(retry.error) }
        attempt += 1
        if case .carefully = retry { isCareful = true }
        if retry.error.isConnectionLost { pool.dropIdle() }
        // Who lost lets the other one through.
        Thread.sleep(forTimeInterval: Double.random(in: 0.001...0.02) * Double(attempt))
      }
    }
  }

  /// Why a save is run again from its beginning.
  private enum Retry: Error {
    case carefully(PostgreSQLError)
    case again(PostgreSQLError)

    var error: PostgreSQLError {
      switch self {
      case .carefully(let error), .again(let error): error
      }
    }
  }

  private func _commit(
    _ changes: ChangeSet, on connection: PostgreSQLConnection, isCareful: Bool,
    along others: () throws -> Void
  ) throws -> SaveOutcome {
    let save = PostgreSQLSave(changes, engine: self, connection: connection)
    try save.acquireKeys()
    let entry = keepsHistory ? PostgreSQLHistoryEntry(self, on: connection, by: changes.origin) : nil
    return try committing(on: connection) {
      try save.run(isCareful: isCareful, recordingIn: entry)
      let transaction = try entry?.finish()
      let computed = try save.computedRows()
      try others()
      save.linkIDs()
      return SaveOutcome(computed: computed, transaction: transaction)
    }
  }

  /// Runs `body` as one transaction with a receipt.
  ///
  /// - Throws: What `body` throws, with nothing written; `PostgreSQLStoreError.connection` when the connection was lost and
  ///   nothing is written; `PostgreSQLStoreError.unknownOutcome` when the server cannot be asked.
  func committing<Result>(on connection: PostgreSQLConnection, _ body: () throws -> Result) throws -> Result {
    let receipt = PostgreSQLReceipt(schema: address.schema)
    let result: Result
    try connection.execute("BEGIN ISOLATION LEVEL READ COMMITTED")
    do {
      try receipt.write(on: connection)
      result = try body()
      if notifies { try notify(on: connection) }
    } catch {
      connection.rollBack()
      throw error
    }
    do {
      try connection.commit()
    } catch let error as PostgreSQLError where error.isConnectionLost {
      // Whether the server has committed is for the receipt to say.
      replica?.forget()
      guard try receipt.isThere(in: pool, after: error) else { throw PostgreSQLStoreError.connection(error) }
      return result
    }
    replica?.follow(connection)
    return result
  }
}
