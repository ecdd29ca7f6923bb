import CoreData
import Foundation
import PostgreSQLServer
import Testing

@testable import CoreDataPostgreSQL

/// What `coredata postgres check` finds in rows that other programs have written.
@Suite(.enabled(if: PostgreSQLServer.shared != nil, "\(PostgreSQLServer.absence)"))
struct StoreCheckTests {
  private let _session: ServerSession
  private let _administration: PostgreSQLAdministration

  /// Makes a store with a company, two persons, of whom one is a student, a tag and a list.
  init() throws {
    let model = TestModel.make()
    let company = model.entitiesByName["Company"]!
    company.attributesByName["name"]!.isOptional = false
    let desk = TestModel.entity("Desk")
    desk.properties = [TestModel.attribute("place", .stringAttributeType)]
    TestModel.relate(desk, "boss", company, "desk", toMany: (false, false))
    model.entities.append(desk)
    let stack = try ServerStack(model)
    let context = stack.context()
    try context.performAndWait {
      let company = context.make("Company", ["name": "one"])
      let tag = context.make("Tag", ["name": "t"])
      for (entity, name) in [("Person", "Ada"), ("Student", "Bob")] {
        context.make(entity, ["firstName": name, "employer": company, "tags": Set([tag])])
      }
      context.make(
        "PlayList", ["title": "l", "tracks": NSOrderedSet(object: context.make("Track", ["title": "t"]))])
      context.make("Desk", ["place": "hall", "boss": company])
      company.setValue(Set([context.make("Note", ["text": "n"])]), forKey: "notes")
      try context.save()
    }
    _session = try ServerSession(stack)
    _administration = try PostgreSQLAdministration(stack.url)
  }

  private func _found(after sql: String...) throws -> [String] {
    for statement in sql {
      try _session.connection.execute(statement.replacing("$S", with: _session.schema))
    }
    return try _administration.check { _, _ in }
  }

  @Test func `a store that programs have written has no fault`() throws {
    var tables: [String] = []
    var last = 0.0
    let found = try _administration.check { fraction, table in
      #expect(fraction >= last && fraction < 1)
      last = fraction
      tables.append(table)
    }
    #expect(found == [])
    #expect(tables.contains("person") && tables.contains("person_tags"))
  }

  @Test func `a link to a row that is not there is found, with the keys of some that have it`() throws {
    try #expect(
      _found(after: "DELETE FROM $S.company", "DELETE FROM $S.desk") == [
        "note.company_notes_id: points at a row of company that is not there: 1 row, 1",
        "person.employer_id: points at a row of company that is not there: 2 rows, 1, 2",
      ])
  }

  @Test func `a pair without one of its ends is found`() throws {
    try #expect(
      _found(after: "DELETE FROM $S.tag") == [
        "person_tags.tag_id: points at a row of tag that is not there: 2 rows, 1, 1"
      ])
  }

  @Test func `an entity that the model does not have is found`() throws {
    try #expect(
      _found(after: "UPDATE $S.track SET entity = 99") == [
        "track: of an entity that the model does not have: 1 row, 1"
      ])
  }

  @Test func `a value that the model requires is found missing`() throws {
    try #expect(
      _found(after: "UPDATE $S.company SET name = NULL") == [
        "company.name: without a value, which the model requires: 1 row, 1"
      ])
  }

  @Test func `a one-to-one that does not point back is found`() throws {
    try #expect(
      _found(after: "UPDATE $S.company SET desk_id = NULL") == [
        "desk.boss_id: points at a row that does not point back: 1 row, 1"
      ])
  }

  @Test func `a key that the sequence will give again is found`() throws {
    try #expect(
      _found(
        after:
          "INSERT INTO $S.track (id, entity, version) SELECT n, entity, 1 FROM $S.track, generate_series(5000, 5009) n"
      )
        == [
          "track: has a key that will be given to a new object; set the sequence track_id_seq beyond it: 10 rows, "
            + "among them 5000, 5001, 5002, 5003, 5004"
        ])
    try #expect(_found(after: "SELECT setval('$S.track_id_seq', 6001)") == [])
  }

  @Test func `missing parts of the schema are told before rows are read`() throws {
    let found = try _found(after: "ALTER TABLE $S.track DROP COLUMN title CASCADE")
    #expect(found == ["the table 'track' has no column 'title' (text)"])
  }
}
