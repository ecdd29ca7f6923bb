import Foundation

/// Serves the main queue on the main thread until a task has finished.
package final class MainLoop: Sendable {
  private let _isFinished = Protected(false)

  package init() {}

  /// Runs the main run loop until `finish` is called. To be called on the main thread.
  package func run() {
    precondition(Thread.isMainThread)
    while !_isFinished.withLock({ $0 }) {
      _ = RunLoop.main.run(mode: .default, before: .distantFuture)
    }
  }

  /// Ends `run`, from any thread.
  package func finish() {
    DispatchQueue.main.async { self._isFinished.withLock { $0 = true } }
  }
}
