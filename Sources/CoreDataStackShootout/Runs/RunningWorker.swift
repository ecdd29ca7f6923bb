import Foundation
import Synchronization

/// The running child process, for the signal handler that must kill it: files that it writes later could not
/// be removed.
enum RunningWorker {
  private struct State {
    var id: pid_t?
    var isEnded = false
  }

  private static let _state = Mutex(State())

  /// Records the child that was started, or nil once it has exited. Does not return after `end` was called:
  /// the program is about to exit, and a failure of the child must no longer be reported.
  static func record(_ id: pid_t?) {
    let isEnded = _state.withLock { state in
      state.id = id
      return state.isEnded
    }
    guard isEnded else { return }
    if let id { kill(id, SIGKILL) }
    while true { sleep(1) }
  }

  /// Ends the child and waits until it has exited.
  static func end() {
    let id = _state.withLock { state in
      state.isEnded = true
      return state.id
    }
    guard let id else { return }
    kill(id, SIGKILL)
    // The waiting thread reaps it; after that no process has this ID.
    for _ in 0..<500 where kill(id, 0) == 0 { usleep(10_000) }
  }
}
