import Foundation
import Synchronization

/// Serves the main queue on the main thread until a task has finished.
final class MainLoop: Sendable {
  private let _isFinished = Mutex(false)

  /// Runs the main run loop until `finish` is called. To be called on the main thread.
  func run() {
    precondition(Thread.isMainThread)
    while !_isFinished.withLock({ $0 }) {
      _ = RunLoop.main.run(mode: .default, before: .distantFuture)
    }
  }

  /// Ends `run`, from any thread.
  func finish() {
    DispatchQueue.main.async { self._isFinished.withLock { $0 = true } }
  }
}
