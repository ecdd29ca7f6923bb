import Dispatch

/// Something that has happened on a connection, or to one that waits for a connection.
package struct PostgreSQLOccurrence: Sendable {
  package enum Kind: Sendable { case connect, acquire, statement, refused }

  package let kind: Kind
  /// How long it took.
  package let seconds: Double
  /// The rows that a statement has found or written; nil for anything else, and after an error.
  package var rowCount: Int?
  package var error: (any Error)?
  /// The statement, without values.
  package var sql: String?
  /// What a connection was acquired for.
  package var use: String?

  init(_ kind: Kind, since start: DispatchTime) {
    self.kind = kind
    seconds = Double(DispatchTime.now().uptimeNanoseconds - start.uptimeNanoseconds) / 1e9
  }
}

/// Called on the thread on which it happened.
package typealias PostgreSQLOccurrenceHandler = @Sendable (PostgreSQLOccurrence) -> Void

extension PostgreSQLConnection {
  /// Runs a statement and tells the listener, if there is one.
  func heard(_ sql: String, _ body: () throws -> PostgreSQLResult) throws -> PostgreSQLResult {
    guard let listener else { return try body() }
    let start = DispatchTime.now()
    do {
      let result = try body()
      var occurrence = PostgreSQLOccurrence(.statement, since: start)
      occurrence.sql = sql
      occurrence.rowCount = result.columnCount > 0 ? result.rowCount : result.affectedCount
      listener(occurrence)
      return result
    } catch {
      var occurrence = PostgreSQLOccurrence(.statement, since: start)
      occurrence.sql = sql
      occurrence.error = error
      listener(occurrence)
      throw error
    }
  }
}
