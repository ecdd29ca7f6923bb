import Foundation

extension Thread {
  /// A thread did not end in time: what never ends fails a test, and does not end the run.
  struct Unfinished: Error {}

  /// Waits until the thread has ended.
  func join(seconds: Double = 180) throws {
    let end = Date(timeIntervalSinceNow: seconds)
    while !isFinished {
      guard Date() < end else { throw Unfinished() }
      usleep(1_000)
    }
  }
}
