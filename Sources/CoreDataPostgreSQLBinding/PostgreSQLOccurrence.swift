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

  init(_ kind: Kind, seconds: Double = 0, error: (any Error)? = nil) {
    self.kind = kind
    self.seconds = seconds
    self.error = error
  }
}

/// Called on the thread on which it happened.
package typealias PostgreSQLOccurrenceHandler = @Sendable (PostgreSQLOccurrence) -> Void

extension PostgreSQLOccurrence {
  /// Runs `body` and tells a listener, if there is one, how long it took and whether it failed.
  ///
  /// - Parameters:
  ///   - listener: Nil to run `body` alone.
  ///   - kind: What has happened by then, by the error of `body`.
  ///   - fill: Adds what is known besides; the result is nil after an error.
  static func timing<Result>(
    _ listener: PostgreSQLOccurrenceHandler?, _ kind: (((any Error)?) -> Kind),
    _ fill: (inout PostgreSQLOccurrence, Result?) -> Void, _ body: () throws -> Result
  ) throws -> Result {
    guard let listener else { return try body() }
    let start = DispatchTime.now()
    func tell(_ result: Result?, _ error: (any Error)?) {
      let seconds = Double(DispatchTime.now().uptimeNanoseconds - start.uptimeNanoseconds) / 1e9
      var occurrence = PostgreSQLOccurrence(kind(error), seconds: seconds, error: error)
      fill(&occurrence, result)
      listener(occurrence)
    }
    do {
      let result = try body()
      tell(result, nil)
      return result
    } catch {
      tell(nil, error)
      throw error
    }
  }
}

extension PostgreSQLConnection {
  /// Runs a statement and tells the listener, if there is one.
  func heard(_ sql: String, _ body: () throws -> PostgreSQLResult) throws -> PostgreSQLResult {
    try PostgreSQLOccurrence.timing(
      listener, { _ in .statement },
      { occurrence, result in
        occurrence.sql = sql
        occurrence.rowCount = result.map { $0.columnCount > 0 ? $0.rowCount : $0.affectedCount }
      }, body)
  }
}
