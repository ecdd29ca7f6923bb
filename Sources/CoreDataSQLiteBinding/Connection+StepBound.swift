import CoreDataCSQLite

/// Ends statements that take too many steps, or whose caller does not want them any more.
package final class QueryCancellation: Sendable {
  // A class: optimized code of Swift 6.3 passes a task-local function on without its type, and crashes.
  @TaskLocal private static var _current: QueryCancellation?

  private let _isCancelled: @Sendable () -> Bool

  private init(_ isCancelled: @escaping @Sendable () -> Bool) { _isCancelled = isCancelled }

  /// Whether the caller of the statement that runs on this thread does not want it any more.
  package static var isCancelled: Bool { _current?._isCancelled() ?? false }

  /// Whether somebody may cancel what runs on this thread.
  package static var isWatched: Bool { _current != nil }

  /// Runs `body`, whose statements end with an `isInterrupted` error once `isCancelled` answers true. It is asked
  /// now and then while a statement runs.
  package static func ending<Result>(
    when isCancelled: @escaping @Sendable () -> Bool, _ body: () throws -> Result
  ) rethrows -> Result {
    try $_current.withValue(QueryCancellation(isCancelled), operation: body)
  }
}

extension Connection {
  /// Counts the steps of SQLite's virtual machine for one statement.
  final class StepCounter {
    /// Steps between two looks at the counter: some milliseconds.
    static let stride = 100_000
    var strides = 0
    /// Strides after which the statement ends; nil for no bound.
    var limit: Int?
  }

  /// Ends every statement from now on that takes far more steps than a file of this size can need.
  ///
  /// For untrusted files: a view or a trigger may never end.
  ///
  /// - Parameter byteCount: Size of the file.
  package func boundSteps(byteCount: Int64) {
    steps.limit = (50_000_000 + Int(clamping: min(byteCount, 1 << 50)) * 100) / StepCounter.stride
  }

  /// Lets statements take as many steps as they need.
  package func liftStepBound() { steps.limit = nil }

  /// Whether statements are bound.
  package var hasStepBound: Bool { steps.limit != nil }

  func watchSteps() {
    sqlite3_progress_handler(
      handle, Int32(StepCounter.stride),
      { context in
        guard let context else { return 0 }
        let steps = Unmanaged<StepCounter>.fromOpaque(context).takeUnretainedValue()
        steps.strides += 1
        if let limit = steps.limit, steps.strides > limit { return 1 }
        return QueryCancellation.isCancelled ? 1 : 0
      }, Unmanaged.passUnretained(steps).toOpaque())
  }
}
