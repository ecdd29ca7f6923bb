import CoreDataModelSchema
import Foundation
import Testing

@testable import CoreDataModelFiles

/// Malformed model files: each yields a model, or an error that says where and what to do.
@Suite("Hostile model files")
struct HostileModelTests {
  private func failure(_ xml: String) -> ModelFileError? {
    do {
      _ = try ModelContentsReader.read(Data(xml.utf8), path: "contents")
      return nil
    } catch {
      return error as? ModelFileError
    }
  }

  private func layoutFailure(_ xml: String) throws -> ModelLayoutError? {
    let schema = try ModelContentsReader.read(Data(xml.utf8), path: "contents")
    do {
      _ = try ModelLayout(schema)
      return nil
    } catch {
      return error as? ModelLayoutError
    }
  }

  private static let sound = """
    <?xml version="1.0" encoding="UTF-8"?>
    <model>
      <entity name="Author">
        <attribute name="name" optional="YES" attributeType="String"/>
        <relationship name="books" optional="YES" toMany="YES" destinationEntity="Book" inverseName="author"/>
      </entity>
      <entity name="Book">
        <relationship name="author" optional="YES" maxCount="1" destinationEntity="Author" inverseName="books"/>
      </entity>
    </model>
    """

  @Test func `A file cut off anywhere is an error with its line`() throws {
    let bytes = Array(Self.sound.utf8)
    for count in stride(from: 0, to: bytes.count - 8, by: 7) {
      let failure = failure(String(decoding: bytes.prefix(count), as: UTF8.self))
      let found = try #require(failure, "the first \(count) bytes were taken for a model")
      #expect(count == 0 || found.line ?? 0 >= 1)
    }
  }

  @Test func `A truncated file names the entity that is open`() throws {
    let cut = try #require(Self.sound.range(of: "<entity name=\"Book\">")).upperBound
    let found = try #require(failure(String(Self.sound[..<cut])))
    #expect(found.reason.contains("'entity', which begins in line 7, is not closed"))
  }

  @Test func `An unknown attribute type is located and the types listed`() throws {
    let found = try #require(failure(Self.sound.replacing("\"String\"", with: "\"Strin\"")))
    #expect(found.line == 4)
    #expect(found.reason.contains("'Strin' is not known"))
    #expect(found.reason.contains("String, "))
  }

  @Test func `A relationship to an entity that is not there is named`() throws {
    let found = try #require(
      try layoutFailure(Self.sound.replacing("destinationEntity=\"Book\"", with: "destinationEntity=\"Bok\""))
    )
    #expect((found.entity, found.property) == ("Author", "books"))
    #expect(found.reason.contains("'Bok' is not in the model"))
  }

  @Test func `An inverse that is not there is named`() throws {
    let found = try #require(
      try layoutFailure(Self.sound.replacing("inverseName=\"author\"", with: "inverseName=\"writer\"")))
    #expect(found.reason.contains("'writer' is not a relationship of 'Book'"))
  }

  @Test func `Parents in a circle are named in their order`() throws {
    let xml = """
      <model><entity name="D" parentEntity="C"/><entity name="C" parentEntity="A"/><entity name="A" parentEntity="B"/>
      <entity name="B" parentEntity="C"/></model>
      """
    let found = try #require(try layoutFailure(xml))
    #expect(found.reason.contains("A > B > C > A"))
    #expect(
      try layoutFailure("<model><entity name=\"A\" parentEntity=\"A\"/></model>")?.reason.contains("A > A")
        == true)
  }

  @Test func `Inheritance without measure is refused`() throws {
    let chain = (0..<3_000).map {
      "<entity name=\"E\($0)\"\($0 == 0 ? "" : " parentEntity=\"E\($0 - 1)\"")/>"
    }
    #expect(
      try layoutFailure("<model>\(chain.joined())</model>")?.reason.contains("entities above it") == true)
    // A few entities that would expand to a hundred million properties.
    let attributes = (0..<1_000).map { "<attribute name=\"a\($0)\" attributeType=\"String\"/>" }.joined()
    let wide = (0..<3_000).map { "<entity name=\"E\($0)\" parentEntity=\"Root\"/>" }
    let xml = "<model><entity name=\"Root\">\(attributes)</entity>\(wide.joined())</model>"
    #expect(try layoutFailure(xml)?.reason.contains("properties") == true)
  }

  @Test(
    arguments: [
      "<!DOCTYPE m [<!ENTITY a \"b\">]><model/>",
      "<!DOCTYPE m [<!ENTITY a0 \"ha\"><!ENTITY a1 \"&a0;&a0;\"><!ENTITY a2 \"&a1;&a1;\">]><model><entity name=\"&a2;\"/></model>",
      "<!DOCTYPE m [<!ENTITY a SYSTEM \"file:///dev/zero\">]><model><entity name=\"&a;\"/></model>",
      "<!DOCTYPE m [<!ENTITY % p SYSTEM \"http://127.0.0.1:1/x\"> %p;]><model/>",
    ])
  func `Entities of XML are refused before anything is made of them`(xml: String) {
    #expect(failure(xml)?.reason.contains("document type") == true)
  }

  @Test func `Ten thousand entities load, lay out and round-trip`() throws {
    let count = 10_000
    var xml = "<model>"
    for number in 0..<count {
      let next = (number + 1) % count, last = (number + count - 1) % count
      xml +=
        "<entity name=\"E\(number)\"\(number % 10 == 0 ? "" : " parentEntity=\"E\(number - number % 10)\"")>"
      xml += "<attribute name=\"a\(number)\" optional=\"YES\" attributeType=\"String\"/>"
      xml +=
        "<relationship name=\"n\(number)\" optional=\"YES\" maxCount=\"1\" destinationEntity=\"E\(next)\" "
      xml += "inverseName=\"p\(next)\"/><relationship name=\"p\(number)\" optional=\"YES\" maxCount=\"1\" "
      xml += "destinationEntity=\"E\(last)\" inverseName=\"n\(last)\"/></entity>"
    }
    xml += "</model>"
    let schema = try ModelContentsReader.read(Data(xml.utf8), path: "contents")
    let layout = try ModelLayout(schema)
    #expect(layout.layouts.count == count)
    #expect(layout.layoutsByName["E19"]?.slots.count == 6)
    let again = try ModelContentsReader.read(
      Data(try ModelContentsWriter.write(schema).utf8), path: "contents")
    #expect(again == schema.canonical())
    #expect(again.entityVersionHashes() == schema.entityVersionHashes())
  }

  @Test func `A file of one line has places, too`() throws {
    let file = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
    defer { try? FileManager.default.removeItem(at: file) }
    let entities = (0..<3_000).map {
      "<entity name=\"E\($0)\"><attribute name=\"a\" attributeType=\"String\"/></entity>"
    }
    try Data("<model>\(entities.joined())</model>".utf8).write(to: file)
    let place = try #require(try ModelPlaces(path: file.path).place(entity: "E2999", property: "a"))
    #expect(place.line == 1)
    #expect(place.text.isEmpty)
  }

  @Test func `Line ends of other systems do not shift places`() throws {
    let file = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
    defer { try? FileManager.default.removeItem(at: file) }
    try Data(Self.sound.replacing("\n", with: "\r\n").utf8).write(to: file)
    let place = try #require(try ModelPlaces(path: file.path).place(entity: "Book"))
    #expect(place.line == 7)
    #expect(place.text == "  <entity name=\"Book\">")
  }
}
