import Foundation
import TestSupport
import Testing

@testable import CoreDataToolKit

@Suite("Completing command lines")
struct CompletionTests {
  private enum Form: String, CaseIterable { case dot, svg }

  private static let syntax = CommandSyntax(
    "tool", summary: "Does it's things.",
    subcommands: [
      CommandSyntax(
        "model", summary: "Models.",
        subcommands: [
          CommandSyntax(
            "draw", summary: "Draw: one [model].",
            options: [
              .choice("format", "FORM", Form.self, "How."), .value("output", "FILE", "Where."),
              .flag("json", "As JSON."),
              .value("count", "N", "How many."),
            ], operands: [CommandSyntax.Operand("MODEL", "What.")]),
          CommandSyntax(
            "list", summary: "List.",
            options: [OptionSyntax.value("sort", "KEYS", "Order.").completed(with: .properties)],
            operands: [
              CommandSyntax.Operand("STORE", "Where."),
              CommandSyntax.Operand("ENTITY", names: .entities, "Of what."),
            ]),
        ]),
      CommandSyntax(
        "shell", summary: "Shells.",
        operands: [CommandSyntax.Operand("SHELL", choices: ["a", "b"], "Which.")]),
    ])

  private static let bash = ["/bin/bash", "/usr/bin/bash"].first {
    FileManager.default.isExecutableFile(atPath: $0)
  }

  /// Returns what bash would offer for the last word.
  private func offers(_ words: String...) throws -> [String] {
    let script = CompletionScript(Self.syntax).text(for: .bash)
    let line = words.map { "'\($0)'" }.joined(separator: " ")
    // Outside of a completion, `compopt` has no effect.
    let program =
      script + "compopt() { :; }\nCOMP_WORDS=(\(line)); COMP_CWORD=\(words.count - 1); _tool\n"
      + "printf '%s\\n' \"${COMPREPLY[@]}\"\n"
    let outcome = try ChildProcess.run(Self.bash!, ["--norc", "-c", program])
    return outcome.output.split(separator: "\n").map(String.init)
  }

  @Test(.enabled(if: bash != nil)) func `bash offers commands, options and values`() throws {
    #expect(try offers("tool", "") == ["model", "shell"])
    #expect(try offers("tool", "mo") == ["model"])
    #expect(try offers("tool", "model", "") == ["draw", "list"])
    #expect(
      try offers("tool", "model", "draw", "--") == ["--format", "--output", "--json", "--count", "--help"])
    #expect(try offers("tool", "model", "draw", "--format", "") == ["dot", "svg"])
    #expect(try offers("tool", "model", "draw", "--format", "s") == ["svg"])
    #expect(try offers("tool", "model", "draw", "--count", "") == [])
    #expect(try offers("tool", "model", "draw", "--json", "/bi").contains("/bin"))
    #expect(try offers("tool", "shell", "") == ["a", "b"])
    #expect(try offers("tool", "--v") == ["--version"])
  }

  @Test(.enabled(if: bash != nil)) func `bash offers the names in a store`() throws {
    let directory = FileManager.default.temporaryDirectory.appendingPathComponent(
      "names-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: directory) }
    // What the tool would answer: the entities, or the properties of one.
    let tool = directory.appendingPathComponent("tool").path
    let file = directory.appendingPathComponent("a store").path
    try
      "#!/bin/sh\n[ \"$1 $2\" = 'store names' ] && [ -f \"$3\" ] || exit 1\n[ \"$4\" = Book ] && printf 'pages\\ntitle\\n' || printf 'Author\\nBook\\n'\n"
      .write(toFile: tool, atomically: true, encoding: .utf8)
    try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: tool)
    try "".write(toFile: file, atomically: true, encoding: .utf8)
    #expect(try offers(tool, "model", "list", file, "") == ["Author", "Book"])
    #expect(try offers(tool, "model", "list", file, "B") == ["Book"])
    #expect(try offers(tool, "model", "list", file, "Book", "--sort", "t") == ["title"])
    #expect(try offers(tool, "model", "list", file, "Book", "--sort", "title,p") == ["title,pages"])
    #expect(try offers(tool, "model", "list", "/bi").contains("/bin"))
  }

  @Test func `zsh's script describes and escapes every command`() {
    let text = CompletionScript(Self.syntax).text(for: .zsh)
    #expect(text.hasPrefix("#compdef tool\n"))
    #expect(text.contains("'draw:Draw\\: one \\[model\\].'"))
    #expect(text.contains("'--format[How.]:FORM:(dot svg)'"))
    #expect(text.contains("'--output[Where.]:FILE:_files'"))
    #expect(text.contains("_tool_model_draw() {"))
  }

  @Test func `fish's script offers words only where they belong`() {
    let text = CompletionScript(Self.syntax).text(for: .fish)
    #expect(
      text.contains(
        "complete -c tool -n '__tool_is model' -a draw"
      ))
    #expect(
      text.contains(
        "-n '__tool_within model draw' -l format -d 'How.' -x -a 'dot svg'"
      ))
  }

  @Test func `The command writes the script of the tool it belongs to`() {
    let tool = CommandLineTool(
      name: "tool", version: "1", summary: "",
      commands: [Command(CommandSyntax("go", summary: "Goes.")) { _, _ in }]
    ).withCompletion()
    let lines = Lines()
    let terminal = Terminal(isInteractive: false, usesColor: false, width: 80)
    let environment = ToolEnvironment(
      variables: [:], outputTerminal: terminal, errorTerminal: terminal, output: { lines.add($0) },
      error: { lines.add($0) })
    #expect(tool.run(["completion", "fish"], in: environment) == .success)
    #expect(lines.text.contains("-a go"))
    #expect(lines.text.contains("-a completion"))
    #expect(tool.run(["completion", "csh"], in: environment) == .usage)
    #expect(lines.text.contains("There is no completion for 'csh'"))
  }

  private final class Lines: @unchecked Sendable {
    // Unchecked: the tool runs on the test's own thread.
    private(set) var text = ""
    func add(_ more: String) { text += more }
  }
}
