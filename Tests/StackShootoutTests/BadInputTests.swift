import Foundation
import Testing

@testable import CoreDataStackShootout

/// The built tool's response to invalid input: one sentence on standard error, nothing on standard output,
/// and the documented exit code.
@Suite("Bad input to the built tool")
struct BadInputTests {
  private let _scratch: ScratchDirectory

  init() throws { _scratch = try ScratchDirectory() }

  private func _expect(
    _ words: [String], code: Int32, says parts: String..., at location: SourceLocation = #_sourceLocation
  )
    throws
  {
    let outcome = try ToolProcess.run(words)
    #expect(outcome.code == code, sourceLocation: location)
    #expect(outcome.output == "", sourceLocation: location)
    #expect(outcome.error.hasPrefix("error: ") && outcome.error.hasSuffix("\n"), sourceLocation: location)
    for part in parts { #expect(outcome.error.contains(part), sourceLocation: location) }
  }

  private func _file(_ bytes: [UInt8]) throws -> String {
    let path = _scratch.file("stops.txt")
    try Data(bytes).write(to: URL(fileURLWithPath: path))
    return path
  }

  @Test func `No such file: 66`() throws {
    try _expect(["shootout", "--stops", _scratch.file("absent")], code: 66, says: "There is no file")
  }

  @Test func `A directory: 66`() throws {
    try _expect(["shootout", "--stops", _scratch.path], code: 66, says: "is a directory")
  }

  @Test func `An empty file: 65`() throws {
    try _expect(["shootout", "--stops", _file([])], code: 65, says: "is empty")
  }

  @Test func `A file that is not UTF-8: 65`() throws {
    try _expect(["shootout", "--stops", _file([0x73, 0x0A, 0xFF])], code: 65, says: "is not UTF-8 (line 2)")
  }

  @Test func `Missing columns: 65`() throws {
    let path = try _file(Array("stop_id,stop_name,stop_lat\n".utf8))
    try _expect(["shootout", "--stops", path], code: 65, says: "lacks the column stop_lon", "'stop_lat'")
  }

  @Test func `No usable row: 65`() throws {
    let path = try _file(Array("stop_id,stop_name,stop_lat,stop_lon\n1,a,b,c\n".utf8))
    try _expect(["shootout", "--stops", path], code: 65, says: "1 rows were skipped, the first in line 2")
  }

  @Test func `An unknown stack: 64`() throws {
    try _expect(["shootout", "--stacks", "main,nested4"], code: 64, says: "Did you mean 'nested2'?")
  }

  @Test func `A report that cannot be written ends the run with 73`() throws {
    try _expect(["shootout", "--report", _scratch.path], code: 73, says: "it is a directory")
    try _expect(
      ["shootout", "--report", _scratch.file("no/page.html")], code: 73, says: "No such file or directory")
  }

  @Test func `Stores where one is already: 73`() throws {
    try Data().write(to: URL(fileURLWithPath: _scratch.file("shared.sqlite")))
    try _expect(["shootout", "--stores", _scratch.path], code: 73, says: "shared.sqlite' already")
  }

  @Test(arguments: [
    ["shootuot"], ["shootout", "--stop", "x"], ["shootout", "--stops"], ["shootout", "--runs", "0"],
    ["shootout", "--runs", "many"], ["shootout", "--objects", "0"], ["shootout", "--save-every", "0"],
    ["shootout", "--mode", "fast"], ["shootout", "--format", "xml"],
    ["shootout", "--stops", "a", "--objects", "1"],
    ["shootout", "x"], ["shootout", "--worker", "nonsense"],
  ])
  func `A line that makes no sense: 64`(words: [String]) throws {
    try _expect(words, code: 64)
  }

  @Test func `Help is a success on standard output`() throws {
    for words in [["--help"], ["shootout", "--help"]] {
      let outcome = try ToolProcess.run(words)
      #expect(outcome.code == 0)
      #expect(outcome.output.contains("Usage: coredata"))
      #expect(outcome.error == "")
    }
  }
}
