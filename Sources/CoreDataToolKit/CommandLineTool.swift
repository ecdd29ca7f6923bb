/// A command: its syntax and implementation.
package struct Command: Sendable {
  package let syntax: CommandSyntax
  package let subcommands: [Command]
  /// Runs the command; throws `UsageError` or `ToolFailure` if it fails.
  package let run: @Sendable (ParsedArguments, ToolEnvironment) throws -> Void

  package init(
    _ syntax: CommandSyntax, run: @escaping @Sendable (ParsedArguments, ToolEnvironment) throws -> Void
  ) {
    self.syntax = syntax
    self.run = run
    subcommands = []
  }

  /// A command that only groups others.
  package init(
    _ name: String, summary: String, discussion: [String] = [], examples: [String] = [],
    subcommands: [Command]
  ) {
    syntax = CommandSyntax(
      name, summary: summary, discussion: discussion, examples: examples,
      subcommands: subcommands.map(\.syntax))
    // The scanner requires one of the subcommands.
    run = { _, _ in }
    self.subcommands = subcommands
  }
}

/// A tool with commands: scans the line, runs the command, turns failures into a sentence and an exit code.
package struct CommandLineTool: Sendable {
  private let _syntax: CommandSyntax
  private let _version: String
  private let _commands: [Command]

  /// A tool with these commands.
  package init(
    name: String, version: String = PackageVersion.text, summary: String, examples: [String] = [],
    commands: [Command]
  ) {
    _syntax = CommandSyntax(
      name, summary: summary, discussion: ["'\(name) COMMAND --help' says more about a command."],
      examples: examples, subcommands: commands.map(\.syntax))
    _version = version
    _commands = commands
  }

  /// `coredata` with these commands.
  package static func coredata(_ commands: [Command]) -> CommandLineTool {
    CommandLineTool(
      name: "coredata", summary: "Core Data on the command line.",
      examples: [
        "coredata store info Books.sqlite", "coredata model show Books.xcdatamodeld", "coredata shootout",
      ],
      commands: commands
    ).withCompletion().withManual()
  }

  /// The same tool with a command that writes completion scripts for its other commands.
  package func withCompletion() -> CommandLineTool { _adding(.completion(of: _syntax)) }

  /// The same tool with a command that writes a manual page.
  package func withManual() -> CommandLineTool { _adding(.manual(of: _syntax, version: _version)) }

  private func _adding(_ command: Command) -> CommandLineTool {
    CommandLineTool(
      name: _syntax.name, version: _version, summary: _syntax.summary, examples: _syntax.examples,
      commands: _commands + [command])
  }

  /// Runs the command given by the words after the tool's name.
  package func run(_ words: [String], in environment: ToolEnvironment) -> ExitCode {
    let scanner = ArgumentScanner(_syntax)
    do {
      switch try scanner.scan(words) {
      case .version:
        try environment.output("\(_syntax.name) \(_version)\n")
      case .help(let path):
        let help = HelpText(width: min(100, environment.outputTerminal.width))
        try environment.output(help.text(for: scanner.syntax(at: path), path: path))
      case .run(let path, let arguments):
        try _command(at: path)?.run(arguments, environment)
      }
      return .success
    } catch let error as UsageError {
      return _fail(.usage, error.description, environment)
    } catch let failure as ToolFailure {
      return _fail(failure.code, failure.message, environment)
    } catch {
      return _fail(.internalError, "Something unforeseen went wrong: \(error)", environment)
    }
  }

  private func _command(at path: [String]) -> Command? {
    var (found, candidates): (Command?, [Command]) = (nil, _commands)
    for name in path.dropFirst() {
      found = candidates.first { $0.syntax.name == name }
      candidates = found?.subcommands ?? []
    }
    return found
  }

  private func _fail(_ code: ExitCode, _ message: String, _ environment: ToolEnvironment) -> ExitCode {
    guard code != .closedPipe else { return code }
    let label = TextStyle.red.applied(to: "error:", usesColor: environment.errorTerminal.usesColor)
    environment.error("\(label) \(message)\n")
    return code
  }
}
