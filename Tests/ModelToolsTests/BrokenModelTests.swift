import CoreDataToolKit
import Foundation
import Testing

@testable import CoreDataModelTools

/// The commands' messages about an invalid model say where the error is and what to do.
@Suite struct BrokenModelTests {
  struct Case: Sendable, CustomTestStringConvertible {
    let name: String
    let text: String
    /// The rest of the message of `check`, after the path.
    let expected: String
    var testDescription: String { name }
  }

  static let cases = [
    Case(name: "not XML", text: "hello", expected: ":1:1: not well-formed XML"),
    Case(
      name: "truncated", text: "<model>\n  <entity name=\"A\">\n    <attribute name=\"a\"",
      expected:
        ":3:6: not well-formed XML (XML error 5): 'attribute', which begins in line 3, is not closed here"),
    Case(
      name: "unknown attribute type",
      text:
        "<model>\n  <entity name=\"A\">\n    <attribute name=\"a\" attributeType=\"Strin\"/>\n  </entity>\n</model>",
      expected: ":3:40: attribute type 'Strin' is not known; there are Binary, "),
    Case(
      name: "misspelt element",
      text:
        "<model>\n<entity name=\"A\">\n<attribute name=\"a\" attributeType=\"String\"/>\n"
        + "<atribute name=\"b\" attributeType=\"String\"/>\n</entity>\n</model>",
      expected: ":4:2: error: 'atribute' is no element of 'entity'; did you mean 'attribute'?"),
    Case(
      name: "misspelt attribute",
      text:
        "<model>\n<entity name=\"A\">\n<attribute name=\"a\" optoinal=\"YES\" attributeType=\"String\"/>\n"
        + "</entity>\n</model>",
      expected: ":3:21: error: 'optoinal' is no attribute of 'attribute'; did you mean 'optional'?"),
    Case(
      name: "dangling destination",
      text:
        "<model>\n<entity name=\"Book\"/>\n<entity name=\"A\">\n<relationship name=\"b\" destinationEntity=\"Bok\"/>\n</entity>\n</model>",
      expected: ":4:21: error: A.b: its destination entity 'Bok' is not in the model. Did you mean 'Book'?"),
    Case(
      name: "dangling inverse",
      text:
        "<model>\n<entity name=\"A\">\n<relationship name=\"next\" destinationEntity=\"A\" inverseName=\"previos\"/>\n"
        + "<relationship name=\"previous\" destinationEntity=\"A\" inverseName=\"next\"/>\n</entity>\n</model>",
      expected:
        ":3:21: error: A.next: its inverse 'previos' is not a relationship of 'A'. Did you mean 'previous'?"),
    Case(
      name: "inverse that points elsewhere",
      text:
        "<model>\n<entity name=\"A\">\n<relationship name=\"x\" destinationEntity=\"A\" inverseName=\"y\"/>\n"
        + "<relationship name=\"y\" destinationEntity=\"A\" inverseName=\"y\"/>\n</entity>\n</model>",
      expected: ":3:21: error: A.x: its inverse 'A.y' does not point back to it but to 'y'; set both ends"),
    Case(
      name: "parent that is not there",
      text: "<model>\n<entity name=\"Book\"/>\n<entity name=\"A\" parentEntity=\"Boook\"/>\n</model>",
      expected: ":3:15: error: A: its parent entity 'Boook' is not in the model. Did you mean 'Book'?"),
    Case(
      name: "parents in a circle",
      text:
        "<model>\n<entity name=\"A\" parentEntity=\"B\"/>\n<entity name=\"B\" parentEntity=\"A\"/>\n</model>",
      expected: ":2:15: error: A: its line of parents is a circle: A > B > A; remove one of the parents"),
    Case(
      name: "the same property in parent and child",
      text: "<model>\n<entity name=\"A\">\n<attribute name=\"a\" attributeType=\"String\"/>\n</entity>\n"
        + "<entity name=\"B\" parentEntity=\"A\">\n<attribute name=\"a\" attributeType=\"String\"/>\n</entity>\n</model>",
      expected: ":6:18: error: B.a: a parent entity has a property of this name; rename one of them"),
    Case(
      name: "a template that cannot be read",
      text:
        "<model>\n<entity name=\"A\"/>\n<fetchRequest name=\"all\" entity=\"A\" predicateString=\"a = = 1\"/>\n</model>",
      expected: ":3:21: error: fetch request 'all': its predicate 'a = = 1' cannot be read: "),
    Case(
      name: "entity bomb",
      text:
        "<!DOCTYPE m [<!ENTITY a \"aaaaaaaaaa\"><!ENTITY b \"&a;&a;&a;&a;\">]>\n<model><entity name=\"&b;\"/></model>",
      expected: ": has a document type declaration, which no model file has; remove '<!DOCTYPE"),
    Case(
      name: "a derivation that cannot be read",
      text:
        "<model>\n<entity name=\"A\">\n<attribute name=\"a\" attributeType=\"String\" derived=\"YES\" derivationExpression=\"canonical:(\"/>\n"
        + "</entity>\n</model>",
      expected: ":3:18: error: A.a: its derivation 'canonical:(' cannot be read: "),
  ]

  @Test(arguments: cases)
  func `check says where a model is wrong, and what to do`(broken: Case) throws {
    try Scratch.with { scratch in
      let path = try scratch.file("contents", broken.text)
      let run = ToolRun.model(["check", path])
      #expect(run.code == .badInput)
      #expect((run.output + run.error).contains(path + broken.expected))
      let json = ToolRun.model(["check", path, "--json"])
      #expect(json.code == .badInput)
      let findings = try #require(try json.json() as? [[String: Any]])
      #expect(findings.contains { $0["severity"] as? String == "error" && $0["file"] is String })
    }
  }

  @Test(arguments: cases, ["show", "format", "graph", "generate"])
  func `No command comes to grief on a model that is wrong`(broken: Case, command: String) throws {
    try Scratch.with { scratch in
      let path = try scratch.file("contents", broken.text)
      let run = ToolRun.model([command, path])
      #expect([.success, .badInput].contains(run.code))
      #expect(run.code == .success ? run.error.isEmpty : run.error.hasPrefix("error: "))
    }
  }

  @Test func `A mark stands below what is to blame`() throws {
    try Scratch.with { scratch in
      let path = try scratch.file("contents", Self.cases[2].text)
      #expect(
        ToolRun.model(["show", path]).error.hasSuffix(
          """
          .
              <attribute name="a" attributeType="Strin"/>
                                                 ^~~~~

          """))
    }
  }

  @Test func `Ten thousand entities are shown, checked, compared and drawn`() throws {
    try Scratch.with { scratch in
      let entities = (0..<10_000).map { number in
        "<entity name=\"E\(number)\" representedClassName=\"E\(number)\"><attribute name=\"a\" optional=\"YES\" attributeType=\"String\"/>"
          + "<relationship name=\"next\" optional=\"YES\" maxCount=\"1\" destinationEntity=\"E\((number / 7) * 7)\"/></entity>"
      }
      let path = try scratch.file("contents", "<model>\n\(entities.joined(separator: "\n"))\n</model>\n")
      for words in [
        ["show", path], ["check", path], ["diff", path, path], ["format", path],
        ["graph", path, "--format", "svg"],
        ["generate", path],
      ] {
        let run = ToolRun.model(words)
        #expect(run.code == .success, "\(words[0]): \(run.error.prefix(200))")
      }
    }
  }

  // MARK: The command line

  @Test(arguments: ["show", "check", "diff", "format", "generate", "graph", "adopt"])
  func `Every command has help and suggests what was meant`(command: String) {
    let help = ToolRun.model([command, "--help"])
    #expect(help.code == .success)
    #expect(help.output.contains("Usage: coredata model \(command)"))
    #expect(help.output.contains("--json"))
    #expect(help.output.contains("Exit codes:\n  0   success\n  64  "))
    let wrong = ToolRun.model([command, "--jsno"])
    #expect(wrong.code == .usage)
    #expect(wrong.error.contains("Did you mean '--json'?"))
    #expect(ToolRun.model([command]).code == .usage)
  }

  @Test func `Codes say whether a change is harmless, and a file canonical`() throws {
    try Scratch.with { scratch in
      let old = try scratch.file(
        "old",
        "<model><entity name=\"A\"><attribute name=\"a\" optional=\"YES\" attributeType=\"String\"/></entity></model>"
      )
      let new = try scratch.file("new", "<model><entity name=\"A\"/></model>")
      #expect(ToolRun.model(["diff", old, new]).code == .success)
      #expect(ToolRun.model(["diff", old, new, "--strict"]).code == .badInput)
      #expect(ToolRun.model(["diff", new, old, "--strict"]).code == .success)
      #expect(ToolRun.model(["format", old, "--check"]).code == .badInput)
      #expect(ToolRun.model(["format", old, "--output", old, "--force"]).code == .success)
      #expect(ToolRun.model(["format", old, "--check"]).code == .success)
    }
  }
}
