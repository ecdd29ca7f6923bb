import CoreDataPostgreSQLBinding
import Dispatch
import Synchronization

/// Deletes the receipts of a store that are older than a day, while the program saves: the outcome of a save is
/// asked for within a minute.
///
/// After every 128 commits of a program, up to 256 receipts are deleted in the background: twice as many as it
/// has written. Their number therefore stays that of a day, even if programs that may not delete them save
/// as well. A role without the right to delete leaves them; `coredata postgres tidy` deletes them, too.
final class PostgreSQLReceiptPruning: Sendable {
  /// Commits between two deletions, and most receipts of one.
  static let interval = 128
  static let portion = 256
  /// The age of receipts that are deleted.
  static let age = "1 day"

  /// Begins anywhere, so that a program that is restarted often deletes as well.
  private let _commits = Atomic<Int>(.random(in: 0..<PostgreSQLReceiptPruning.interval))
  private let _isDenied = Atomic<Bool>(false)

  /// Has the next deletion come after a whole interval, for tests that count statements.
  func beginInterval() { _commits.store(0, ordering: .relaxed) }

  /// Counts a commit.
  func count(_ engine: PostgreSQLStoreEngine) {
    guard _commits.wrappingAdd(1, ordering: .relaxed).newValue % Self.interval == 0,
      !_isDenied.load(ordering: .relaxed)
    else { return }
    DispatchQueue.global(qos: .utility).async { [weak engine] in
      guard let engine else { return }
      do {
        guard PostgreSQLExit.begin() else { return }
        defer { PostgreSQLExit.end() }
        try engine.pool.withConnection("old receipts") { connection in
          _ = try Self.delete(on: connection, schema: engine.address.schema)
        }
      } catch let error as PostgreSQLError where error.isDenied {
        self._isDenied.store(true, ordering: .relaxed)
      } catch {
        // The next deletion finds them again.
      }
    }
  }

  /// Deletes a portion of the old receipts, the oldest first.
  ///
  /// - Returns: Their number.
  static func delete(on connection: PostgreSQLConnection, schema: String) throws -> Int {
    let table = "\(PostgreSQLNames.quoted(schema)).\"_receipt\""
    return try connection.run(
      """
      DELETE FROM \(table) WHERE "id" IN (SELECT "id" FROM \(table) \
      WHERE "written" < pg_catalog.now() - interval '\(age)' ORDER BY "written" LIMIT \(portion))
      """, isRepeated: false
    ).affectedCount
  }
}
