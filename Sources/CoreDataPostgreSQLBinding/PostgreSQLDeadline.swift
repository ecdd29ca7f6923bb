import Dispatch

/// The moment by which a call to the server must have returned: it covers the wait for a connection, connecting,
/// and all statements and repetitions of the call.
package struct PostgreSQLDeadline: Sendable {
  /// The seconds that the call was given; nil without a limit.
  package let seconds: Double?
  private let _time: DispatchTime

  /// For work that takes as long as it takes.
  package static let never = PostgreSQLDeadline(seconds: nil, .distantFuture)

  private init(seconds: Double?, _ time: DispatchTime) {
    self.seconds = seconds
    _time = time
  }

  package init(after seconds: Double) { self.init(seconds: seconds, .now() + seconds) }

  package var isPast: Bool { seconds != nil && .now() >= _time }

  /// For the timeouts of semaphores.
  package var time: DispatchTime { _time }

  /// Milliseconds until then for `poll`: at most a minute, at least none.
  var pollTime: Int32 {
    let now = DispatchTime.now().uptimeNanoseconds
    if seconds == nil || _time.uptimeNanoseconds <= now { return seconds == nil ? 60_000 : 0 }
    return Int32(min(60_000, (_time.uptimeNanoseconds - now) / 1_000_000 + 1))
  }

  /// The earlier one of two.
  package func orEarlier(_ other: PostgreSQLDeadline) -> PostgreSQLDeadline {
    _time <= other._time ? self : other
  }

  /// The same limit, that much later: for what must be done once it has passed.
  package func extended(by seconds: Double) -> PostgreSQLDeadline {
    self.seconds == nil
      ? self : PostgreSQLDeadline(seconds: self.seconds, max(_time, .now()) + seconds)
  }
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
