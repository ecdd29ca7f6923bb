import CoreDataSQLiteBinding

/// The cancellation state of the query that runs on this thread, for all kinds of stores.
package enum RunningQuery {
  /// Whether the caller may cancel the query.
  package static var isWatched: Bool { QueryCancellation.isWatched }

  /// Whether the caller has cancelled the query.
  package static var isCancelled: Bool { QueryCancellation.isCancelled }

  /// Runs `body`, whose queries end once `isCancelled` is true.
  package static func ending<Result>(
    when isCancelled: @escaping @Sendable () -> Bool, _ body: () throws -> Result
  ) rethrows -> Result {
    try QueryCancellation.ending(when: isCancelled, body)
  }
}
