import Foundation

/// A file that a run will write at its end, proven writable at its start; or standard output, as `-`.
package struct OutputFile: Sendable {
  /// Denotes standard input and standard output on a command line.
  package static let standardStream = "-"

  package let path: String
  private let _replaces: Bool
  private let _environment: ToolEnvironment

  /// Checks that the path is writable, without harming an existing file.
  ///
  /// - Parameter replaces: Whether an existing file may be replaced.
  /// - Throws: `ToolFailure` with `cannotCreateOutput` and the reason.
  package init(path: String, replaces: Bool, _ environment: ToolEnvironment) throws(ToolFailure) {
    self.path = path
    _replaces = replaces
    _environment = environment
    guard !isStandardOutput else { return }
    let existing = try ExistingOutput(path: path)
    // A FIFO is opened only once: its reader would take the end of the check for the end of the output.
    guard !existing.isSpecial else { return }
    _ = try FileSink(path: path, replaces: replaces)
  }

  /// Whether the text goes to standard output.
  package var isStandardOutput: Bool { path == Self.standardStream }

  /// Opens the file.
  ///
  /// - Throws: `ToolFailure` with `cannotCreateOutput`.
  package func sink() throws(ToolFailure) -> FileSink {
    isStandardOutput
      ? FileSink(standardOutputOf: _environment) : try FileSink(path: path, replaces: _replaces)
  }

  /// Writes the whole file.
  ///
  /// - Throws: `ToolFailure` with `cannotCreateOutput` or `closedPipe`.
  package func write(_ text: String) throws(ToolFailure) {
    let sink = try sink()
    try sink.write(text)
    try sink.finish()
  }
}

extension ParsedArguments {
  /// The value of `--output`, nil for standard output.
  package var outputPath: String? {
    text("output").flatMap { $0 == OutputFile.standardStream ? nil : $0 }
  }

  /// Whether outputs may replace files.
  package var replacesOutputs: Bool { has("force") }

  /// The file that `--output` names, or standard output.
  ///
  /// - Throws: `ToolFailure` with `cannotCreateOutput`.
  package func outputFile(_ environment: ToolEnvironment) throws(ToolFailure) -> OutputFile {
    try OutputFile(
      path: outputPath ?? OutputFile.standardStream, replaces: replacesOutputs, environment)
  }
}

extension OptionSyntax {
  /// `-o PATH`, `--output PATH`.
  package static func output(_ valueName: String, _ summary: String) -> OptionSyntax {
    .value("output", valueName, short: "o", summary)
  }

  /// `--force`, for commands with an output.
  package static let force = OptionSyntax.flag("force", "Replace what is already at the output's path.")
}
