import CoreDataPostgreSQLBinding
import Foundation

/// A row that every save writes in its transaction, to determine whether a save was committed whose
/// connection was lost.
///
/// Transaction numbers cannot show that: after a crash, the server reuses numbers that were never flushed.
struct PostgreSQLReceipt {
  private let _id = UUID()
  /// Identifies the row that the check of the outcome writes beside the save's.
  private let _checkID = UUID()
  private let _table: String
  private let _epoch: PostgreSQLEpoch

  init(_ epoch: PostgreSQLEpoch) {
    _epoch = epoch
    _table = "\(PostgreSQLNames.quoted(epoch.schema)).\"_receipt\""
  }

  private func _parameters(_ id: UUID, _ checkID: UUID? = nil) -> PostgreSQLParameters {
    var parameters = PostgreSQLParameters()
    withUnsafeBytes(of: id.uuid) { parameters.add(uuid: $0) }
    parameters.add(_epoch.number)
    if let checkID { withUnsafeBytes(of: checkID.uuid) { parameters.add(uuid: $0) } }
    return parameters
  }

  private func _insertion(_ epoch: String) -> String {
    "INSERT INTO \(_table) (\"id\", \"epoch\") VALUES ($1::uuid, \(epoch))"
  }

  /// Writes the row along with the next statement.
  ///
  /// Its epoch is NULL, which the server refuses along with the save, once the store no longer takes writes of
  /// this program's version of the model; see `isRefusal(_:)`. Reading the epoch holds back a migration that ends
  /// that until the save has committed.
  func write(on connection: PostgreSQLConnection) throws {
    try connection.runLater(_insertion(_epoch.checked("$2")), _parameters(_id), isObserved: false)
  }

  /// Whether the server has refused a row because of its epoch.
  static func isRefusal(_ error: PostgreSQLError) -> Bool {
    error.state == "23502" && error.table == "_receipt"
  }

  /// Returns whether the save was committed.
  ///
  /// Writes the same row again, with one of its own. This waits for the save's session while it lives; then the row is
  /// refused if the save was committed, and if it is accepted, the save can no longer commit.
  ///
  /// A check can be lost as the save was, after it was committed. The next one is then refused because of it, which its own
  /// row tells from the save's: that is there only if a check has written both.
  ///
  /// Asks on a connection of its own. The pool's may all be lent to saves that ask the same, each of which
  /// would wait for the others.
  ///
  /// - Parameters:
  ///   - lost: The save's connection. Its session is ended if it lives on, unless a pooler has it.
  ///   - deadline: When the answer must be there.
  /// - Throws: `PostgreSQLStoreError.unknownOutcome` if the server cannot be queried.
  func isThere(
    in pool: PostgreSQLPool, on lost: PostgreSQLConnection, after loss: PostgreSQLError,
    until deadline: PostgreSQLDeadline
  ) throws -> Bool {
    let ending = pool.endSession(of: lost, after: Self._patience)
    defer { ending?.stop() }
    var last = loss
    for attempt in 0..<20 {
      if attempt > 0 { Thread.sleep(forTimeInterval: min(2, 0.05 * Double(1 << min(attempt, 6)))) }
      if deadline.isPast { break }
      do {
        let connection = try pool.replacingLost(until: deadline)
        do {
          // Without the check: it would refuse the row whether or not the save was committed.
          try connection.run(
            _insertion("$2::int8") + ", ($3::uuid, $2::int8)", _parameters(_id, _checkID), isRepeated: false)
          // Not committed, and this row now prevents a later commit.
          return false
        } catch let error as PostgreSQLError where error.isUniqueViolation {
          if try _wasChecked(on: connection) { return false }
          try confirm(on: connection)
          return true
        }
      } catch let error as PostgreSQLError {
        last = error
      } catch is PostgreSQLDeadlineError {
        break
      }
    }
    throw PostgreSQLStoreError.unknownOutcome(last)
  }

  /// Returns whether an earlier check has written the rows of a receipt, by writing its own once more.
  private func _wasChecked(on connection: PostgreSQLConnection) throws -> Bool {
    do {
      try connection.transaction {
        try connection.run(_insertion("$2::int8"), _parameters(_checkID), isRepeated: false)
        throw Unchecked()
      }
    } catch let error as PostgreSQLError where error.isUniqueViolation {
      return true
    } catch is Unchecked {}
    return false
  }

  /// Rolls back.
  private struct Unchecked: Error {}

  /// Seconds that the save's session has to end by itself.
  private static let _patience = 0.5

  /// Makes sure that what was committed is on the replicas for which a COMMIT waits.
  ///
  /// A session that ends, or is cancelled, while it waits leaves a transaction that is visible, though no
  /// replica may have it. A later commit waits for the same replicas, and arrives there after all earlier ones.
  ///
  /// - Throws: `PostgreSQLStoreError.unknownOutcome` if this commit does not wait either; errors of the server.
  func confirm(on connection: PostgreSQLConnection) throws {
    let warnings = connection.warningCount
    try connection.run(_insertion("$2::int8"), _parameters(UUID()), isRepeated: false)
    guard connection.warningCount == warnings else {
      throw PostgreSQLStoreError.unknownOutcome(
        PostgreSQLError(state: "01000", message: "it did not wait for its synchronous replica"))
    }
  }
}
