import Foundation
import TestSupport

/// Runs the built tool as a user would.
enum ToolProcess {
  typealias Outcome = ChildProcess.Outcome

  /// Built beside the tests, which depend on it.
  static var executable: String { ChildProcess.built("coredata") }

  /// Runs the tool with some arguments and waits until it ends; `whileRunning` may disturb it.
  static func run(
    _ words: [String], variables: [String: String] = [:], whileRunning: (Process) -> Void = { _ in }
  ) throws -> Outcome {
    let tool = try ChildProcess(executable, words, adding: variables)
    try tool.start()
    whileRunning(tool.process)
    return try tool.wait()
  }
}
