import Dispatch

/// When a call to the server must return: at a moment, and before that once its caller cancels it. It covers the
/// wait for a connection, connecting, and all statements and repetitions of the call.
package struct PostgreSQLDeadline: Sendable {
  /// The seconds that the call was given; nil without a limit.
  package let seconds: Double?
  private let _time: DispatchTime
  private var _isCancelled: (@Sendable () -> Bool)?

  /// Seconds between two checks for cancellation.
  private static let _patience = 0.01

  /// For work that takes as long as it takes.
  package static let never = PostgreSQLDeadline(seconds: nil, .distantFuture)

  private init(seconds: Double?, _ time: DispatchTime) {
    self.seconds = seconds
    _time = time
  }

  package init(after seconds: Double) { self.init(seconds: seconds, .now() + seconds) }

  /// The same deadline for a call that its caller may cancel.
  ///
  /// - Parameter isCancelled: Asked while the call waits, on its thread.
  package func orWhen(_ isCancelled: @escaping @Sendable () -> Bool) -> PostgreSQLDeadline {
    var deadline = self
    deadline._isCancelled = isCancelled
    return deadline
  }

  package var isPast: Bool { seconds != nil && .now() >= _time }

  /// Whether the caller has cancelled the call.
  package var isCancelled: Bool { _isCancelled?() ?? false }

  /// For the timeouts of semaphores.
  package var time: DispatchTime { _time }

  /// Waits for a semaphore until the deadline, or an earlier moment.
  ///
  /// - Returns: Whether it was signalled.
  func waits(for semaphore: DispatchSemaphore, until moment: DispatchTime = .distantFuture) -> Bool {
    let end = min(_time, moment)
    guard let _isCancelled else { return semaphore.wait(timeout: end) == .success }
    while true {
      if semaphore.wait(timeout: min(end, .now() + Self._patience)) == .success { return true }
      if .now() >= end || _isCancelled() { return false }
    }
  }

  /// Milliseconds until then for `poll`: at most a minute, at least none. A call that may be cancelled asks often.
  var pollTime: Int32 {
    let now = DispatchTime.now().uptimeNanoseconds
    let most: UInt64 = _isCancelled == nil ? 60_000 : UInt64(Self._patience * 1000)
    if seconds == nil || _time.uptimeNanoseconds <= now { return seconds == nil ? Int32(most) : 0 }
    return Int32(min(most, (_time.uptimeNanoseconds - now) / 1_000_000 + 1))
  }

  /// The earlier one of two. Cancelling either cancels it.
  package func orEarlier(_ other: PostgreSQLDeadline) -> PostgreSQLDeadline {
    var earlier = _time <= other._time ? self : other
    earlier._isCancelled = _isCancelled ?? other._isCancelled
    return earlier
  }

  /// The same limit, that much later: for what must be done once it has passed, or the call was cancelled.
  package func extended(by seconds: Double) -> PostgreSQLDeadline {
    self.seconds == nil
      ? .never : PostgreSQLDeadline(seconds: self.seconds, max(_time, .now()) + seconds)
  }

  /// The same deadline for what must be done though the call was cancelled.
  var uncancelled: PostgreSQLDeadline { PostgreSQLDeadline(seconds: seconds, _time) }
}

/// A call that its caller has cancelled while it waited for a connection.
package struct PostgreSQLCancellationError: Error, Sendable, CustomStringConvertible {
  package var description: String { "the call was cancelled before it had a connection" }
}

/// A call whose deadline has passed.
package struct PostgreSQLDeadlineError: Error, Sendable, CustomStringConvertible {
  package let seconds: Double
  /// What was waited for, such as the text of a statement.
  package let what: String

  package init(seconds: Double, what: String) {
    self.seconds = seconds
    self.what = what
  }

  package var description: String {
    "it took longer than the \(seconds) s that it may (NSPostgreSQLDeadlineOption), in: "
      + (what.count > 2_000 ? what.prefix(2_000) + "…" : what)
  }
}
