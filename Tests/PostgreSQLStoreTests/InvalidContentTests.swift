import CoreData
import CoreDataPostgreSQLBinding
import Foundation
import PostgreSQLServer
import Testing

@testable import CoreDataPostgreSQL

/// Rows that no store writes, from other programs or damaged databases.
@Suite(.enabled(if: PostgreSQLServer.shared != nil, "\(PostgreSQLServer.absence)"))
struct InvalidContentTests {
  private let _stack: ServerStack
  private let _context: NSManagedObjectContext
  private let _session: ServerSession

  init() throws {
    _stack = try ServerStack()
    let context = _stack.context()
    _context = context
    _session = try ServerSession(_stack)
    try context.performAndWait {
      context.make("Person", ["firstName": "a", "wage": NSDecimalNumber(string: "1.5"), "height": 1.0])
      context.make("Note", ["text": "n"])
      try context.save()
      context.reset()
    }
  }

  private func _set(_ assignment: String, _ table: String = "person") throws {
    try _session.connection.execute("UPDATE \(_session.schema).\(table) SET \(assignment)")
  }

  @Test(arguments: [0, 99, -1]) func `an entity that the model lacks is an error`(_ number: Int) throws {
    try _set("entity = \(number)")
    _context.performAndWait {
      let error = #expect(throws: CocoaError.self) { try _context.all("Person") }
      #expect(error?.localizedDescription.contains("entity number \(number)") ?? false, "\(error as Any)")
    }
  }

  @Test func `an entity of another table is not found`() throws {
    // The number of an entity whose table is another one.
    let other = try _session.number(
      "SELECT min(entity) FROM \(_session.schema).note WHERE text = $1::text", "n")
    try _set("entity = \(other)")
    try _context.performAndWait { try #expect(_context.all("Person").isEmpty) }
  }

  @Test func `a number that is too large for a decimal is an error`() throws {
    try _set("wage = 1e200")
    _context.performAndWait {
      let error = #expect(throws: CocoaError.self) {
        try _context.all("Person").map { $0.value(forKey: "wage") }
      }
      #expect(error?.localizedDescription.contains("more than a decimal can") ?? false, "\(error as Any)")
    }
  }

  @Test(arguments: ["NaN", "Infinity", "-Infinity", "1e308"])
  func `every double is read`(_ text: String) throws {
    try _set("height = '\(text)'")
    try _context.performAndWait {
      let height = try #require(_context.all("Person").first?.value(forKey: "height") as? Double)
      #expect(height.description.lowercased() == Double(text)!.description.lowercased())
    }
  }

  @Test func `an object that is not there is no member`() throws {
    try _set("employer_id = 12345")
    try _context.performAndWait {
      let person = try #require(try _context.all("Person").first)
      let employer = try #require(person.value(forKey: "employer") as? NSManagedObject)
      #expect(throws: CocoaError.self) { try _context.existingObject(with: employer.objectID) }
      #expect(try _context.all("Person", "employer.name == 'x'").isEmpty)
    }
  }

  @Test(arguments: [Int64.min, -1, 0, Int64.max]) func `every number serves as a key`(_ key: Int64) throws {
    try _session.connection.execute("UPDATE \(_session.schema).note SET id = (\(key))::int8")
    try _context.performAndWait {
      let note = try #require(try _context.all("Note").first)
      note.setValue("changed", forKey: "text")
      try _context.save()
      #expect(
        try _session.number("SELECT count(*) FROM \(_session.schema).note WHERE text = $1::text", "changed")
          == 1)
    }
  }

  @Test func `metadata that cannot be read is an error`() throws {
    try _set("content = '\\xdeadbeef'", "_metadata")
    let error = #expect(throws: CocoaError.self) { try ServerStack(at: _stack.url) }
    #expect(error?.localizedDescription.contains("property list") ?? false, "\(error as Any)")
  }

  @Test func `a text with invalid bytes is read with replacements`() throws {
    let server = try #require(PostgreSQLServer.shared)
    let name = "spoiled_\(UUID().uuidString.prefix(8).lowercased())"
    try _session.connection.execute("CREATE DATABASE \(name) TEMPLATE template0")
    var components = try #require(
      URLComponents(url: server.directURL(_stack.url), resolvingAgainstBaseURL: false))
    components.path = "/\(name)"
    let url = try #require(components.url)
    let context = try ServerStack(at: url).context()
    try context.performAndWait {
      context.make("Note", ["text": "abc"])
      context.make("Person", ["firstName": "abc", "age": 3])
      try context.save()
      context.reset()
    }
    // A session begun meanwhile checks no bytes.
    let encoding = "UPDATE pg_catalog.pg_database SET encoding ="
    try _session.connection.execute("\(encoding) 0 WHERE datname = '\(name)'")
    do {
      let address = try PostgreSQLAddress(url)
      let spoiler = try PostgreSQLConnection(
        address.settings.merging(["client_encoding": "SQL_ASCII"]) { $1 })
      try spoiler.execute("UPDATE \(_session.schema).note SET text = E'a\\377b\\300'")
      try spoiler.execute("UPDATE \(_session.schema).person SET first_name = E'a\\377b\\300'")
    }
    try _session.connection.execute("\(encoding) 6 WHERE datname = '\(name)'")
    let reader = try ServerStack(at: url).context()
    try reader.performAndWait {
      #expect(try reader.texts("Note", "text") == ["a\u{FFFD}b\u{FFFD}"])
      let person = try #require(try reader.all("Person").first)
      #expect(person.value(forKey: "firstName") as? String == "a\u{FFFD}b\u{FFFD}")
      // Other properties are saved, and the text stays as it is.
      person.setValue(4, forKey: "age")
      try reader.save()
      // The server may refuse to compute with the text, but answers.
      for format in ["text ==[cd] 'a'", "text LIKE[c] '*b*'", "text CONTAINS 'b'"] {
        do { _ = try reader.all("Note", format) } catch { #expect(error is CocoaError, "\(error)") }
      }
    }
  }
}
