import Foundation
import Synchronization

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// Keeps the end of the process from pulling the libraries under libpq away from threads that use them.
///
/// `exit` releases what Kerberos and OpenSSL hold while other threads run on: one that is connecting then ends the process
/// with SIGABRT or SIGSEGV in place of its exit status. So the exit waits for those threads, for two seconds at most, and
/// no further one begins. Work that only tidies up counts as well; a program's own threads do not, as everywhere in C.
package enum PostgreSQLExit {
  private struct State {
    var count = 0
    var exiting: pthread_t?
  }

  private static let _state = Mutex(State())
  private static let _seconds = 2.0

  /// Handlers run in reverse order. Kerberos cleans up after all of them; OpenSSL with a handler that the first connection
  /// registers, so that one more has to come after it.
  private static let _first: Void = { atexit { PostgreSQLExit._wait() } }()
  private static let _second: Void = { atexit { PostgreSQLExit._wait() } }()

  /// Makes the end of the process wait until `end()`. Any thread may call it, also for another one.
  ///
  /// - Returns: Whether the work may begin: not if another thread has begun to end the process.
  package static func begin() -> Bool {
    _ = _first
    return _state.withLock { state in
      if let exiting = state.exiting, pthread_equal(exiting, pthread_self()) == 0 { return false }
      state.count += 1
      return true
    }
  }

  /// Balances a `begin()` that has returned true.
  package static func end() {
    _ = _second
    _state.withLock { $0.count -= 1 }
  }

  private static func _wait() {
    _state.withLock { $0.exiting = pthread_self() }
    let deadline = ContinuousClock.now + .seconds(_seconds)
    while _state.withLock({ $0.count }) > 0, ContinuousClock.now < deadline { usleep(1_000) }
  }
}
