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
///
/// OpenSSL is asked to release nothing at the end, if the program has not used it before: it releases in a handler that the
/// first connection registers, which may be on its way when the process ends, and connections in use would miss it, too.
package enum PostgreSQLExit {
  private struct State {
    var count = 0
    var exiting: pthread_t?
  }

  private static let _state = Mutex(State())
  private static let _seconds = 2.0

  /// Initializes OpenSSL, where there is one, with OPENSSL_INIT_NO_ATEXIT. Only its first initialization counts.
  private static let _openSSL: Void = {
    typealias Initialization = @convention(c) (UInt64, OpaquePointer?) -> Int32
    guard let symbol = dlsym(nil, "OPENSSL_init_crypto") else { return }
    _ = unsafeBitCast(symbol, to: Initialization.self)(0x0008_0000, nil)
  }()

  /// Handlers run in reverse order. Kerberos cleans up after all of them; OpenSSL with a handler that the first connection
  /// registers, so that one more has to come after it.
  private static let _first: Void = { atexit { PostgreSQLExit._wait() } }()
  private static let _second: Void = { atexit { PostgreSQLExit._wait() } }()

  /// Makes the end of the process wait until `end()`. Any thread may call it, also for another one.
  ///
  /// - Returns: Whether the work may begin: not if another thread has begun to end the process.
  package static func begin() -> Bool {
    _ = _openSSL
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
