import Foundation

/// The environment in which a command runs: its streams and variables. Tests provide their own.
package struct ToolEnvironment: Sendable {
  package let variables: [String: String]
  package let outputTerminal: Terminal
  package let errorTerminal: Terminal
  /// Writes to standard output. Throws `ToolFailure`: `closedPipe` if its reader has closed it,
  /// `cannotCreateOutput` if, for instance, the disk is full.
  package let output: @Sendable (String) throws(ToolFailure) -> Void
  /// Writes bytes to standard output, which need not be text. Throws like `output`.
  package let outputBytes: @Sendable ([UInt8]) throws(ToolFailure) -> Void
  /// Writes to standard error, as far as it can be written to.
  package let error: @Sendable (String) -> Void

  /// - Parameter outputBytes: without it, bytes are written as UTF-8 text.
  package init(
    variables: [String: String], outputTerminal: Terminal, errorTerminal: Terminal,
    output: @escaping @Sendable (String) throws(ToolFailure) -> Void,
    outputBytes: (@Sendable ([UInt8]) throws(ToolFailure) -> Void)? = nil,
    error: @escaping @Sendable (String) -> Void
  ) {
    self.variables = variables
    self.outputTerminal = outputTerminal
    self.errorTerminal = errorTerminal
    self.output = output
    if let outputBytes {
      self.outputBytes = outputBytes
    } else {
      self.outputBytes = { bytes throws(ToolFailure) in try output(String(decoding: bytes, as: UTF8.self)) }
    }
    self.error = error
  }

  /// The process's own.
  package static var process: ToolEnvironment {
    let variables = ProcessInfo.processInfo.environment
    return ToolEnvironment(
      variables: variables,
      outputTerminal: Terminal(descriptor: STDOUT_FILENO, environment: variables),
      errorTerminal: Terminal(descriptor: STDERR_FILENO, environment: variables),
      output: { text throws(ToolFailure) in
        try DescriptorOutput.write(Array(text.utf8), to: STDOUT_FILENO, named: "standard output")
      },
      outputBytes: { bytes throws(ToolFailure) in
        try DescriptorOutput.write(bytes, to: STDOUT_FILENO, named: "standard output")
      },
      // A failure cannot be reported anywhere else.
      error: { try? DescriptorOutput.write(Array($0.utf8), to: STDERR_FILENO, named: "standard error") })
  }

  /// The same environment for a command whose result goes to standard output: reports go to standard error.
  package var reportingOnError: ToolEnvironment {
    let error = error
    return ToolEnvironment(
      variables: variables, outputTerminal: errorTerminal, errorTerminal: errorTerminal,
      output: { text throws(ToolFailure) in error(text) }, error: error)
  }
}
