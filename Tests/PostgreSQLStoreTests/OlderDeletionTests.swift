import CoreData
import CoreDataPostgreSQLBinding
import Foundation
import PostgreSQLServer
import Testing

@testable import CoreDataPostgreSQL

/// A program with an older version of the model deletes objects to which relationships of the newer version link, while
/// programs with both versions use the store.
@Suite(.enabled(if: PostgreSQLServer.shared != nil, "\(PostgreSQLServer.absence)"))
struct OlderDeletionTests {
  private static var _options: [AnyHashable: Any] {
    [
      NSMigratePersistentStoresAutomaticallyOption: true, NSInferMappingModelAutomaticallyOption: true,
      NSPersistentHistoryTrackingKey: true,
    ]
  }

  private let _url: URL

  init() throws { _url = try #require(PostgreSQLServer.shared).newURL() }

  enum Version: Int { case first, second, third }

  /// People, students and companies; in the second version with all that may be related to them, in the third with
  /// pages of the second version's notes.
  private static func _model(_ version: Version) -> NSManagedObjectModel {
    let person = TestModel.entity("Person"), student = TestModel.entity("Student")
    let company = TestModel.entity("Company")
    for entity in [person, company] {
      entity.properties = [TestModel.attribute("name", .stringAttributeType)]
    }
    person.subentities = [student]
    TestModel.relate(company, "boss", person, "leads", toMany: (false, true))
    let model = NSManagedObjectModel()
    model.entities = [person, student, company]
    guard version != .first else { return model }
    let others = ["Note", "Line", "Badge", "Label", "Memo"].map(TestModel.entity)
    for entity in others { entity.properties = [TestModel.attribute("name", .stringAttributeType)] }
    let (note, line, badge, label) = (others[0], others[1], others[2], others[3])
    model.entities += others
    TestModel.relate(person, "notes", note, "author", toMany: (true, false), ordered: (true, false))
    TestModel.relate(note, "lines", line, "note", toMany: (true, false))
    TestModel.relate(person, "badge", badge, "bearer", toMany: (false, false))
    TestModel.relate(person, "labels", label, "people", toMany: (true, true))
    TestModel.relate(person, "pupils", person, "mentor", toMany: (true, false))
    TestModel.relate(company, "guests", person, "host", toMany: (true, false))
    company.properties.append(TestModel.relationship("memos", others[4], toMany: true, ordered: false))
    for (entity, name) in [(person, "notes"), (note, "lines"), (company, "guests")] {
      entity.relationshipsByName[name]!.deleteRule = .cascadeDeleteRule
    }
    guard version == .third else { return model }
    let page = TestModel.entity("Page")
    page.properties = [TestModel.attribute("name", .stringAttributeType)]
    model.entities.append(page)
    TestModel.relate(note, "pages", page, "note", toMany: (true, false))
    note.relationshipsByName["pages"]!.deleteRule = .cascadeDeleteRule
    return model
  }

  private func _open(_ version: Version) throws -> ServerStack {
    try ServerStack(Self._model(version), at: _url, options: Self._options)
  }

  /// Deletes the objects of a name.
  private func _delete(_ entity: String, _ name: String, in stack: ServerStack) throws {
    let context = stack.context()
    try context.performAndWait {
      for object in try context.all(entity, "name == '\(name)'") { context.delete(object) }
      try context.save()
    }
  }

  /// Makes objects that are linked to a new one, and saves.
  private func _link(
    _ entity: String, _ name: String, in stack: ServerStack,
    _ make: (NSManagedObjectContext, NSManagedObject) -> Void
  ) throws {
    let context = stack.context()
    try context.performAndWait {
      make(context, context.make(entity, ["name": name]))
      try context.save()
    }
  }

  /// The name at the other end of a to-one of each object of an entity, by name; "" for none.
  private func _ends(_ entity: String, _ relationship: String, in stack: ServerStack) throws -> [String:
    String]
  {
    let context = stack.context()
    return try context.performAndWait {
      let objects = try context.all(entity)
      return Dictionary(
        uniqueKeysWithValues: objects.map { object in
          let end = object.value(forKey: relationship) as? NSManagedObject
          return (object.value(forKey: "name") as? String ?? "", end?.value(forKey: "name") as? String ?? "")
        })
    }
  }

  private func _names(_ entity: String, in stack: ServerStack) throws -> [String] {
    let context = stack.context()
    return try context.performAndWait { try context.texts(entity, "name") }
  }

  /// Rows of a join table.
  private func _pairs(_ table: String) throws -> Int64 {
    let session = try ServerSession(_url)
    return try session.connection.run("SELECT count(*) FROM \(session.schema).\(table)", isRepeated: false)
      .int64(0, 0)
  }

  // MARK: Rules

  @Test(arguments: ["Person", "Student"])
  func `a new relationship's cascade deletes what the older program does not know`(_ entity: String) throws {
    let old = try _open(.first)
    let new = try _open(.second)
    for name in ["Ada", "Bob"] {
      try _link(entity, name, in: new) { context, person in
        let note = context.make("Note", ["name": "note of \(name)", "author": person])
        context.make("Line", ["name": "line of \(name)", "note": note])
      }
    }
    try _delete("Person", "Ada", in: old)
    try #expect(_names("Person", in: _open(.second)) == ["Bob"])
    try #expect(_names("Note", in: _open(.second)) == ["note of Bob"])
    try #expect(_names("Line", in: _open(.second)) == ["line of Bob"])
  }

  @Test func `a new relationship's nullify clears the links to what the older program deletes`() throws {
    let old = try _open(.first)
    let new = try _open(.second)
    try _link("Person", "Ada", in: new) { context, person in
      context.make("Badge", ["name": "badge", "bearer": person])
      context.make("Person", ["name": "Bob", "mentor": person])
      context.make("Label", ["name": "label", "people": Set([person])])
    }
    try #expect(_pairs("label_people") == 1)
    try _delete("Person", "Ada", in: old)
    let fresh = try _open(.second)
    try #expect(_ends("Badge", "bearer", in: fresh) == ["badge": ""])
    try #expect(_ends("Person", "mentor", in: fresh) == ["Bob": ""])
    try #expect(_names("Label", in: fresh) == ["label"])
    try #expect(_pairs("label_people") == 0)
  }

  @Test func `an older program that follows the history shows what the server has done for it`() throws {
    let following: [AnyHashable: Any] = [
      NSPostgreSQLFollowsHistoryOption: true, NSPostgreSQLRowAgeOption: -1,
    ]
    let old = try ServerStack(
      Self._model(.first), at: _url, options: Self._options.merging(following) { $1 })
    let new = try _open(.second)
    try _link("Company", "Acme", in: new) { context, company in
      context.make("Person", ["name": "Gus", "host": company])
    }
    let reader = old.context()
    let guest = try reader.performAndWait { try #require(try reader.all("Person").first).objectID }
    let engine = try #require(old.store.engine as? PostgreSQLStoreEngine)
    let follower = try #require(engine.follower)
    _ = try follower.follow(engine)
    // Caches the row anew.
    _ = try reader.performAndWait { try reader.all("Person").count }
    try _delete("Company", "Acme", in: old)
    _ = try follower.follow(engine)
    let isThere = reader.performAndWait { (try? reader.existingObject(with: guest)) != nil }
    #expect(!isThere)
  }

  @Test func `a new to-many without inverse forgets the owner that the older program deletes`() throws {
    let old = try _open(.first)
    let new = try _open(.second)
    try _link("Company", "Acme", in: new) { context, company in
      company.setValue(Set([context.make("Memo", ["name": "memo"])]), forKey: "memos")
    }
    try _delete("Company", "Acme", in: old)
    let session = try ServerSession(_url)
    let linked = try session.connection.run(
      "SELECT count(company_memos_id), count(*) FROM \(session.schema).memo", isRepeated: false)
    #expect(linked.int64(0, 0) == 0)
    #expect(linked.int64(0, 1) == 1)
  }

  @Test func `a cascade goes on through relationships that the older program knows`() throws {
    let old = try _open(.first)
    let new = try _open(.second)
    try _link("Company", "Acme", in: new) { context, company in
      let guest = context.make("Person", ["name": "Ada", "host": company])
      context.make("Company", ["name": "Other", "boss": guest])
      context.make("Note", ["name": "note", "author": guest])
    }
    try _delete("Company", "Acme", in: old)
    let fresh = try _open(.second)
    try #expect(_names("Person", in: fresh) == [])
    try #expect(_names("Note", in: fresh) == [])
    try #expect(_ends("Company", "boss", in: fresh) == ["Other": ""])
  }

  @Test func `each version adds rules for those before it`() throws {
    let first = try _open(.first)
    let second = try _open(.second)
    let third = try _open(.third)
    for name in ["Ada", "Bob", "Cyd"] {
      try _link("Person", name, in: third) { context, person in
        let note = context.make("Note", ["name": name, "author": person])
        context.make("Page", ["name": name, "note": note])
      }
    }
    try _delete("Person", "Ada", in: first)
    try #expect(_names("Page", in: _open(.third)) == ["Bob", "Cyd"])
    try _delete("Note", "Bob", in: second)
    try #expect(_names("Page", in: _open(.third)) == ["Cyd"])
    try #expect(_names("Person", in: _open(.third)) == ["Bob", "Cyd"])
  }

  @Test func `a batch of the older program follows the newer rules`() throws {
    let old = try _open(.first)
    let new = try _open(.second)
    try _link("Person", "Ada", in: new) { context, person in
      context.make("Note", ["name": "note", "author": person])
      context.make("Badge", ["name": "badge", "bearer": person])
    }
    let context = old.context()
    try context.performAndWait {
      _ = try context.execute(
        NSBatchDeleteRequest(fetchRequest: NSFetchRequest<any NSFetchRequestResult>(entityName: "Person")))
    }
    try #expect(_names("Note", in: _open(.second)) == [])
    try #expect(_ends("Badge", "bearer", in: _open(.second)) == ["badge": ""])
  }

  // MARK: Beside it

  @Test func `what the older program saves along with a deletion is stored`() throws {
    let old = try _open(.first)
    let new = try _open(.second)
    try _link("Person", "Ada", in: new) { context, person in
      context.make("Person", ["name": "Bob", "mentor": person])
      context.make("Company", ["name": "Acme", "boss": person])
    }
    let context = old.context()
    try context.performAndWait {
      context.delete(try #require(try context.all("Person", "name == 'Ada'").first))
      try #require(try context.all("Person", "name == 'Bob'").first).setValue("Eve", forKey: "name")
      context.make("Person", ["name": "Cyd"])
      try context.save()
      // Its rows are still the ones that it knows.
      try #require(try context.all("Person", "name == 'Eve'").first).setValue("Eva", forKey: "name")
      try context.save()
    }
    try #expect(_ends("Person", "mentor", in: _open(.second)) == ["Eva": "", "Cyd": ""])
    try #expect(_ends("Company", "boss", in: _open(.second)) == ["Acme": ""])
  }

  @Test func `the newer program deletes as it does alone`() throws {
    _ = try _open(.first)
    let new = try _open(.second)
    try _link("Person", "Ada", in: new) { context, person in
      let note = context.make("Note", ["name": "note", "author": person])
      context.make("Line", ["name": "line", "note": note])
      context.make("Person", ["name": "Bob", "mentor": person])
    }
    try _delete("Person", "Ada", in: new)
    try #expect(_names("Note", in: new) == [])
    try #expect(_names("Line", in: new) == [])
    let session = try ServerSession(_url)
    // One version for the insertion and one for the cleared link.
    try #expect(
      session.number("SELECT version FROM \(session.schema).person WHERE name = $1::text", "Bob") == 2)
    try _link("Person", "Cyd", in: new) { _, _ in }
    try #expect(_ends("Person", "mentor", in: new) == ["Bob": "", "Cyd": ""])
  }

  @Test func `the triggers run for the older program alone`() throws {
    let old = try _open(.first)
    let new = try _open(.second)
    for name in ["Ada", "Bob"] { try _link("Company", name, in: new) { _, _ in } }
    let session = try ServerSession(_url)
    let found = try session.connection.run(
      "SELECT tgname::text FROM pg_trigger WHERE tgrelid = '\(session.schema).company'::regclass AND tgname ~ '^_rule_'",
      isRepeated: false)
    try #require(found.rowCount == 1)
    try session.connection.execute(
      """
      CREATE OR REPLACE FUNCTION \(session.schema).\(found.string(0, 0))() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN RAISE EXCEPTION 'it runs'; END $$
      """)
    try _delete("Company", "Ada", in: new)
    #expect(throws: NSError.self) { try _delete("Company", "Bob", in: old) }
    try #expect(_names("Company", in: new) == ["Bob"])
  }

  @Test func `a save of the newer program conflicts with what the server has cleared for the older one`()
    throws
  {
    let old = try _open(.first)
    let new = try _open(.second)
    try _link("Person", "Ada", in: new) { context, person in
      context.make("Badge", ["name": "badge", "bearer": person])
    }
    let context = new.context()
    try context.performAndWait {
      let badge = try #require(try context.all("Badge").first)
      badge.setValue("changed", forKey: "name")
      try _delete("Person", "Ada", in: old)
      let error = #expect(throws: NSError.self) { try context.save() }
      #expect(error?.code == NSManagedObjectMergeError)
      context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
      try context.save()
      #expect(badge.value(forKey: "bearer") == nil)
    }
    try #expect(_ends("Badge", "bearer", in: _open(.second)) == ["changed": ""])
  }

  @Test func `the history has what the server has done for the older program`() throws {
    let old = try _open(.first)
    let new = try _open(.second)
    try _link("Person", "Ada", in: new) { context, person in
      context.make("Note", ["name": "note", "author": person])
      context.make("Badge", ["name": "badge", "bearer": person])
    }
    func changes(_ stack: ServerStack) throws -> [String] {
      let context = stack.context()
      return try context.performAndWait {
        let request = NSPersistentHistoryChangeRequest.fetchHistory(after: Date.distantPast)
        let result = try context.execute(request) as? NSPersistentHistoryResult
        let last = (result?.result as? [NSPersistentHistoryTransaction])?.last
        return (last?.changes ?? []).map { change in
          let names = (change.updatedProperties ?? []).map(\.name).sorted().joined(separator: ",")
          return "\(change.changedObjectID.entity.name ?? "") \(change.changeType.rawValue) \(names)"
        }.sorted()
      }
    }
    try _delete("Person", "Ada", in: old)
    try #expect(changes(new) == ["Badge 1 bearer", "Note 2 ", "Person 2 "])
    try #expect(changes(old) == ["Person 2 "])
    // The numbers go on.
    try _delete("Badge", "badge", in: new)
    try #expect(changes(new) == ["Badge 2 "])
  }

  @Test func `a migration that ends the older versions drops the triggers`() throws {
    _ = try _open(.first)
    _ = try _open(.second)
    let session = try ServerSession(_url)
    func triggers() throws -> Int64 {
      try session.number(
        """
        SELECT count(*) FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid
        WHERE c.relnamespace = $1::text::regnamespace AND t.tgname ~ '^_rule_'
        """, session.schema)
    }
    try #expect(triggers() == 3)
    let model = Self._model(.second)
    let teacher = TestModel.entity("Teacher")
    model.entitiesByName["Person"]!.subentities.append(teacher)
    model.entities.append(teacher)
    _ = try ServerStack(model, at: _url, options: Self._options)
    try #expect(triggers() == 0)
    let functions = try session.number(
      """
      SELECT count(*) FROM pg_proc WHERE pronamespace = $1::text::regnamespace AND proname ~ '^_rule_'
      """, session.schema)
    #expect(functions == 0)
  }

  @Test func `a relationship that must have a value ends the older version`() throws {
    let old = try _open(.first)
    let model = Self._model(.second)
    model.entitiesByName["Person"]!.relationshipsByName["badge"]!.isOptional = false
    _ = try ServerStack(model, at: _url, options: Self._options)
    #expect(throws: NSError.self) { try _link("Person", "Ada", in: old) { _, _ in } }
  }

  @Test func `programs of both versions delete, link and count at once`() async throws {
    let old = try _open(.first)
    let new = try _open(.second)
    let names = (0..<40).map { "P\($0)" }
    for name in names {
      try _link("Person", name, in: new) { context, person in
        context.make("Note", ["name": name, "author": person])
      }
    }
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask {
        for name in names.reversed() {
          // The newer program may have linked the person between the fetch and the save.
          for attempt in 1...1000 {
            do {
              try _delete("Person", name, in: old)
              break
            } catch let error as NSError where error.code == NSManagedObjectMergeError && attempt < 1000 {}
          }
        }
      }
      group.addTask {
        for name in names {
          let context = new.context()
          try context.performAndWait {
            guard let person = try context.all("Person", "name == '\(name)'").first else { return }
            context.make("Badge", ["name": name, "bearer": person])
            // The person may be gone by then.
            do { try context.save() } catch let error as NSError where error.code == NSManagedObjectMergeError
            {}
          }
        }
      }
      try await group.waitForAll()
    }
    let fresh = try _open(.second)
    try #expect(_names("Person", in: fresh) == [])
    try #expect(_names("Note", in: fresh) == [])
    try #expect(_ends("Badge", "bearer", in: fresh).values.allSatisfy { $0 == "" })
    let session = try ServerSession(_url)
    let dangling = try session.connection.run(
      "SELECT count(*) FROM \(session.schema).badge WHERE bearer_id IS NOT NULL", isRepeated: false)
    #expect(dangling.int64(0, 0) == 0)
  }
}
