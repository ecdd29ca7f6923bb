import Foundation

/// The steps of a piece of work, reported to an optional progress; cancellable between steps.
struct ProgressSteps: Sendable {
  private let _progress: Progress?

  /// Sets up the progress with a number of steps, none completed.
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

  /// Call after each step.
  func finish() { _progress?.completedUnitCount += 1 }

  /// Runs a whole step on this thread. Work that reports to `Progress.current()`, such as migrations,
  /// advances the step gradually.
  ///
  /// - Throws: Errors of the step; `CocoaError.userCancelled`.
  func run<Result>(_ step: () throws -> Result) throws -> Result {
    try begin()
    guard let _progress else { return try step() }
    _progress.becomeCurrent(withPendingUnitCount: 1)
    defer { _progress.resignCurrent() }
    return try step()
  }
}
