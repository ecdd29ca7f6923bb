import CoreDataModelFiles
import CoreDataModelSchema
import CoreDataToolKit
import Foundation
import Testing

@testable import CoreDataModelTools

@Suite struct ModelToolsTests {
  private static let library = """
    <?xml version="1.0" encoding="UTF-8" standalone="yes"?>
    <model type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0">
        <entity name="Author" representedClassName="Author">
            <attribute name="name" optional="YES" attributeType="String"/>
            <attribute name="description" optional="YES" attributeType="String"/>
            <relationship name="books" optional="YES" toMany="YES" deletionRule="No Action" destinationEntity="Book"/>
        </entity>
        <entity name="Book" representedClassName="Book">
            <attribute name="pages" attributeType="Integer 32" defaultValueString="7" minValueString="10"/>
        </entity>
    </model>
    """

  /// Returns the tool's output for these arguments, with `MODEL` replaced by a file that contains `text`.
  private func run(_ words: [String], on text: String = library) throws -> (
    code: ExitCode, output: String, error: String
  ) {
    let file = FileManager.default.temporaryDirectory.appendingPathComponent("model-\(UUID().uuidString)")
    try text.write(to: file, atomically: true, encoding: .utf8)
    defer { try? FileManager.default.removeItem(at: file) }
    let (output, error) = (Lines(), Lines())
    let terminal = Terminal(descriptor: -1, environment: [:])
    let environment = ToolEnvironment(
      variables: [:], outputTerminal: terminal, errorTerminal: terminal, output: { output.add($0) },
      error: { error.add($0) })
    let tool = CommandLineTool(name: "coredata", version: "1", summary: "", commands: [.model])
    let code = tool.run(["model"] + words.map { $0 == "MODEL" ? file.path : $0 }, in: environment)
    return (
      code, output.text.replacing(file.path, with: "MODEL"), error.text.replacing(file.path, with: "MODEL")
    )
  }

  private final class Lines: @unchecked Sendable {
    // Unchecked: the tool runs on the test's thread only.
    private(set) var text = ""
    func add(_ more: String) { text += more }
  }

  @Test func `check points at what it complains of`() throws {
    let result = try run(["check", "MODEL"])
    #expect(result.code == .success)
    #expect(
      result.output.contains(
        """
        MODEL:6:29: warning: Author.books: has no inverse: deletions leave it pointing to nothing [no-inverse]
                <relationship name="books" optional="YES" toMany="YES" deletionRule="No Action" destinationEntity="Book"/>
                                    ^~~~~
        """))
    #expect(result.output.contains("Author.books: its delete rule is No Action"))
    #expect(result.output.contains("Author.description: every managed object has a member"))
    #expect(result.output.contains("Book.pages: its default value is less than its minimum"))
  }

  @Test func `check ends with an error for a model that cannot be used`() throws {
    let text = Self.library.replacing("destinationEntity=\"Book\"", with: "destinationEntity=\"Bok\"")
    let result = try run(["check", "MODEL"], on: text)
    #expect(result.code == .badInput)
    #expect(result.output.contains("error: Author.books: its destination entity 'Bok' is not in the model"))
  }

  @Test func `check takes warnings for errors when asked`() throws {
    #expect(try run(["check", "MODEL", "--strict"]).code == .badInput)
  }

  @Test func `What Xcode will write one day is a warning`() throws {
    let text = Self.library.replacing("<entity name=\"Book\"", with: "<entity hologram=\"YES\" name=\"Book\"")
      .replacing("</model>", with: "    <shape kind=\"round\"/>\n</model>")
    let result = try run(["check", "MODEL"], on: text)
    #expect(result.code == .success)
    #expect(
      result.output.contains(
        "MODEL:8:13: warning: 'hologram' is no attribute of 'entity', and is left out [unknown-part]"))
    #expect(
      result.output.contains("warning: 'shape' is no element of 'model', and is left out [unknown-part]"))
    #expect(try run(["check", "MODEL", "--strict=unknown-part"], on: text).code == .badInput)
  }

  @Test func `An unreadable default is a warning, and none`() throws {
    let text = Self.library.replacing(
      "attributeType=\"Integer 32\" defaultValueString=\"7\" minValueString=\"10\"",
      with: "attributeType=\"UUID\" defaultValueString=\"empy\"")
    let result = try run(["check", "MODEL"], on: text)
    #expect(result.code == .success)
    #expect(
      result.output.contains(
        "warning: defaultValueString='empy' is no UUID, and is left out [unreadable-value]"))
    let shown = try run(["show", "MODEL", "--json"], on: text)
    #expect(shown.code == .success && !shown.output.contains("empy"))
  }

  @Test func `format keeps no misspelling in silence`() throws {
    let text = Self.library.replacing("optional=\"YES\" attributeType", with: "optinal=\"YES\" attributeType")
    let result = try run(["format", "MODEL"], on: text)
    #expect(result.code == .badInput && result.output.isEmpty)
    #expect(
      result.error.contains("MODEL:4:32: 'optinal' is no attribute of 'attribute'; did you mean 'optional'?"))
  }

  @Test func `format --check accepts what Xcode writes`() throws {
    let text = Self.library.replacing(
      "documentVersion=\"1.0\"", with: "documentVersion=\"1.0\" lastSavedToolsVersion=\"22522\""
    )
    .replacing(
      "attributeType=\"Integer 32\"", with: "attributeType=\"Integer 32\" usesScalarValueType=\"NO\"")
    let result = try run(["format", "MODEL", "--check"], on: text)
    #expect(result.code == .success)
    #expect(result.output == "MODEL: as Xcode writes it.\n")
    for other in [
      text.replacing("    <entity", with: "  <entity"),
      text.replacing("<entity name=\"Book\"", with: "<entity  name=\"Book\""),
      text.replacing(">\n        <attribute name=\"name\"", with: "><attribute name=\"name\""),
    ] {
      #expect(try run(["format", "MODEL", "--check"], on: other).code == .badInput)
    }
  }

  @Test(arguments: [
    ("not XML", "not well-formed XML"), ("<model><entity name=\"A\">", "not well-formed XML"),
    ("<!DOCTYPE x [<!ENTITY a \"b\">]><model/>", ""), ("<plist/>", "the root element is 'plist'"),
    (
      "<model><entity name=\"A\"><attribute name=\"b\" attributeType=\"Strin\"/></entity></model>",
      "'Strin' is not known"
    ),
  ])
  func `A bad file is named with its place`(text: String, message: String) throws {
    let result = try run(["show", "MODEL"], on: text)
    #expect(result.code == .badInput)
    #expect(result.error.contains("MODEL"))
    #expect(message.isEmpty || result.error.contains(message))
  }

  @Test func `A missing file has a distinct exit code`() throws {
    #expect(try run(["show", "/nowhere/at/all"]).code == .noInput)
  }

  @Test func `format is stable`() throws {
    let once = try run(["format", "MODEL"])
    #expect(once.code == .success)
    #expect(try run(["format", "MODEL"], on: once.output).output == once.output)
  }

  @Test func `show writes JSON`() throws {
    let result = try run(["show", "MODEL", "--json"])
    let json = try JSONSerialization.jsonObject(with: Data(result.output.utf8)) as? [String: Any]
    let entities = try #require(json?["entities"] as? [[String: Any]])
    #expect(entities.compactMap { $0["name"] as? String } == ["Author", "Book"])
  }

  @Test(arguments: [
    ("dot", "\"Author\" -> \"Book\""), ("mermaid", "Author --> \"*\" Book : books"), ("svg", "</svg>"),
  ])
  func `graph draws entities and relationships`(form: String, expected: String) throws {
    #expect(try run(["graph", "MODEL", "--format", form]).output.contains(expected))
  }

  @Test func `generate writes classes to keep`() throws {
    let output = try run(["generate", "MODEL", "--entity", "Book"]).output
    #expect(output.contains("@objc(Book)\n#endif\npublic class Book: NSManagedObject {}"))
    #expect(output.contains("@NSManaged public var pages: NSNumber?"))
    #expect(!output.contains("class Author"))
  }

  @Test func `A wrong command gets a suggestion`() throws {
    let result = try run(["chek", "MODEL"])
    #expect(result.code == .usage)
    #expect(result.error.contains("check"))
  }

  @Test func `A model is compiled for a module`() throws {
    try Scratch.with { scratch in
      let model = "<model><entity name=\"Book\" representedClassName=\".Book\"/></model>"
      _ = try scratch.file("M.xcdatamodel/contents", model)
      let path = scratch.url.appendingPathComponent("M.xcdatamodel").path
      let run = ToolRun.model(["compile", path, "-o", scratch.url.path, "--module", "ShopApp"])
      #expect(run.code == .success)
      let bytes = try Data(contentsOf: scratch.url.appendingPathComponent("M.mom"))
      #expect(bytes.range(of: Data("ShopApp.Book".utf8)) != nil)
    }
  }

  @Test func `a Mermaid diagram marks abstract entities only`() throws {
    let text = Self.library.replacing(
      "<entity name=\"Author\"", with: "<entity name=\"Author\" isAbstract=\"YES\"")
    let lines = try run(["graph", "MODEL", "--format", "mermaid"], on: text).output.split(separator: "\n")
    let marks = lines.indices.filter { lines[$0].contains("<<abstract>>") }
    #expect(marks.map { lines[$0 - 1].trimmingCharacters(in: .whitespaces) } == ["class Author {"])
  }

  @Test func `generate names the files that it has written as JSON`() throws {
    let place = FileManager.default.temporaryDirectory.appendingPathComponent("classes-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: place) }
    let result = try run(["generate", "MODEL", "--entity", "Book", "--output", place.path, "--json"])
    #expect(result.code == .success, "\(result.error)")
    let written = try #require(
      JSONSerialization.jsonObject(with: Data(result.output.utf8)) as? [[String: String]])
    let names = try FileManager.default.contentsOfDirectory(atPath: place.path).sorted()
    #expect(written.compactMap { $0["name"] }.sorted() == names && !names.isEmpty)
    #expect(written.allSatisfy { $0["path"] == "\(place.path)/\($0["name"] ?? "")" })
  }
}
