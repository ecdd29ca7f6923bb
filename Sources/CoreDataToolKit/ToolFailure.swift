/// The end of a run that could not do what was asked: a sentence for people and a code for scripts.
package struct ToolFailure: Error, Sendable, Equatable, CustomStringConvertible {
  package let code: ExitCode
  /// One or more whole sentences: what was asked, what was found, what to do.
  package let message: String

  package init(_ code: ExitCode, _ message: String) {
    self.code = code
    self.message = message
  }

  /// The reader of standard output has gone, as `head` does: nothing is wrong, and there is nothing left to do.
  package static let closedPipe = ToolFailure(.closedPipe, "")

  package var description: String { message }
}
