import Dispatch
import Foundation

/// A point in time until which an operation is retried.
package struct Deadline: Sendable {
  private let _end: DispatchTime

  /// - Parameter seconds: Time from now; at most a million seconds.
  package init(seconds: Double) { _end = .now() + max(0, min(seconds, 1_000_000)) }

  /// Seconds until the deadline; 0 when it has passed.
  package var remaining: Double {
    let (now, end) = (DispatchTime.now().uptimeNanoseconds, _end.uptimeNanoseconds)
    return end > now ? Double(end - now) / 1e9 : 0
  }

  /// Retries `body` while it throws an error that `isTransient` accepts and the deadline has not passed, with
  /// delays that grow to 50 milliseconds.
  ///
  /// SQLite's own busy handler does not cover all of these errors: where waiting could deadlock, as when the
  /// journal mode changes, SQLite reports `SQLITE_BUSY` at once.
  package func retrying<Result>(
    while isTransient: (any Error) -> Bool = { ($0 as? any SQLiteFailure)?.underlying?.isTransient == true },
    _ body: () throws -> Result
  ) throws -> Result {
    var pause = 0.001
    while true {
      do {
        return try body()
      } catch  where isTransient(error) {
        let rest = remaining
        guard rest > 0 else { throw error }
        Thread.sleep(forTimeInterval: min(pause, rest))
        pause = min(pause * 2, 0.05)
      }
    }
  }
}
