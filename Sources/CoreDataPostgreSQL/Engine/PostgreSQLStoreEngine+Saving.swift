import CoreData
import CoreDataPostgreSQLBinding
import Dispatch
import Foundation

// Saves.

extension PostgreSQLStoreEngine {
  func save(_ changes: ChangeSet, along others: () throws -> Void) throws -> SaveOutcome {
    guard !isReadOnly else { throw PostgreSQLStoreError.readOnly(schema: address.schema) }
    if changes.isEmpty {
      try others()
      return SaveOutcome()
    }
    return try _observed(changes) { try _save(changes, along: others) }
  }

  private func _save(_ changes: ChangeSet, along others: () throws -> Void) throws -> SaveOutcome {
    var isCareful = false
    return try repeating(
      "a save", until: deadline,
      after: { error in
        if error.isUniqueViolation { isCareful = true }
        return error.isUniqueViolation || Self.isPassing(error)
      }
    ) { connection in
      let outcome = try _commit(changes, on: connection, isCareful: isCareful, along: others)
      // To what an older version's save deletes, the server applies newer rules, and adds that to the same transaction.
      if let transaction = outcome.transaction, changes.deleted.isEmpty { follower?.skip(transaction) }
      return outcome
    }
  }

  /// Runs a save and tells the observer.
  private func _observed(_ changes: ChangeSet, _ body: () throws -> SaveOutcome) throws -> SaveOutcome {
    guard let observation else { return try body() }
    let start = DispatchTime.now()
    func tell(_ error: (any Error)?) {
      let seconds = Double(DispatchTime.now().uptimeNanoseconds - start.uptimeNanoseconds) / 1e9
      observation.tell(.save, seconds: seconds, error: error) { event in
        event.rowCount = changes.inserted.count + changes.updated.count + changes.deleted.count
        event.contextName = changes.origin?.contextName
        event.author = changes.origin?.author
      }
    }
    do {
      let outcome = try body()
      tell(nil)
      return outcome
    } catch {
      // The merge policy decides about a conflict, and saves again.
      if !(error is StoreConflictError) { tell(error) }
      throw error
    }
  }

  /// Runs a save as a transaction.
  ///
  /// A save that changes one row writes it without locking it first, in a round trip less: no other saver can wait for it in another
  /// order. If the row is in another version, the transaction is run again, and looks at it.
  private func _commit(
    _ changes: ChangeSet, on connection: PostgreSQLConnection, isCareful: Bool,
    along others: () throws -> Void
  ) throws -> SaveOutcome {
    if !isCareful, PostgreSQLSave.mayWriteUnlocked(changes) {
      do {
        return try _commit(changes, on: connection, isCareful: false, locksFirst: false, along: others)
      } catch let error as PostgreSQLError where error.isOfRowsNotWritten {}
    }
    return try _commit(changes, on: connection, isCareful: isCareful, locksFirst: true, along: others)
  }

  private func _commit(
    _ changes: ChangeSet, on connection: PostgreSQLConnection, isCareful: Bool, locksFirst: Bool,
    along others: () throws -> Void
  ) throws -> SaveOutcome {
    let save = PostgreSQLSave(changes, engine: self, connection: connection)
    try save.acquireKeys()
    let keepsHistory = keepsHistory && !changes.hasNoChanges
    let entry = keepsHistory ? PostgreSQLHistoryEntry(self, on: connection, by: changes.origin) : nil
    let endsWithCommit = save.mayEndWithCommit
    return try committing(on: connection, endsWithCommit: endsWithCommit) {
      try save.run(isCareful: isCareful, locksFirst: locksFirst, recordingIn: entry)
      // Before the history's counter is locked, for which all other saves wait.
      let overwritten = try (changes.work as? PostgreSQLSaveWork)?.run(in: save) ?? []
      let transaction = try entry?.finish()
      let computed = try save.computedRows()
      let followed = try save.followedRules()
      if !endsWithCommit { try connection.runPending() }
      try others()
      save.linkIDs()
      var outcome = SaveOutcome(computed: computed, followed: followed, transaction: transaction)
      outcome.overwritten = overwritten
      outcome.overtaken = save.overtaken
      return outcome
    }
  }

  /// Runs `body` as one transaction with a receipt.
  ///
  /// - Parameter endsWithCommit: Whether statements that `body` leaves to be sent may be sent with COMMIT, in one round trip.
  /// - Throws: Errors of `body`, with nothing written; `PostgreSQLStoreError.connection` if the connection
  ///   was lost and nothing was written; `PostgreSQLStoreError.unknownOutcome` if the server cannot be
  ///   queried.
  func committing<Result>(
    on connection: PostgreSQLConnection, endsWithCommit: Bool = false, _ body: () throws -> Result
  ) throws -> Result {
    let receipt = PostgreSQLReceipt(epoch)
    let result: Result
    do {
      try connection.begin()
      timelines.beginWriting(connection)
      try receipt.write(on: connection)
      result = try body()
      if notifies { try notify(on: connection) }
    } catch {
      connection.companions = nil
      connection.rollBack()
      try _checkRefusal(error, on: connection)
      // A retry that read the replica could meet the same conflict with rows that it has not replayed yet.
      if let error = error as? StoreConflictError {
        replica?.forget()
        observation?.tell(.conflict) { $0.rowCount = error.conflicts.count }
      }
      throw error
    }
    let sendsMore = endsWithCommit && connection.hasPending
    do {
      let hasWarned =
        if let replica {
          try replica.following(connection) { try connection.commit() }
        } else {
          try connection.commit(sendingPending: sendsMore)
        }
      if hasWarned { try receipt.confirm(on: connection) }
    } catch let error as PostgreSQLError where error.isConnectionLost {
      try _requireCommit(of: receipt, after: error, on: connection) {
        // What was lost with COMMIT may be repeated as what is lost before it.
        if sendsMore { throw error }
        throw PostgreSQLStoreError.connection(error)
      }
    } catch let error as PostgreSQLError {
      connection.rollBack()
      try _checkRefusal(error, on: connection)
      throw error
    } catch let error as PostgreSQLDeadlineError {
      let loss = PostgreSQLError(state: nil, message: "\(error)")
      try _requireCommit(of: receipt, after: loss, on: connection) { throw error }
    }
    receipts.count(self)
    return result
  }

  /// Throws the error of a program whose version of the model may no longer write, if that is what the server has refused.
  private func _checkRefusal(_ error: any Error, on connection: PostgreSQLConnection) throws {
    guard let error = error as? PostgreSQLError else { return }
    if PostgreSQLReceipt.isRefusal(error) { throw try epoch.outdated(on: connection) }
    // A statement that has to be prepared first fails before the receipt is refused.
    if error.isMissingColumn, let outdated = try epoch.outdated(for: \.writesFrom, on: connection) {
      throw outdated
    }
  }

  /// Seconds that finding out about a COMMIT may take beyond the deadline.
  private static let _afterthought = 3.0

  /// Finds out, by its receipt, whether a transaction was committed whose connection was lost meanwhile.
  ///
  /// - Parameter fail: Throws the error of a transaction that was not.
  /// - Throws: Errors of `fail`; `PostgreSQLStoreError.unknownOutcome`.
  private func _requireCommit(
    of receipt: PostgreSQLReceipt, after loss: PostgreSQLError, on connection: PostgreSQLConnection,
    orElse fail: () throws -> Void
  ) throws {
    replica?.forget()
    let deadline = connection.deadline.extended(by: Self._afterthought)
    let isThere = try receipt.isThere(in: pool, on: connection, after: loss, until: deadline)
    if !isThere { try fail() }
  }
}
