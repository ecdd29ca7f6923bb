import CoreDataCSQLite

/// Ends statements that take too many steps, or whose caller does not want them any more.
package enum QueryCancellation {
  /// Asked now and then while a statement runs on the thread on which it is set; true ends the statement with
  /// an `isInterrupted` error.
  @TaskLocal package static var isCancelled: (@Sendable () -> Bool)?
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
  /// For files of which nobody knows yet what is in them: a view or a trigger may never come to an end.
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
        return QueryCancellation.isCancelled?() == true ? 1 : 0
      }, Unmanaged.passUnretained(steps).toOpaque())
  }
}
