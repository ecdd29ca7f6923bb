import Synchronization
import Testing

@testable import CoreDataToolKit

@Suite struct CommandForEachTests {
  private final class Recorder: Sendable {
    let output = Mutex("")
    let error = Mutex("")
  }

  /// Runs a command on these words that fails for those that start with "bad".
  private func _run(_ words: [String]) -> (code: ExitCode, output: String, error: String) {
    let recorder = Recorder()
    let terminal = Terminal(isInteractive: false, usesColor: false, width: 72)
    let environment = ToolEnvironment(
      variables: [:], outputTerminal: terminal, errorTerminal: terminal,
      output: { text in recorder.output.withLock { $0 += text } },
      error: { text in recorder.error.withLock { $0 += text } })
    let syntax = CommandSyntax(
      "go", summary: "Goes.", options: [.output("FILE", "Where."), .flag("json", "JSON.")],
      operands: [CommandSyntax.Operand("PLACE", "Where to.").repeated])
    let command = Command.forEach(syntax) { arguments, environment in
      let place = arguments.operands[0]
      if place.hasPrefix("bad") {
        throw ToolFailure(place == "bad" ? .badInput : .noInput, "'\(place)' is bad.")
      }
      try environment.output("gone to \(place)\n")
    }
    let code = CommandLineTool(name: "tool", summary: "", commands: [command]).run(
      ["go"] + words, in: environment)
    return (code, recorder.output.withLock { $0 }, recorder.error.withLock { $0 })
  }

  @Test func `one operand has no heading`() { #expect(_run(["a"]).output == "gone to a\n") }

  @Test func `several have their names before what each says`() {
    #expect(_run(["a", "b"]).output == "a:\ngone to a\n\nb:\ngone to b\n")
  }

  @Test func `JSON has no headings`() {
    #expect(_run(["a", "b", "--json"]).output == "gone to a\ngone to b\n")
  }

  @Test func `a failure does not stop the rest, and decides the code`() {
    let run = _run(["bad", "a", "bad2"])
    #expect(run.code == .badInput)
    #expect(run.output.contains("gone to a\n"))
    #expect(run.error == "error: 'bad' is bad.\nerror: 'bad2' is bad.\nerror: 2 of 3 failed; see above.\n")
  }

  @Test func `an output file goes with one operand`() {
    let run = _run(["a", "b", "--output", "c"])
    #expect(run.code == .usage && run.output.isEmpty)
  }
}
