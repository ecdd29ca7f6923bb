import Foundation

/// Signal handling of the tool: terminating signals remove unfinished outputs first, and signals for failed
/// writes leave the report to the write's error.
package enum Interruption {
  /// The pipe's writing end, for the signal handler, which may call little more than `write`.
  nonisolated(unsafe) private static var _wakeDescriptor: Int32 = -1
  // Unsafe: set once, before the handlers that read it are installed.

  /// Installs the process's handlers. Call once, before any output is opened.
  ///
  /// Handlers rather than `SIG_IGN`: a child process would inherit that, and ignore ctrl-C.
  package static func installHandlers() {
    // The write fails with EPIPE or EFBIG instead, and the run ends after its clean-up.
    for number in [SIGPIPE, SIGXFSZ] { signal(number) { _ in } }
    var ends: [Int32] = [-1, -1]
    guard pipe(&ends) == 0 else { return }
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    _wakeDescriptor = ends[1]
    let reader = ends[0]
    let thread = Thread { _waitForSignal(reader) }
    thread.name = "signals"
    thread.start()
    var terminating = sigset_t()
    sigemptyset(&terminating)
    for number in [SIGINT, SIGTERM, SIGHUP] {
      sigaddset(&terminating, number)
      let previous = signal(number) { number in
        let savedError = errno
        var byte = UInt8(truncatingIfNeeded: number)
        _ = write(Interruption._wakeDescriptor, &byte, 1)
        errno = savedError
      }
      // The parent process, such as `nohup`, ignores this signal: keep ignoring it.
      if unsafeBitCast(previous, to: Int.self) == unsafeBitCast(SIG_IGN, to: Int.self) {
        signal(number, SIG_IGN)
      }
    }
    // A parent that starts processes from a thread of Dispatch, where signals are blocked, passes that on.
    pthread_sigmask(SIG_UNBLOCK, &terminating, nil)
  }

  private static func _waitForSignal(_ reader: Int32) {
    var byte: UInt8 = 0
    while read(reader, &byte, 1) != 1 { if errno != EINTR { return } }
    let number = Int32(byte)
    UnfinishedPaths.shared.removeAll {
      // Raises the signal again with its default action, so that the shell sees the process killed by it.
      signal(number, SIG_DFL)
      kill(getpid(), number)
      while true { pause() }
    }
  }
}
