import Foundation
import Synchronization

/// Counts the SQL statements of the stores that are opened with it among their options.
///
/// Statements that only frame others, such as BEGIN and PRAGMA, are not counted.
package final class StatementCounter: NSObject, Sendable {
  /// The store option whose value is the counter.
  package static let option = "CoreDataStatementCounter"

  private let _count = Atomic<Int>(0)

  package override init() {}

  /// The statements that have run.
  package var count: Int { _count.load(ordering: .relaxed) }

  /// Counts a statement by its text.
  package func add(_ statement: String) {
    let verb = statement.prefix { $0.isLetter }.uppercased()
    guard ["SELECT", "INSERT", "UPDATE", "DELETE", "WITH", "COPY"].contains(verb) else { return }
    _count.wrappingAdd(1, ordering: .relaxed)
  }
}
