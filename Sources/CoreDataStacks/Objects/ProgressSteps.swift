import Foundation

/// The steps of one piece of work, told to a progress if there is one; it may be cancelled between them.
struct ProgressSteps: Sendable {
  private let _progress: Progress?

  /// Sets the progress up for so many steps, none of which is done.
  init(_ progress: Progress?, count: Int) {
    _progress = progress
    progress?.totalUnitCount = Int64(count)
    progress?.completedUnitCount = 0
  }

  /// Call before a step begins.
  ///
  /// - Throws: `CocoaError.userCancelled` if the progress was cancelled.
  func begin() throws {
    if _progress?.isCancelled == true { throw CocoaError(.userCancelled) }
  }

  /// Call when a step is done.
  func finish() { _progress?.completedUnitCount += 1 }

  /// Does a whole step on this thread. What reports to `Progress.current()` meanwhile, as migrations do,
  /// moves the step on bit by bit.
  ///
  /// - Throws: What the step throws; `CocoaError.userCancelled`.
  func run<Result>(_ step: () throws -> Result) throws -> Result {
    try begin()
    guard let _progress else { return try step() }
    _progress.becomeCurrent(withPendingUnitCount: 1)
    defer { _progress.resignCurrent() }
    return try step()
  }
}
