import Testing

@testable import CoreDataToolKit

@Suite struct ManualPageTests {
  private let _tool = CommandSyntax(
    "tool", summary: "Does things.", discussion: ["It has commands."],
    subcommands: [
      CommandSyntax(
        "far", summary: "Goes far.",
        subcommands: [
          CommandSyntax(
            "go", summary: "Goes.", discussion: [".so it goes"], examples: ["tool far go a\\b --steps 3"],
            options: [
              .value("steps", "N", short: "s", "How far."),
              .value("worker", "JOB", isHidden: true, "Inside."),
            ],
            operands: [CommandSyntax.Operand("PLACE", "Where.")])
        ]),
      CommandSyntax("stay", summary: "Stays."),
    ])

  private var _lines: [Substring] { ManualPage(_tool, version: "1.2").text.split(separator: "\n") }

  @Test func `the page names the tool and its version`() {
    #expect(_lines.first == ".TH TOOL 1 \"\" \"tool 1.2\"")
    #expect(_lines.contains("tool \\- Does things."))
  }

  @Test func `the synopsis has a line for each command, however deep`() {
    #expect(_lines.contains("tool far go [options] PLACE"))
    #expect(_lines.contains("tool stay"))
  }

  @Test func `options keep their dashes, and hidden ones stay hidden`() {
    #expect(_lines.contains(".B \\-s, \\-\\-steps N"))
    #expect(!_lines.contains { $0.contains("worker") })
  }

  @Test func `a text that looks like a macro is printed`() {
    #expect(_lines.contains("\\&.so it goes"))
    #expect(_lines.contains("tool far go a\\eb \\-\\-steps 3"))
  }

  @Test func `the page ends with the exit codes`() {
    #expect(_lines.contains(".SH EXIT STATUS"))
    #expect(_lines.suffix(3).contains(".B 141"))
  }
}
