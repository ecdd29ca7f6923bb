import CoreData
import CoreDataPostgreSQLBinding
import Foundation
import PostgreSQLServer
import Testing

@testable import CoreDataPostgreSQL

/// Migrations that rename and remove: the tables are altered, and no row is written.
@Suite(.enabled(if: PostgreSQLServer.shared != nil, "\(PostgreSQLServer.absence)"))
final class AlteredTableTests: Sendable {
  private static var _migrating: [AnyHashable: Any] {
    [
      NSMigratePersistentStoresAutomaticallyOption: true, NSInferMappingModelAutomaticallyOption: true,
      NSPersistentHistoryTrackingKey: true,
    ]
  }

  private let _url: URL

  private let _bundle = Bundle.main.bundleURL.appendingPathComponent("Altered-\(UUID().uuidString).resources")
  /// The first version is found in the program by its hashes, so each test needs its own.
  private let _tag = UUID().uuidString

  init() throws {
    _url = try #require(PostgreSQLServer.shared).newURL()
    // A version that removes something is taken from a program that has the store's version, too.
    try _model().write(to: _bundle.appendingPathComponent("\(_tag).xcdatamodel"))
  }

  deinit { try? FileManager.default.removeItem(at: _bundle) }

  /// Books with two texts and a number, their writers, and tags of them.
  ///
  /// - Parameter change: Changes the entities before they are part of the model.
  private func _model(
    _ change: (_ book: NSEntityDescription, _ writer: NSEntityDescription, _ tag: NSEntityDescription) ->
      Void = {
        _, _, _ in
      }
  ) -> NSManagedObjectModel {
    let book = TestModel.entity("Book"), writer = TestModel.entity("Writer"), tag = TestModel.entity("Tag")
    book.properties = [
      TestModel.attribute("title", .stringAttributeType),
      TestModel.attribute("subtitle", .stringAttributeType),
      TestModel.attribute("pages", .integer32AttributeType),
    ]
    writer.properties = [TestModel.attribute("name", .stringAttributeType)]
    tag.properties = [TestModel.attribute("text", .stringAttributeType)]
    book.uniquenessConstraints = [["title"]]
    book.versionHashModifier = _tag
    TestModel.relate(book, "writer", writer, "books", toMany: (false, true))
    TestModel.relate(book, "tags", tag, "books", toMany: (true, true))
    change(book, writer, tag)
    let model = NSManagedObjectModel()
    model.entities = [book, writer, tag]
    return model
  }

  private static func _rename(_ name: String, _ other: String, of entity: NSEntityDescription) {
    let property = entity.propertiesByName[name]!
    property.name = other
    property.renamingIdentifier = name
  }

  /// Makes a store with two books of a writer, with a tag.
  private func _fill() throws -> ServerStack {
    let stack = try ServerStack(_model(), at: _url, options: Self._migrating)
    let context = stack.context()
    try context.performAndWait {
      let writer = context.make("Writer", ["name": "Ada"]), tag = context.make("Tag", ["text": "new"])
      for (number, title) in ["One", "Two"].enumerated() {
        context.make(
          "Book",
          [
            "title": title, "subtitle": "sub \(title)", "pages": 10 * (number + 1), "writer": writer,
            "tags": Set([tag]),
          ])
      }
      try context.save()
    }
    return stack
  }

  private func _migrate(to model: NSManagedObjectModel) throws -> ServerStack {
    try ServerStack(model, at: _url, options: Self._migrating)
  }

  /// Returns the files that hold the rows and the links, by which one sees whether these were written anew.
  private func _files(_ tables: [String]) throws -> [Int64] {
    let session = try ServerSession(_url)
    return try tables.map {
      try session.number("SELECT pg_relation_filenode($1::text::regclass)", "\(session.schema).\($0)")
    }
  }

  /// Returns what a query of one column gives.
  private func _texts(_ sql: (_ schema: String) -> String) throws -> [String] {
    let session = try ServerSession(_url)
    let found = try session.connection.run(sql(session.schema), isRepeated: false)
    return (0..<found.rowCount).map { found.string($0, 0) }
  }

  private func _values(_ entity: String, _ keys: [String], sortedBy key: String, in stack: ServerStack) throws
    -> [[String]]
  {
    let context = stack.context()
    return try context.performAndWait {
      try context.all(entity, sortedBy: key).map { object in
        keys.map { object.value(forKeyPath: $0).map { "\($0)" } ?? "-" }
      }
    }
  }

  // MARK: Properties

  @Test func `a renamed and a removed attribute leave the rows where they are`() throws {
    _ = try _fill()
    let before = try _files(["book", "writer", "book_tags"])
    let stack = try _migrate(
      to: _model { book, _, _ in
        Self._rename("title", "name", of: book)
        book.uniquenessConstraints = [["name"]]
        book.properties.removeAll { $0.name == "subtitle" }
      })
    try #expect(_files(["book", "writer", "book_tags"]) == before)
    try #expect(
      _values("Book", ["name", "pages", "writer.name"], sortedBy: "name", in: stack)
        == [["One", "10", "Ada"], ["Two", "20", "Ada"]])
    let columns = try _texts {
      """
      SELECT attname::text FROM pg_attribute WHERE attrelid = '\($0).book'::regclass AND attnum > 0 \
      AND NOT attisdropped ORDER BY 1
      """
    }
    #expect(columns == ["entity", "id", "name", "pages", "version", "writer_id"])
    let context = stack.context()
    context.performAndWait {
      context.make("Book", ["name": "One"])
      #expect(throws: CocoaError.self) { try context.save() }
    }
  }

  @Test func `attributes that swap their names swap their values`() throws {
    _ = try _fill()
    let before = try _files(["book"])
    let stack = try _migrate(
      to: _model { book, _, _ in
        Self._rename("title", "subtitle_", of: book)
        Self._rename("subtitle", "title", of: book)
        book.propertiesByName["subtitle_"]!.name = "subtitle"
        book.uniquenessConstraints = []
      })
    try #expect(_files(["book"]) == before)
    try #expect(
      _values("Book", ["title", "subtitle"], sortedBy: "title", in: stack)
        == [["sub One", "One"], ["sub Two", "Two"]])
  }

  @Test func `an attribute takes the name of one that gets another`() throws {
    _ = try _fill()
    let before = try _files(["book"])
    let stack = try _migrate(
      to: _model { book, _, _ in
        Self._rename("title", "name", of: book)
        Self._rename("subtitle", "title", of: book)
        book.uniquenessConstraints = []
      })
    try #expect(_files(["book"]) == before)
    try #expect(
      _values("Book", ["name", "title"], sortedBy: "name", in: stack)
        == [["One", "sub One"], ["Two", "sub Two"]])
  }

  @Test func `an attribute takes the name of a removed one`() throws {
    _ = try _fill()
    let before = try _files(["book"])
    let stack = try _migrate(
      to: _model { book, _, _ in
        book.properties.removeAll { $0.name == "subtitle" }
        Self._rename("title", "subtitle", of: book)
        book.uniquenessConstraints = []
      })
    try #expect(_files(["book"]) == before)
    try #expect(_values("Book", ["subtitle"], sortedBy: "subtitle", in: stack) == [["One"], ["Two"]])
  }

  @Test func `a new attribute beside a removed one has its default in all rows`() throws {
    _ = try _fill()
    let before = try _files(["book"])
    let stack = try _migrate(
      to: _model { book, _, _ in
        book.properties.removeAll { $0.name == "subtitle" }
        let rank = TestModel.attribute("rank", .integer16AttributeType)
        rank.isOptional = false
        rank.defaultValue = 7
        book.properties.append(rank)
      })
    try #expect(_files(["book"]) == before)
    try #expect(
      _values("Book", ["title", "rank"], sortedBy: "title", in: stack) == [["One", "7"], ["Two", "7"]])
  }

  @Test func `an attribute that moves up to the parent is empty in the parent's own rows`() throws {
    func model(_ version: Int) -> NSManagedObjectModel {
      let person = TestModel.entity("Person"), student = TestModel.entity("Student")
      person.versionHashModifier = _tag
      person.properties = [TestModel.attribute("name", .stringAttributeType)]
      person.subentities = [student]
      let rank = TestModel.attribute("rank", .integer32AttributeType)
      // The column that is added for students has the default in all rows.
      if version == 2 { rank.defaultValue = 7 }
      if version == 2 { student.properties = [rank] }
      if version == 3 { person.properties.append(rank) }
      let model = NSManagedObjectModel()
      model.entities = [person, student]
      return model
    }
    for version in 1...2 {
      try model(version).write(to: _bundle.appendingPathComponent("\(_tag)-\(version).xcdatamodel"))
    }
    let first = try ServerStack(model(1), at: _url, options: Self._migrating)
    let context = first.context()
    try context.performAndWait {
      context.make("Person", ["name": "Ada"])
      context.make("Student", ["name": "Bob"])
      try context.save()
    }
    _ = try _migrate(to: model(2))
    let stack = try _migrate(to: model(3))
    try #expect(
      _values("Person", ["name", "rank"], sortedBy: "name", in: stack) == [["Ada", "-"], ["Bob", "7"]])
  }

  @Test func `objects that are made after their table was copied have keys of their own`() throws {
    _ = try _fill()
    let stack = try _migrate(
      to: _model { book, _, _ in book.attributesByName["pages"]!.attributeType = .doubleAttributeType })
    let context = stack.context()
    try context.performAndWait {
      let former = try context.all("Book").map(\.objectID)
      for number in 0..<3 { context.make("Book", ["title": "New \(number)"]) }
      try context.save()
      try #expect(Set(context.all("Book").map(\.objectID)).count == former.count + 3)
    }
  }

  @Test func `an attribute of another type is copied`() throws {
    _ = try _fill()
    let before = try _files(["book", "writer"])
    let stack = try _migrate(
      to: _model { book, _, _ in book.attributesByName["pages"]!.attributeType = .doubleAttributeType })
    let after = try _files(["book", "writer"])
    #expect(after[0] != before[0])
    #expect(after[1] == before[1])
    try #expect(
      _values("Book", ["title", "pages", "writer.name"], sortedBy: "title", in: stack)
        == [["One", "10.0", "Ada"], ["Two", "20.0", "Ada"]])
  }

  @Test func `an attribute that becomes mandatory is checked where it is`() throws {
    _ = try _fill()
    let before = try _files(["writer"])
    func model() -> NSManagedObjectModel {
      _model { _, writer, _ in writer.attributesByName["name"]!.isOptional = false }
    }
    let session = try ServerSession(_url)
    try session.connection.execute("UPDATE \(session.schema).writer SET name = NULL")
    #expect(throws: (any Error).self) { try _migrate(to: model()) }
    try session.connection.execute("UPDATE \(session.schema).writer SET name = 'Eve'")
    let stack = try _migrate(to: model())
    try #expect(_files(["writer"]) == before)
    try #expect(_values("Writer", ["name"], sortedBy: "name", in: stack) == [["Eve"]])
  }

  // MARK: Constraints and indexes

  @Test func `a removed constraint no longer refuses, and an added one does`() throws {
    _ = try _fill()
    let before = try _files(["book"])
    let free = try _migrate(to: _model { book, _, _ in book.uniquenessConstraints = [] })
    let context = free.context()
    try context.performAndWait {
      let copy = context.make("Book", ["title": "One", "subtitle": "other"])
      try context.save()
      context.delete(copy)
      try context.save()
    }
    try free.coordinator.remove(free.store)
    let bound = try _migrate(to: _model { book, _, _ in book.uniquenessConstraints = [["subtitle"]] })
    try #expect(_files(["book"]) == before)
    let other = bound.context()
    other.performAndWait {
      other.make("Book", ["subtitle": "sub One"])
      #expect(throws: CocoaError.self) { try other.save() }
    }
  }

  @Test func `an altered store has the indexes of a new one, each once`() throws {
    func index(_ book: NSEntityDescription, _ name: String) {
      book.indexes = [
        NSFetchIndexDescription(
          name: "by",
          elements: [
            NSFetchIndexElementDescription(
              property: book.attributesByName[name]!, collationType: .binary)
          ])
      ]
    }
    func model() -> NSManagedObjectModel {
      _model { book, _, _ in
        Self._rename("title", "name", of: book)
        book.uniquenessConstraints = [["name"]]
        index(book, "subtitle")
      }
    }
    _ = try _fill()
    _ = try _migrate(to: model())
    func indexes(_ schema: String) throws -> [String] {
      try _texts { _ in
        """
        SELECT regexp_replace(indexdef, '(INDEX )\\S+( ON )\\S+\\.', '\\1\\2') FROM pg_indexes WHERE schemaname = \
        '\(PostgreSQLNames.plain(schema))' AND tablename IN ('book', 'writer', 'tag', 'book_tags') ORDER BY 1
        """
      }
    }
    let fresh = try ServerStack(model())
    try #expect(indexes(ServerSession(_url).schema) == indexes(ServerSession(fresh).schema))
  }

  // MARK: Entities and links

  @Test func `a renamed entity keeps its rows, links, keys and identifiers`() throws {
    let first = try _fill()
    let before = try _files(["book", "book_tags", "writer"])
    let context = first.context()
    let identifiers = try context.performAndWait {
      try context.all("Book", sortedBy: "title").map { $0.objectID.uriRepresentation().lastPathComponent }
    }
    let stack = try _migrate(
      to: _model { book, _, _ in
        book.name = "Volume"
        book.renamingIdentifier = "Book"
      })
    try #expect(_files(["volume", "tag_books", "writer"]) == before)
    let other = stack.context()
    try other.performAndWait {
      let volumes = try other.all("Volume", sortedBy: "title")
      #expect(volumes.map { $0.objectID.uriRepresentation().lastPathComponent } == identifiers)
      #expect(volumes.map { ($0.value(forKey: "tags") as? Set<NSManagedObject>)?.count } == [1, 1])
      let writer = try #require(try other.all("Writer").first)
      #expect((writer.value(forKey: "books") as? Set<NSManagedObject>) == Set(volumes))
      other.make("Volume", ["title": "Three", "writer": writer])
      try other.save()
      try #expect(other.texts("Volume", "title") == ["One", "Three", "Two"])
    }
    try #expect(
      _texts {
        "SELECT relname::text FROM pg_class WHERE relnamespace = '\($0)'::regnamespace AND relkind = 'S' ORDER BY 1"
      } == ["tag_id_seq", "volume_id_seq", "writer_id_seq"])
  }

  @Test func `a removed entity takes its table and its links along`() throws {
    _ = try _fill()
    let before = try _files(["book", "writer"])
    let full = _model { book, _, _ in
      book.properties.removeAll { $0.name == "tags" }
      // With an addition or a removal alone, what is left out would be hidden.
      book.uniquenessConstraints = []
    }
    let model = NSManagedObjectModel()
    model.entities = full.entities.filter { $0.name != "Tag" }.map { $0.copy() as! NSEntityDescription }
    let stack = try _migrate(to: model)
    try #expect(_files(["book", "writer"]) == before)
    try #expect(_values("Book", ["title", "writer.name"], sortedBy: "title", in: stack).count == 2)
    try #expect(
      _texts {
        "SELECT relname::text FROM pg_class WHERE relnamespace = '\($0)'::regnamespace AND relname ~ '^(tag|book_tags)'"
      } == [])
  }

  @Test func `a to-many that becomes a to-one takes a link of each owner`() throws {
    _ = try _fill()
    let stack = try _migrate(
      to: _model { book, _, tag in
        book.relationshipsByName["tags"]!.maxCount = 1
        Self._rename("tags", "tag", of: book)
        Self._rename("books", "volumes", of: tag)
      })
    try #expect(
      _values("Book", ["title", "tag.text"], sortedBy: "title", in: stack) == [
        ["One", "new"], ["Two", "new"],
      ])
  }

  // MARK: What belongs to a table

  @Test func `what an owner has added to a table stays`() throws {
    _ = try _fill()
    let session = try ServerSession(_url)
    for statement in [
      "CREATE INDEX own_index ON \(session.schema).book (pages)",
      "ALTER TABLE \(session.schema).book ADD COLUMN own text DEFAULT 'own'",
      "CREATE VIEW \(session.schema).own_view AS SELECT title FROM \(session.schema).book",
      "CREATE POLICY own_policy ON \(session.schema).book USING (true)",
    ] { try session.connection.execute(statement) }
    _ = try _migrate(
      to: _model { book, _, _ in
        Self._rename("title", "name", of: book)
        book.uniquenessConstraints = [["name"]]
      })
    try #expect(_texts { "SELECT title FROM \($0).own_view ORDER BY 1" } == ["One", "Two"])
    try #expect(_texts { "SELECT own FROM \($0).book" } == ["own", "own"])
    try #expect(
      _texts { _ in "SELECT polname::text FROM pg_policy WHERE polname = 'own_policy'" } == ["own_policy"])
    try #expect(
      _texts {
        "SELECT indexname::text FROM pg_indexes WHERE indexname = 'own_index' AND schemaname = trim('\($0)', '\"')"
      }
        == ["own_index"])
  }

  @Test func `rights to a column follow its name`() throws {
    _ = try _fill()
    let session = try ServerSession(_url)
    let role = PostgreSQLNames.quoted("\(PostgreSQLNames.plain(session.schema)) reader")
    try session.connection.execute("CREATE ROLE \(role)")
    try session.connection.execute("GRANT SELECT (title, subtitle) ON \(session.schema).book TO \(role)")
    _ = try _migrate(
      to: _model { book, _, _ in
        Self._rename("title", "name", of: book)
        book.uniquenessConstraints = [["name"]]
      })
    try #expect(
      _texts {
        """
        SELECT a.attname || ' ' || x.privilege_type FROM pg_attribute a, aclexplode(a.attacl) x \
        WHERE a.attrelid = '\($0).book'::regclass ORDER BY 1
        """
      } == ["name SELECT", "subtitle SELECT"])
  }

  @Test func `the history has the new names`() throws {
    let first = try _fill()
    let context = first.context()
    try context.performAndWait {
      try #require(try context.all("Book", "title == 'One'").first).setValue("Uno", forKey: "title")
      try context.save()
    }
    let stack = try _migrate(
      to: _model { book, _, _ in
        Self._rename("title", "name", of: book)
        book.uniquenessConstraints = [["name"]]
      })
    let other = stack.context()
    let names = try other.performAndWait {
      let request = NSPersistentHistoryChangeRequest.fetchHistory(after: Date.distantPast)
      let result = try other.execute(request) as? NSPersistentHistoryResult
      let transactions = result?.result as? [NSPersistentHistoryTransaction] ?? []
      return transactions.flatMap { $0.changes ?? [] }.flatMap { $0.updatedProperties ?? [] }.map(\.name)
    }
    #expect(names.contains("name"))
    #expect(!names.contains("title"))
  }

  @Test func `a removal waits for a reader without holding up others`() throws {
    let old = try _fill()
    let session = try ServerSession(_url)
    try session.connection.execute("BEGIN")
    try session.connection.execute("LOCK TABLE \(session.schema).book IN ACCESS SHARE MODE")
    let done = DispatchSemaphore(value: 0)
    nonisolated(unsafe) var failure: (any Error)?
    Thread.detachNewThread { [self] in
      do {
        _ = try _migrate(
          to: _model { book, _, _ in book.properties.removeAll { $0.name == "subtitle" } })
      } catch {
        failure = error
      }
      done.signal()
    }
    // Saves go on between the attempts.
    for number in 0..<5 {
      let context = old.context()
      try context.performAndWait {
        context.make("Book", ["title": "B\(number)"])
        try context.save()
      }
    }
    try session.connection.execute("COMMIT")
    try #require(done.wait(timeout: .now() + 120) == .success)
    #expect(failure == nil)
  }

  @Test func `constraints of an owner that are checked at the commit are no obstacle`() throws {
    _ = try _fill()
    let session = try ServerSession(_url)
    for statement in [
      """
      CREATE FUNCTION \(session.schema).look() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NULL; END $$
      """,
      """
      CREATE CONSTRAINT TRIGGER look AFTER INSERT OR UPDATE ON \(session.schema).writer DEFERRABLE INITIALLY DEFERRED \
      FOR EACH ROW EXECUTE FUNCTION \(session.schema).look()
      """,
    ] { try session.connection.execute(statement) }
    let stack = try _migrate(
      to: _model { _, writer, _ in
        // The rows get a value, and then a column is dropped.
        let count = NSDerivedAttributeDescription()
        (count.name, count.attributeType, count.isOptional) = ("bookCount", .integer64AttributeType, true)
        count.derivationExpression = NSExpression(format: "books.@count")
        writer.properties.removeAll { $0.name == "name" }
        writer.properties.append(count)
      })
    let context = stack.context()
    try context.performAndWait {
      try #expect(context.all("Writer").map { $0.value(forKey: "bookCount") as? Int } == [2])
    }
    try #expect(session.number("SELECT count(*) FROM pg_trigger WHERE tgname = $1::text", "look") == 1)
  }

  @Test func `an older program can no longer write after a renaming`() throws {
    let old = try _fill()
    _ = try _migrate(to: _model { book, _, _ in Self._rename("subtitle", "secondTitle", of: book) })
    let context = old.context()
    context.performAndWait {
      context.make("Book", ["title": "Three"])
      #expect { try context.save() } throws: {
        ($0 as NSError).code == NSPersistentStoreIncompatibleVersionHashError
      }
    }
  }
}
