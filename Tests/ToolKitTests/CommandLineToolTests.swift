import Foundation
import Synchronization
import Testing

@testable import CoreDataToolKit

/// A command's environment that records its streams.
private final class Recorder: Sendable {
  let output = Mutex("")
  let error = Mutex("")

  var environment: ToolEnvironment {
    let terminal = Terminal(isInteractive: false, usesColor: false, width: 72)
    return ToolEnvironment(
      variables: [:], outputTerminal: terminal, errorTerminal: terminal,
      output: { text in self.output.withLock { $0 += text } },
      error: { text in self.error.withLock { $0 += text } })
  }
}

@Suite("Running a tool")
struct CommandLineToolTests {
  private struct Unforeseen: Error {}

  private func _tool(_ run: @escaping @Sendable (ParsedArguments, ToolEnvironment) throws -> Void)
    -> CommandLineTool
  {
    let syntax = CommandSyntax(
      "go", summary: "Goes.", discussion: ["It goes on."], options: [.value("far", "N", "How far it goes.")],
      exitCodes: [.success, .badInput])
    return CommandLineTool(
      name: "tool", version: "1.2", summary: "Does things.", commands: [Command(syntax, run: run)])
  }

  @Test func `A command that ends well ends with 0`() {
    let recorder = Recorder()
    let code = _tool { arguments, environment in try environment.output(arguments.text("far") ?? "") }
      .run(["go", "--far", "7"], in: recorder.environment)
    #expect(code == .success)
    #expect(recorder.output.withLock { $0 } == "7")
  }

  @Test func `A failure is a sentence on standard error and its code`() {
    let recorder = Recorder()
    let code = _tool { _, _ in throw ToolFailure(.badInput, "It is bad.") }.run(
      ["go"], in: recorder.environment)
    #expect(code == .badInput)
    #expect(recorder.error.withLock { $0 } == "error: It is bad.\n")
    #expect(recorder.output.withLock { $0.isEmpty })
  }

  @Test func `A wrong line ends with 64, an unforeseen error with 70`() {
    let recorder = Recorder()
    #expect(_tool { _, _ in }.run(["og"], in: recorder.environment).rawValue == 64)
    #expect(
      _tool { _, _ in throw UsageError.conflict("--a", "--b") }.run(["go"], in: recorder.environment)
        == .usage)
    #expect(_tool { _, _ in throw Unforeseen() }.run(["go"], in: recorder.environment).rawValue == 70)
  }

  @Test func `Help wraps options and exit codes at the terminal's width`() {
    let recorder = Recorder()
    #expect(_tool { _, _ in }.run(["go", "--help"], in: recorder.environment) == .success)
    let expected = """
      Goes.

      Usage: tool go [options]

      Options:
        --far N  How far it goes.
        --help   Show this help.

      It goes on.

      Exit codes:
        0   success
        65  an input exists but cannot be used

      """
    #expect(recorder.output.withLock { $0 } == expected)
  }

  @Test func `The tool's own help lists its commands`() {
    let recorder = Recorder()
    _ = _tool { _, _ in }.run(["--help"], in: recorder.environment)
    #expect(recorder.output.withLock { $0.contains("Commands:\n  go  Goes.\n") })
  }

  @Test func `The version is the tool's`() {
    let recorder = Recorder()
    #expect(_tool { _, _ in }.run(["--version"], in: recorder.environment) == .success)
    #expect(recorder.output.withLock { $0 } == "tool 1.2\n")
  }

  @Test func `Without a version of its own a tool has the package's, with the commit or none`() {
    let recorder = Recorder()
    #expect(
      CommandLineTool(name: "tool", summary: "", commands: []).run(["--version"], in: recorder.environment)
        == .success)
    let words = recorder.output.withLock { $0.split(separator: " ").map(String.init) }
    #expect(words.first == "tool" && words.dropFirst().first == PackageVersion.number)
    #expect(words.last == "(unreleased)\n" || words.last?.wholeMatch(of: /\([0-9a-f]+\)\n/) != nil)
  }

  @Test func `Long texts wrap at the width and keep their indent`() {
    let lines = HelpText(width: 40).wrapped(
      Array(repeating: "seven77", count: 10).joined(separator: " "), indent: 4)
    #expect(lines.count == 3)
    #expect(lines.allSatisfy { $0.hasPrefix("    s") && $0.count <= 40 })
  }

  @Test func `a line may be as long as the width`() {
    let help = HelpText(width: 40)
    let text = String(repeating: "a", count: 16) + " " + String(repeating: "b", count: 21)
    #expect(help.wrapped(text, indent: 2) == ["  " + text])
    #expect(help.wrapped(text, indent: 3).count == 2)
  }
}
