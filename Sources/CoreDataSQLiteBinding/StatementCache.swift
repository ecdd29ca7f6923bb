import CoreDataCSQLite

/// Prepared statements of one connection, keyed by the number of their text; a full cache evicts the least
/// recently used one.
///
/// Statements are lent and returned. If a statement is lent already, because a caller further up the stack is
/// processing its rows, a second one with the same text is lent.
package final class StatementCache {
  @exclusivity(unchecked) private var _statements: [Int: Statement] = [:]
  @exclusivity(unchecked) private var _clock: UInt64 = 0
  private let _capacity: Int
  private let _connection: OpaquePointer

  init(connection: OpaquePointer, capacity: Int) {
    _connection = connection
    _capacity = max(1, capacity)
  }

  /// Number of cached statements.
  package var count: Int { _statements.count }

  /// Lends the statement for `sql`, prepared if necessary. Return it with `giveBack`.
  package func lend(_ sql: SQLText) throws -> Statement {
    _clock &+= 1
    if let statement = _statements[sql.id] {
      guard statement.isLent else {
        statement.isLent = true
        statement.lastLoan = _clock
        return statement
      }
      return try Statement(sql.text, id: sql.id, on: _connection)
    }
    if _statements.count >= _capacity { _evict() }
    let statement = try Statement(sql.text, id: sql.id, on: _connection)
    statement.isLent = true
    statement.lastLoan = _clock
    _statements[sql.id] = statement
    return statement
  }

  /// Takes a lent statement back and resets it.
  package func giveBack(_ statement: Statement) {
    statement.reset()
    statement.isLent = false
  }

  /// Removes all statements; lent ones live until they are released.
  package func removeAll() { _statements.removeAll() }

  private func _evict() {
    // A scan, but only when a statement is being prepared anyway, which costs far more.
    let oldest = _statements.values.filter { !$0.isLent }.min { $0.lastLoan < $1.lastLoan }
    if let oldest { _statements[oldest.id] = nil }
  }
}
