/// The end of a run that failed: a sentence for users and a code for scripts.
package struct ToolFailure: Error, Sendable, Equatable, CustomStringConvertible {
  package let code: ExitCode
  /// One or more complete sentences: the request, the finding, and a remedy.
  package let message: String

  package init(_ code: ExitCode, _ message: String) {
    self.code = code
    self.message = message
  }

  /// The reader of standard output has closed it, as `head` does: not an error, and nothing left to do.
  package static let closedPipe = ToolFailure(.closedPipe, "")

  package var description: String { message }
}
