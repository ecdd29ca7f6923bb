import Testing

@testable import CoreDataToolKit

@Suite("Scanning a command line")
struct ArgumentScannerTests {
  private let _scanner = ArgumentScanner(
    CommandSyntax(
      "tool", summary: "",
      subcommands: [
        CommandSyntax(
          "run", summary: "",
          options: [
            .value("file", "FILE", ""), .value("tag", "TAG", repeats: true, ""), .flag("quiet", ""),
            .value("secret", "X", isHidden: true, ""), .flag("strict", optionalValue: "CODES", ""),
          ],
          operands: [.init("INPUT", ""), .init("OUTPUT", isOptional: true, "")]),
        CommandSyntax("show", summary: "", operands: [.init("NAME", isOptional: true, repeats: true, "")]),
      ]))

  private func _arguments(_ words: String...) throws -> ParsedArguments? {
    if case .run(_, let arguments) = try _scanner.scan(["run"] + words) { arguments } else { nil }
  }

  @Test(arguments: [["--file", "a=b"], ["--file=a=b"]])
  func `A value follows its option or an equals sign`(words: [String]) throws {
    let request = try _scanner.scan(["run", "in"] + words)
    #expect(
      request == .run(path: ["tool", "run"], ParsedArguments(values: ["file": ["a=b"]], operands: ["in"])))
  }

  @Test func `A repeated option keeps all values in order`() throws {
    #expect(try _arguments("in", "--tag", "a", "--tag=b")?.values["tag"] == ["a", "b"])
  }

  @Test func `An option that may stand once is refused twice`() {
    #expect(throws: UsageError.repeatedOption("--file")) { try _arguments("in", "--file=a", "--file=b") }
  }

  @Test func `A flag takes no value`() throws {
    #expect(try _arguments("in", "--quiet")?.has("quiet") == true)
    #expect(throws: UsageError.unexpectedValue(option: "--quiet", value: "yes")) {
      try _arguments("in", "--quiet=yes")
    }
  }

  @Test func `An operand that repeats may be given any number of times`() throws {
    for names in [[], ["a"], ["a", "b", "c"]] {
      #expect(
        try _scanner.scan(["show"] + names) == .run(path: ["tool", "show"], ParsedArguments(operands: names)))
    }
  }

  @Test func `a line without a command asks for help`() throws {
    #expect(try _scanner.scan([]) == .help(path: ["tool"]))
  }

  @Test func `an optional value is what follows the equals sign`() throws {
    #expect(try _arguments("--strict", "in")?.values["strict"] == [])
    #expect(try _arguments("in", "--strict=a", "--strict", "--strict=b")?.values["strict"] == ["a", "b"])
    #expect(throws: UsageError.missingValue(option: "--strict", valueName: "CODES")) {
      try _arguments("in", "--strict=")
    }
  }

  @Test(arguments: [["--file", "--quiet"], ["--file"], ["--file="]])
  func `An option does not swallow the next one as its value`(words: [String]) {
    #expect(throws: UsageError.missingValue(option: "--file", valueName: "FILE")) {
      try _scanner.scan(["run", "in"] + words)
    }
  }

  @Test func `A misspelt option suggests the right one, never a hidden one`() {
    #expect(throws: UsageError.unknownOption("--quite", command: "tool run", suggestion: "--quiet")) {
      try _arguments("in", "--quite")
    }
    #expect(throws: UsageError.unknownOption("--secre", command: "tool run", suggestion: nil)) {
      try _arguments("in", "--secre", "x")
    }
  }

  @Test func `A misspelt command is answered with the right one`() {
    #expect(throws: UsageError.unknownCommand("rnu", in: "tool", suggestion: "run")) {
      try _scanner.scan(["rnu"])
    }
  }

  @Test func `Operands are counted`() throws {
    #expect(throws: UsageError.missingOperand("INPUT", command: "tool run")) { try _arguments() }
    #expect(throws: UsageError.unexpectedOperand("c", command: "tool run")) { try _arguments("a", "b", "c") }
    #expect(try _arguments("-", "--", "--quiet")?.operands == ["-", "--quiet"])
  }

  @Test(arguments: [
    (["--help"], ["tool"]), (["-h"], ["tool"]), (["help"], ["tool"]), (["help", "run"], ["tool", "run"]),
    (["run", "--nonsense", "--help"], ["tool", "run"]),
  ])
  func `Help is there at every level and wins over mistakes`(words: [String], path: [String]) throws {
    #expect(try _scanner.scan(words) == .help(path: path))
  }

  @Test func `After two dashes --help is an operand`() throws {
    #expect(try _arguments("--", "--help")?.operands == ["--help"])
  }
}

@Suite("Values of options")
struct ParsedArgumentsTests {
  private enum Color: String, CaseIterable { case red, green }

  @Test func `A number must be one and lie in its range`() throws {
    let arguments = ParsedArguments(values: ["n": ["12"], "bad": ["1x"]])
    #expect(try arguments.integer("n", in: 1...20) == 12)
    #expect(try arguments.integer("absent", in: 1...20) == nil)
    #expect(throws: UsageError.outOfRange(option: "--n", number: 12, allowed: 1...10)) {
      try arguments.integer("n", in: 1...10)
    }
    #expect(throws: UsageError.notANumber(option: "--bad", text: "1x")) {
      try arguments.integer("bad", in: 1...20)
    }
  }

  @Test func `Words come from lists and repeated options, each once`() throws {
    let arguments = ParsedArguments(values: ["c": ["green,red", "green"]])
    #expect(try arguments.choices("c") == [Color.green, .red])
  }

  @Test(arguments: ["gren", "red,gren", "red, gren"])
  func `An unknown word is answered with the one meant`(text: String) {
    #expect(
      throws: UsageError.unknownChoice(
        option: "--c", text: "gren", choices: ["red", "green"], suggestion: "green")
    ) {
      let _: [Color]? = try ParsedArguments(values: ["c": [text]]).choices("c")
    }
  }

  @Test func `Every usage error is a sentence`() {
    let errors: [UsageError] = [
      .unknownCommand("a", in: "t", suggestion: nil),
      .unknownOption("--a", command: "t", suggestion: "--b"), .missingValue(option: "--a", valueName: "A"),
      .unexpectedValue(option: "--a", value: "1"), .repeatedOption("--a"),
      .unexpectedOperand("a", command: "t"),
      .missingOperand("A", command: "t"), .notANumber(option: "--a", text: "x"),
      .outOfRange(option: "--a", number: 0, allowed: 1...Int.max),
      .unknownChoice(option: "--a", text: "x", choices: ["y"], suggestion: nil), .conflict("--a", "--b"),
    ]
    for error in errors { #expect(error.description.hasSuffix(".") || error.description.hasSuffix("?")) }
  }
}

@Suite("Spelling suggestions")
struct SpellingSuggestionTests {
  @Test(arguments: [
    ("", "abc", 3), ("abc", "abc", 0), ("abc", "acb", 1), ("kitten", "sitting", 3), ("ab", "b", 1),
  ])
  func `The distance counts inserts, deletes, replaces and swaps`(
    left: String, right: String, expected: Int
  ) {
    #expect(SpellingSuggestion.editDistance(left, right) == expected)
    #expect(SpellingSuggestion.editDistance(right, left) == expected)
  }

  @Test func `What is far from everything gets no suggestion`() {
    #expect(SpellingSuggestion.nearest(to: "zebra", among: ["main", "shared"]) == nil)
    #expect(SpellingSuggestion.nearest(to: "Share", among: ["main", "shared"]) == "shared")
  }
}
