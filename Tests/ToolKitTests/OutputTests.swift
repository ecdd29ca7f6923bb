import Foundation
import Testing

@testable import CoreDataToolKit

@Suite("A text table")
struct TextTableTests {
  private var _table: TextTable {
    var table = TextTable([.init("name", .left), .init("n", .right), .init("note", .left)])
    table.add(["東京", "7", "x"])
    table.add([.init("Ulm", .red), "1,000"])
    return table
  }

  @Test func `Columns align by what characters take on a terminal`() {
    #expect(
      _table.text(usesColor: false) == """
        name      n  note
        東京      7  x
        Ulm   1,000

        """)
  }

  @Test func `A group's heading stands over its columns`() {
    var table = TextTable([
      .init("a", .left), .init("one", .right, in: "numbers"), .init("two", .right, in: "numbers"),
      .init("b", .left),
    ])
    table.add(["x", "1", "2", "y"])
    #expect(
      table.text(usesColor: false) == """
            numbers
        a  one  two  b
        x    1    2  y

        """)
  }

  @Test func `Colours do not disturb the columns`() {
    let plain = _table.text(usesColor: true).replacing(/\u{1B}\[\d+m/, with: "")
    let lines = plain.split(separator: "\n").map { $0.drop { _ in false } }
    #expect(lines[2].hasPrefix("Ulm   1,000"))
    #expect(_table.text(usesColor: true).contains("\u{1B}[31mUlm\u{1B}[0m"))
  }
}

@Suite("JSON text")
struct JSONTextTests {
  @Test func `Members keep their order and numbers their decimals`() {
    let json = JSONText.object([
      ("z", .integer(1)), ("a", .array([.number(0.30000000000000004, decimals: 3), .null, .boolean(true)])),
      ("e", .object([])),
    ])
    #expect(
      json.text() == """
        {
          "z": 1,
          "a": [
            0.300,
            null,
            true
          ],
          "e": {}
        }
        """)
  }

  @Test(arguments: ["a\"b\\c", "line\nbreak\ttab\r", "\u{1}\u{1F}", "東京 🚏", ""])
  func `Strings survive another program's reading`(text: String) throws {
    let parsed = try JSONSerialization.jsonObject(with: Data(JSONText.array([.string(text)]).text().utf8))
    #expect(parsed as? [String] == [text])
  }

  @Test(arguments: [Double.nan, .infinity])
  func `What is not finite becomes null`(number: Double) {
    #expect(JSONText.number(number, decimals: 1).text() == "null")
  }
}

@Suite("Markup")
struct MarkupTests {
  @Test func `Foreign text cannot become markup`() {
    let markup = Markup.tag("p", ["title": "\"&'"], [.text("<script>\u{0}\u{1B}\u{202E}&")])
    #expect(
      markup.text == "<p title=\"&quot;&amp;&#39;\">&lt;script&gt;\u{FFFD}\u{FFFD}\u{FFFD}&amp;</p>")
  }

  @Test func `Elements without children close as HTML or SVG want it`() {
    #expect(Markup.tag("div", [:], [.tag("i"), .tag("br")]).text == "<div><i></i><br></div>")
    #expect(Markup.tag("svg", [:], [.tag("rect", ["x": "1"])]).text == "<svg><rect x=\"1\"/></svg>")
  }
}

@Suite("An output file")
struct OutputFileTests {
  private let _directory = FileManager.default.temporaryDirectory.appendingPathComponent("output-\(UUID())")
  private let _environment: ToolEnvironment = {
    let terminal = Terminal(isInteractive: false, usesColor: false, width: 80)
    return ToolEnvironment(
      variables: [:], outputTerminal: terminal, errorTerminal: terminal, output: { _ in }, error: { _ in })
  }()

  init() throws { try FileManager.default.createDirectory(at: _directory, withIntermediateDirectories: true) }

  private var _names: [String] {
    ((try? FileManager.default.contentsOfDirectory(atPath: _directory.path)) ?? []).sorted()
  }

  @Test func `Trying a path leaves nothing behind and harms nothing`() throws {
    defer { try? FileManager.default.removeItem(at: _directory) }
    let new = _directory.appendingPathComponent("new").path
    _ = try OutputFile(path: new, replaces: false, _environment)
    #expect(_names == [])
    let old = _directory.appendingPathComponent("old")
    try Data("kept".utf8).write(to: old)
    let file = try OutputFile(path: old.path, replaces: true, _environment)
    #expect(try String(contentsOf: old, encoding: .utf8) == "kept")
    try file.write("new")
    #expect(try String(contentsOf: old, encoding: .utf8) == "new")
    #expect(_names == ["old"])
  }

  @Test(arguments: ["", "/missing/file"])
  func `A path that cannot be written is found out at once`(suffix: String) {
    defer { try? FileManager.default.removeItem(at: _directory) }
    #expect {
      _ = try OutputFile(path: _directory.path + suffix, replaces: false, _environment)
    } throws: {
      ($0 as? ToolFailure)?.code == .cannotCreateOutput
    }
  }

  @Test func `an existing file stays unless it may be replaced`() throws {
    defer { try? FileManager.default.removeItem(at: _directory) }
    let path = _directory.appendingPathComponent("file").path
    let early = try FileSink(path: path, replaces: false)
    try Data("kept".utf8).write(to: URL(fileURLWithPath: path))
    try early.write("lost")
    #expect(throws: ToolFailure.self) { try early.finish() }
    #expect(throws: ToolFailure.self) { try FileSink(path: path, replaces: false) }
    #expect(try String(contentsOfFile: path, encoding: .utf8) == "kept")
    #expect(_names == ["file"])
  }

  @Test func `replacing a file keeps its permissions and a link to it`() throws {
    defer { try? FileManager.default.removeItem(at: _directory) }
    let file = _directory.appendingPathComponent("file").path
    let link = _directory.appendingPathComponent("link").path
    try Data("old".utf8).write(to: URL(fileURLWithPath: file))
    try FileManager.default.setAttributes([.posixPermissions: 0o640], ofItemAtPath: file)
    try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: "file")
    let sink = try FileSink(path: link, replaces: true)
    try sink.write("new")
    try sink.finish()
    #expect(try String(contentsOfFile: file, encoding: .utf8) == "new")
    #expect(try FileManager.default.destinationOfSymbolicLink(atPath: link) == "file")
    let mode = try FileManager.default.attributesOfItem(atPath: file)[.posixPermissions] as? NSNumber
    #expect(mode?.intValue == 0o640)
  }

  @Test func `what is not finished leaves nothing behind`() throws {
    defer { try? FileManager.default.removeItem(at: _directory) }
    let path = _directory.appendingPathComponent("file").path
    do {
      let sink = try FileSink(path: path, replaces: false)
      try sink.write("half")
      #expect(_names.count == 1)
    }
    #expect(_names == [])
    do {
      let directory = try OutputDirectory(path: path, replaces: false)
      try directory.write("whole", to: "one")
    }
    #expect(_names == [])
  }

  @Test func `files of a directory appear together, beside those it has`() throws {
    defer { try? FileManager.default.removeItem(at: _directory) }
    let directory = try OutputDirectory(path: _directory.path + "/deep/er", replaces: false)
    try directory.write("1", to: "one")
    try directory.write("2", to: "inner/two")
    #expect(!FileManager.default.fileExists(atPath: _directory.path + "/deep"))
    try directory.finish()
    #expect(try String(contentsOfFile: _directory.path + "/deep/er/inner/two", encoding: .utf8) == "2")
    let again = try OutputDirectory(path: _directory.path + "/deep/er", replaces: false)
    try again.write("3", to: "three")
    #expect(throws: ToolFailure.self) { try again.write("1", to: "one") }
    try again.finish()
    #expect(
      try FileManager.default.contentsOfDirectory(atPath: _directory.path + "/deep/er").sorted()
        == ["inner", "one", "three"])
  }
}
