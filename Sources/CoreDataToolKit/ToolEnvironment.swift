import Foundation

/// The world a command runs in: its streams and variables. Tests bring their own.
package struct ToolEnvironment: Sendable {
  package let variables: [String: String]
  package let outputTerminal: Terminal
  package let errorTerminal: Terminal
  /// Writes to standard output.
  package let output: @Sendable (String) -> Void
  /// Writes to standard error.
  package let error: @Sendable (String) -> Void

  package init(
    variables: [String: String], outputTerminal: Terminal, errorTerminal: Terminal,
    output: @escaping @Sendable (String) -> Void, error: @escaping @Sendable (String) -> Void
  ) {
    self.variables = variables
    self.outputTerminal = outputTerminal
    self.errorTerminal = errorTerminal
    self.output = output
    self.error = error
  }

  /// The process's own.
  package static var process: ToolEnvironment {
    let variables = ProcessInfo.processInfo.environment
    return ToolEnvironment(
      variables: variables,
      outputTerminal: Terminal(descriptor: STDOUT_FILENO, environment: variables),
      errorTerminal: Terminal(descriptor: STDERR_FILENO, environment: variables),
      output: { _write($0, to: STDOUT_FILENO) }, error: { _write($0, to: STDERR_FILENO) })
  }

  /// Writes all of it; a reader that went away is not our failure.
  private static func _write(_ text: String, to descriptor: Int32) {
    let bytes = Array(text.utf8)
    var done = 0
    while done < bytes.count {
      let count = bytes.withUnsafeBytes {
        Foundation.write(descriptor, $0.baseAddress! + done, bytes.count - done)
      }
      if count < 0 && errno == EINTR { continue }
      guard count > 0 else { return }
      done += count
    }
  }
}
