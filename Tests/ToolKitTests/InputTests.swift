import Foundation
import Testing

@testable import CoreDataToolKit

@Suite struct JSONValueTests {
  private func parse(_ text: String) throws -> JSONValue { try JSONValue(parsing: Array(text.utf8)) }

  @Test func `Numbers keep their digits and members their order`() throws {
    #expect(
      try parse(#" { "b" : 9007199254740993 , "a" : [ -0.10e+5, true, null, {} , [] ] } "#)
        == .object([
          .init(name: "b", value: .number("9007199254740993")),
          .init(
            name: "a", value: .array([.number("-0.10e+5"), .boolean(true), .null, .object([]), .array([])])),
        ]))
  }

  @Test(arguments: [
    (#""a\"\\\/\b\f\n\r\t""#, "a\"\\/\u{8}\u{C}\n\r\t"), (#""\u00e9\ud83d\udcda""#, "é📚"),
    (#""\ud83d!""#, "\u{FFFD}!"),
    ("\"日本\"", "日本"), (#""\u0000""#, "\u{0}"),
  ])
  func `Strings are unescaped`(text: String, expected: String) throws {
    #expect(try parse(text) == .string(expected))
  }

  @Test(arguments: [
    "", " ", "{", "[1,]", "{\"a\"}", "{\"a\":}", "{a:1}", "01", "1.", "-", "1e", "tru", "\"a", "\"\n\"",
    "\"\\x\"", "\"\\u12\"",
    "1 2", "[1 2]", "nan", String(repeating: "[", count: 100_000),
  ])
  func `What is no JSON is refused`(text: String) {
    #expect(throws: JSONValue.SyntaxError.self) { try parse(text) }
  }

  @Test func `What is written quoted reads back`() throws {
    let text = "quote \" slash \\ control \u{1} line\nseparator \u{2028} 👩‍👩‍👧 e\u{301}"
    #expect(try parse(JSONText.quoted(text)) == .string(text))
  }
}

@Suite struct InputFileTests {
  private func file(_ text: String) throws -> InputFile {
    let path = FileManager.default.temporaryDirectory.appendingPathComponent("input-\(UUID().uuidString)")
      .path
    try Data(text.utf8).write(to: URL(fileURLWithPath: path))
    defer { try? FileManager.default.removeItem(atPath: path) }
    return try InputFile(path: path)
  }

  @Test func `Lines end with either mark, the last one with none`() throws {
    let long = String(repeating: "x", count: 200_000)
    let input = try file("a\r\n\n\(long)\nlast")
    var lines: [String] = []
    while let line = try input.nextLine() { lines.append(String(decoding: line, as: UTF8.self)) }
    #expect(lines == ["a", "", long, "last"])
    #expect(input.line == 4)
    #expect(input.position == input.size)
  }

  @Test func `Bytes come one by one, with their line`() throws {
    let input = try file("a\nb")
    #expect(try input.peek() == UInt8(ascii: "a"))
    #expect(try input.next() == UInt8(ascii: "a"))
    _ = try input.next()
    #expect(input.line == 2)
    #expect(try input.next() == UInt8(ascii: "b"))
    #expect(try input.next() == nil)
  }

  @Test func `A missing file, and a directory, are reported`() {
    #expect(throws: ToolFailure.self) { try InputFile(path: "/nowhere/at/all") }
    #expect(throws: ToolFailure.self) { try InputFile(path: "/").next() }
  }
}

@Suite struct FittedTableTests {
  private func table(_ rows: [[String]]) -> TextTable {
    var table = TextTable([.init("short", .left), .init("a longer title", .left), .init("n", .right)])
    for row in rows { table.add(row.map { TextTable.Cell($0) }) }
    return table
  }

  @Test func `What fits stays as it is`() {
    let table = table([["a", "b", "1"]])
    let (fitted, dropped) = table.fitted(to: 80)
    #expect(fitted.text(usesColor: false) == table.text(usesColor: false))
    #expect(dropped.isEmpty)
  }

  @Test func `The widest column is narrowed first`() {
    let (fitted, dropped) = table([["a", "日本語" + String(repeating: "x", count: 60), "1"]]).fitted(to: 40)
    #expect(dropped.isEmpty)
    #expect(
      fitted.text(usesColor: false) == """
        short  a longer title                  n
        a      日本語xxxxxxxxxxxxxxxxxxxxxxx…  1

        """)
  }

  @Test func `Columns go from the end when there is no room`() {
    let wide = String(repeating: "w", count: 40)
    let (fitted, dropped) = table([[wide, wide, wide]]).fitted(to: 30)
    #expect(dropped == ["n"])
    for line in fitted.text(usesColor: false).split(separator: "\n") {
      #expect(TextWidth.of(String(line)) <= 30)
    }
  }
}
