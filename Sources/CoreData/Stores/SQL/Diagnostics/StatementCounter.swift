import Foundation
import Synchronization

/// Counts the SQL statements of the stores that are opened with it among their options.
///
/// On SQLite, statements that only frame others, such as BEGIN and PRAGMA, are not counted; on a server, each round
/// trip is one.
package final class StatementCounter: NSObject, Sendable {
  /// The store option whose value is the counter.
  package static let option = "CoreDataStatementCounter"

  private let _count = Atomic<Int>(0)

  package override init() {}

  /// The statements that have run.
  package var count: Int { _count.load(ordering: .relaxed) }

  /// Counts a statement, unless its text says that it only frames others.
  package func add(_ statement: String) {
    let verb = statement.prefix { $0.isLetter }.uppercased()
    if ["SELECT", "INSERT", "UPDATE", "DELETE", "WITH"].contains(verb) { add() }
  }

  /// Counts a round trip to a server.
  package func add() { _count.wrappingAdd(1, ordering: .relaxed) }
}
