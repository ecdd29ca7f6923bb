import Foundation
import Testing

/// Links of a relationship that is its own inverse, stored one way only as in some of Apple's stores.
@Suite struct OneSidedLinkTests {
  private let shelf: Shelf

  private static let model = """
    <?xml version="1.0" encoding="UTF-8" standalone="yes"?>
    <model type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0">
        <entity name="Person" representedClassName="Person">
            <attribute name="name" optional="YES" attributeType="String"/>
            <relationship name="friends" optional="YES" toMany="YES" deletionRule="Nullify" destinationEntity="Person" inverseName="friends" inverseEntity="Person"/>
        </entity>
    </model>
    """

  private static let people = """
    {"$entity":"Person","$id":"Person/p1","name":"a","friends":["Person/p2","Person/p3"]}
    {"$entity":"Person","$id":"Person/p2","name":"b","friends":["Person/p1"]}
    {"$entity":"Person","$id":"Person/p3","name":"c","friends":["Person/p1","Person/p3"]}
    {"$entity":"Person","$id":"Person/p4","name":"d"}
    """

  /// Makes a store in which 1 leads to 3, but 3 not to 1, and 2 to 4, but 4 not to 2.
  init() throws {
    shelf = try Shelf()
    try shelf.write(Self.model, to: "people")
    try shelf.write(Self.people, to: "people.ndjson")
    let answer = shelf.run("import", "@people.ndjson", "--model", "@people", "--output", "@store.sqlite")
    #expect(answer.code == .success, "\(answer.error)")
    #expect(!answer.output.contains("completed"), "\(answer.output)")
    try shelf.damage("DELETE FROM Z_1FRIENDS WHERE Z_1FRIENDS = 3 AND REFLEXIVE = 1")
    try shelf.damage("INSERT INTO Z_1FRIENDS VALUES (2, 4)")
  }

  private func _export(_ store: String, _ output: String) throws -> String {
    let answer = shelf.run("export", "@" + store, "--output", "@" + output)
    #expect(answer.code == .success, "\(answer.error)")
    return try shelf.text(output)
  }

  @Test func `check warns of them`() throws {
    let answer = shelf.run("check", "@store.sqlite")
    #expect(answer.code == .success)
    #expect(
      answer.output.contains("warning: Z_1FRIENDS rows 2, 3 and 0 more")
        || answer.output.contains("one-sided-inverse"))
    #expect(
      answer.output.contains("2 pairs of Person.friends that stand there one way only"), "\(answer.output)")
    #expect(shelf.run("check", "@store.sqlite", "--strict").code == .badInput)
  }

  @Test func `an import that keeps them exports the same again`() throws {
    let first = try _export("store.sqlite", "first.ndjson")
    let answer = shelf.run(
      "import", "@first.ndjson", "--model", "@people", "--output", "@second.sqlite", "--keep-one-sided")
    #expect(answer.code == .success, "\(answer.error)")
    #expect(try _export("second.sqlite", "second.ndjson") == first)
    #expect(try shelf.value("SELECT COUNT(*) FROM Z_1FRIENDS", in: "second.sqlite") == .int(5))
  }

  @Test func `an import completes them, and says how many`() throws {
    _ = try _export("store.sqlite", "first.ndjson")
    let answer = shelf.run("import", "@first.ndjson", "--model", "@people", "--output", "@second.sqlite")
    #expect(answer.code == .success, "\(answer.error)")
    #expect(
      answer.output.contains("2 links of relationships that are their own inverse completed"),
      "\(answer.output)")
    #expect(shelf.run("check", "@second.sqlite", "--strict").code == .success)
    #expect(try shelf.value("SELECT COUNT(*) FROM Z_1FRIENDS", in: "second.sqlite") == .int(7))
  }

  @Test func `the number is in the JSON`() throws {
    _ = try _export("store.sqlite", "first.ndjson")
    let answer = shelf.run(
      "import", "@first.ndjson", "--model", "@people", "--output", "@second.sqlite", "--json")
    #expect((try answer.json() as? [String: Any])?["completedLinks"] as? Int == 2)
  }

  @Test func `a repair completes them`() throws {
    let answer = shelf.run("check", "@store.sqlite", "--repair", "--output", "@mended.sqlite")
    #expect(answer.code == .success, "\(answer.output)\(answer.error)")
    #expect(shelf.run("check", "@mended.sqlite", "--strict").code == .success)
  }

  @Test func `links of a store that objects are added to are not counted`() throws {
    try shelf.damage("INSERT INTO Z_1FRIENDS VALUES (3, 1), (4, 2)")
    try shelf.write(
      #"{"$entity":"Person","$id":"x","name":"e","friends":["y"]}"# + "\n"
        + #"{"$entity":"Person","$id":"y","name":"f","friends":["x"]}"#, to: "more.ndjson")
    let answer = shelf.run("import", "@more.ndjson", "--base", "@store.sqlite", "--output", "@second.sqlite")
    #expect(answer.code == .success, "\(answer.error)")
    #expect(!answer.output.contains("completed"), "\(answer.output)")
  }
}
