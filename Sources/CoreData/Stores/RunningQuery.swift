import CoreDataSQLiteBinding

/// What the caller of the query that runs on this thread wants, for stores of every kind.
package enum RunningQuery {
  /// Whether the caller may cancel the query.
  package static var isWatched: Bool { QueryCancellation.isWatched }

  /// Whether the caller does not want the query's result any more.
  package static var isCancelled: Bool { QueryCancellation.isCancelled }

  /// Runs `body`, whose queries end once `isCancelled` answers true.
  package static func ending<Result>(
    when isCancelled: @escaping @Sendable () -> Bool, _ body: () throws -> Result
  ) rethrows -> Result {
    try QueryCancellation.ending(when: isCancelled, body)
  }
}
