import CoreDataSQLiteBinding
import CoreDataToolKit
import Foundation
import Testing

@testable import CoreDataStoreTools

/// Messages about files that are not stores.
@Suite struct WrongFileTests {
  private let shelf: Shelf

  init() throws { shelf = try Shelf() }

  private func info(_ name: String) -> Shelf.Answer { shelf.run("info", "@" + name, "--model", "@model") }

  @Test func `A missing file, with the one that may be meant`() throws {
    try shelf.makeStore()
    let answer = info("stor.sqlite")
    #expect(answer.code == .noInput)
    #expect(answer.error == "error: There is no file 'stor.sqlite'. Did you mean 'store.sqlite'?\n")
  }

  @Test func `A directory, with the stores in it`() throws {
    try FileManager.default.createDirectory(atPath: shelf.path("d"), withIntermediateDirectories: false)
    try shelf.makeStore("d/inner.sqlite")
    #expect(info("d").error == "error: 'd' is a directory. It holds inner.sqlite: name one of them.\n")
  }

  @Test(arguments: [
    (Data(), "is empty (0 bytes)"), (Data("hello, world".utf8), "is a text file"),
    (
      Data(
        "<?xml version=\"1.0\"?><!DOCTYPE database SYSTEM \"file:///System/Library/DTDs/CoreData.dtd\"><database>"
          .utf8), "store of the XML type"
    ),
    (Data("bplist00abc".utf8), "is a binary property list"),
    (Data([0x1F, 0x8B, 8, 0]), "is a compressed file"),
    (Data([0x37, 0x7F, 0x06, 0x82, 0, 0]), "is the write-ahead log of a store"),
    (
      Data((0..<8192).map { UInt8(truncatingIfNeeded: ($0 &* 2_654_435_761) >> 13 ^ $0 &* 40503) }),
      "encrypted"
    ),
    (Data("SQLite format 3\u{0}".utf8), "ends within the header"),
  ])
  func `Another kind of file is called what it is`(content: Data, message: String) throws {
    try content.write(to: URL(fileURLWithPath: shelf.path("file")))
    let answer = info("file")
    #expect(answer.code == .badInput)
    #expect(answer.error.contains(message), "\(answer.error)")
  }

  @Test func `A store that was cut short`() throws {
    try shelf.makeStore()
    let data = try Data(contentsOf: URL(fileURLWithPath: shelf.path("store.sqlite")))
    try data.prefix(3 * 4096).write(to: URL(fileURLWithPath: shelf.path("cut.sqlite")))
    let answer = info("cut.sqlite")
    #expect(answer.code == .badInput)
    #expect(answer.error.contains("'cut.sqlite' was cut short: it should have"))
  }

  @Test func `A database that is no store`() throws {
    try Connection(path: shelf.path("other.db")).execute("CREATE TABLE people (name TEXT)")
    let answer = info("other.db")
    #expect(answer.code == .badInput)
    #expect(
      answer.error.contains("no table Z_METADATA") && answer.error.contains("Its tables are people."),
      "\(answer.error)")
  }

  @Test func `A model of another version is used as far as it fits`() throws {
    try shelf.makeStore()
    try shelf.write(Shelf.model.replacing("name=\"age\" optional=\"YES\"", with: "name=\"age\""), to: "newer")
    let answer = shelf.run("fetch", "@store.sqlite", "Author", "--count", "--model", "@newer")
    #expect(answer.output == "2\n")
    #expect(
      answer.error.contains(
        "warning: 'store.sqlite' was written with another version of this model (changed: Author)"))
  }

  @Test func `A model that does not fit`() throws {
    try shelf.makeStore()
    try shelf.write(Shelf.model.replacing("name=\"age\"", with: "name=\"years\""), to: "other")
    let answer = shelf.run("fetch", "@store.sqlite", "Author", "--model", "@other")
    #expect(answer.code == .badInput)
    #expect(answer.error.contains("has no column ZYEARS"))
  }
}
