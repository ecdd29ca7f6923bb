import CoreDataCSQLite

/// Interrupts statements that take too many steps or that their caller has cancelled.
package final class QueryCancellation: Sendable {
  // A class: optimized code of Swift 6.3 passes a task-local function on without its type, and crashes.
  @TaskLocal private static var _current: QueryCancellation?

  private let _isCancelled: @Sendable () -> Bool

  private init(_ isCancelled: @escaping @Sendable () -> Bool) { _isCancelled = isCancelled }

  /// Whether the caller of the statement on this thread has cancelled it.
  package static var isCancelled: Bool { _current?._isCancelled() ?? false }

  /// Whether statements on this thread can be cancelled.
  package static var isWatched: Bool { _current != nil }

  /// Runs `body`. Its statements fail with an `isInterrupted` error once `isCancelled` returns true; they
  /// poll it now and then while running.
  package static func ending<Result>(
    when isCancelled: @escaping @Sendable () -> Bool, _ body: () throws -> Result
  ) rethrows -> Result {
    try $_current.withValue(QueryCancellation(isCancelled), operation: body)
  }
}

extension Connection {
  /// Counts the steps of SQLite's virtual machine for one statement.
  final class StepCounter {
    /// Steps between two checks of the counter: a few milliseconds.
    static let stride = 100_000
    var strides = 0
    /// Strides after which the statement ends; nil for no bound.
    var limit: Int?
  }

  /// From now on interrupts every statement that takes far more steps than a file of this size can need.
  ///
  /// For untrusted files: a view or a trigger may never end.
  ///
  /// - Parameter byteCount: Size of the file.
  package func boundSteps(byteCount: Int64) {
    steps.limit = (50_000_000 + Int(clamping: min(byteCount, 1 << 50)) * 100) / StepCounter.stride
  }

  /// Removes the limit on the number of steps.
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
