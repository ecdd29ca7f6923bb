import CoreData
import CoreDataPostgreSQLBinding
import Foundation
import PostgreSQLServer
import Testing

@testable import CoreDataPostgreSQL

/// Versions that leave something out: it is hidden while programs with the earlier version go on, and dropped by a contraction.
@Suite(.enabled(if: PostgreSQLServer.shared != nil, "\(PostgreSQLServer.absence)"))
struct ContractionTests {
  private let _url: URL
  private let _administration: PostgreSQLAdministration

  init() throws {
    _url = try #require(PostgreSQLServer.shared).newURL()
    _administration = try PostgreSQLAdministration(_url)
  }

  private enum Version {
    /// Books with pages and a year, their shelf, tags, cover and sequel.
    case full
    /// Books with a title, and shelves; without the links between them.
    case lean
    /// The same, and an attribute of an old and a new entity.
    case leanAndMore
    /// All of the first, and one more attribute.
    case fullAgain
    /// The lean one with pages of another type.
    case otherPages
  }

  private static func _model(_ version: Version) -> NSManagedObjectModel {
    let book = TestModel.entity("Book"), shelf = TestModel.entity("Shelf")
    book.properties = [TestModel.attribute("title", .stringAttributeType)]
    shelf.properties = [TestModel.attribute("name", .stringAttributeType)]
    let model = NSManagedObjectModel()
    model.entities = [book, shelf]
    if version == .full || version == .fullAgain {
      let pages = TestModel.attribute("pages", .integer32AttributeType)
      pages.isOptional = false
      pages.defaultValue = 5
      book.properties += [pages, TestModel.attribute("printed", .dateAttributeType)]
      let tag = TestModel.entity("Tag"), cover = TestModel.entity("Cover")
      tag.properties = [TestModel.attribute("text", .stringAttributeType)]
      cover.properties = [TestModel.attribute("text", .stringAttributeType)]
      model.entities += [tag, cover]
      TestModel.relate(book, "shelf", shelf, "books", toMany: (false, true))
      TestModel.relate(book, "tags", tag, "books", toMany: (true, true))
      TestModel.relate(book, "cover", cover, "book", toMany: (false, false))
      TestModel.relate(book, "sequel", book, "prequel", toMany: (false, false))
      book.relationshipsByName["cover"]!.deleteRule = .cascadeDeleteRule
      shelf.relationshipsByName["books"]!.deleteRule = .cascadeDeleteRule
    }
    switch version {
    case .leanAndMore:
      let reader = TestModel.entity("Reader")
      reader.properties = [TestModel.attribute("name", .stringAttributeType)]
      model.entities.append(reader)
      book.properties.append(TestModel.attribute("isbn", .stringAttributeType))
    case .fullAgain: book.properties.append(TestModel.attribute("isbn", .stringAttributeType))
    case .otherPages: book.properties.append(TestModel.attribute("pages", .stringAttributeType))
    case .full, .lean: break
    }
    return model
  }

  private func _open(_ version: Version) throws -> ServerStack {
    try ServerStack(
      Self._model(version), at: _url,
      options: [
        NSMigratePersistentStoresAutomaticallyOption: true, NSInferMappingModelAutomaticallyOption: true,
        NSPersistentHistoryTrackingKey: true,
      ])
  }

  private func _migrate(to version: Version) throws { try _administration.migrate(to: Self._model(version)) }

  /// Makes a store of the first version with two books, the second the sequel of the first.
  private func _fill() throws -> ServerStack {
    let stack = try _open(.full)
    try _change(stack) { context in
      let shelf = context.make("Shelf", ["name": "top"]), tag = context.make("Tag", ["text": "new"])
      let books = ["One", "Two"].map { title in
        context.make(
          "Book",
          [
            "title": title, "pages": 100, "shelf": shelf, "tags": Set([tag]),
            "cover": context.make("Cover", ["text": title]),
          ])
      }
      books[0].setValue(books[1], forKey: "sequel")
    }
    return stack
  }

  private func _change(_ stack: ServerStack, _ body: (NSManagedObjectContext) throws -> Void) throws {
    let context = stack.context()
    try context.performAndWait {
      try body(context)
      try context.save()
    }
  }

  private func _texts(_ entity: String, _ key: String, in stack: ServerStack) throws -> [String] {
    let context = stack.context()
    return try context.performAndWait {
      try context.all(entity, sortedBy: key).map { object in
        object.value(forKey: key).map { "\($0)" } ?? "-"
      }
    }
  }

  private func _book(_ title: String, _ context: NSManagedObjectContext) throws -> NSManagedObject {
    try #require(try context.all("Book", "title == '\(title)'").first)
  }

  private func _delete(_ title: String, in stack: ServerStack) throws {
    try _change(stack) { $0.delete(try _book(title, $0)) }
  }

  private func _columns(_ table: String) throws -> [String] {
    let session = try ServerSession(_url)
    var parameters = PostgreSQLParameters()
    parameters.add("\(session.schema).\(table)")
    let found = try session.connection.run(
      """
      SELECT attname::text FROM pg_attribute WHERE attrelid = to_regclass($1::text) AND attnum > 0 \
      AND NOT attisdropped ORDER BY attnum
      """, parameters)
    return (0..<found.rowCount).map { found.string($0, 0) }
  }

  private func _code(_ body: () throws -> Void) -> Int? {
    do {
      try body()
      return nil
    } catch {
      return (error as NSError).code
    }
  }

  // MARK: Side by side

  @Test func `a program with what a newer version leaves out goes on with it`() throws {
    let old = try _fill()
    try _migrate(to: .lean)
    try _change(old) { context in
      try _book("One", context).setValue(200, forKey: "pages")
      context.make(
        "Book", ["title": "Three", "pages": 300, "cover": context.make("Cover", ["text": "Three"])])
    }
    for stack in [old, try _open(.full)] {
      try #expect(_texts("Book", "pages", in: stack) == ["100", "200", "300"])
      try #expect(_texts("Cover", "text", in: stack) == ["One", "Three", "Two"])
    }
    try #expect(_texts("Book", "title", in: _open(.lean)) == ["One", "Three", "Two"])
  }

  @Test func `what newer programs insert has the defaults of what they do not know`() throws {
    let old = try _fill()
    try _migrate(to: .lean)
    try _change(_open(.lean)) { $0.make("Book", ["title": "New"]) }
    let context = old.context()
    try context.performAndWait {
      let book = try _book("New", context)
      #expect(book.value(forKey: "pages") as? Int == 5)
      #expect(book.value(forKey: "printed") == nil)
      #expect(book.value(forKey: "shelf") == nil)
      book.setValue("Newer", forKey: "title")
      try context.save()
    }
  }

  @Test func `a newer program's insertion does not need a value that an owner has made mandatory`() throws {
    _ = try _fill()
    let session = try ServerSession(_url)
    try session.connection.execute("UPDATE \(session.schema).book SET printed = 0")
    try session.connection.execute("ALTER TABLE \(session.schema).book ALTER printed SET NOT NULL")
    try _migrate(to: .lean)
    try _change(_open(.lean)) { $0.make("Book", ["title": "New"]) }
    try #expect(_texts("Book", "title", in: _open(.lean)) == ["New", "One", "Two"])
  }

  @Test func `a newer program's deletion clears the links that it does not know`() throws {
    let old = try _fill()
    try _migrate(to: .lean)
    try _delete("Two", in: _open(.lean))
    let context = try _open(.full).context()
    try context.performAndWait {
      let book = try _book("One", context)
      #expect(book.value(forKey: "sequel") == nil)
      let tag = try #require(try context.all("Tag").first)
      #expect((tag.value(forKey: "books") as? Set<NSManagedObject>)?.count == 1)
      #expect(try context.texts("Cover", "text") == ["One"])
    }
    _ = old
    try #expect(_administration.check { _, _ in } == [])
  }

  @Test func `a newer program's deletion keeps objects that it knows as their own`() throws {
    _ = try _fill()
    try _migrate(to: .lean)
    try _change(_open(.lean)) { $0.delete(try #require(try $0.all("Shelf").first)) }
    // The older version's Cascade would delete them.
    let context = try _open(.full).context()
    try context.performAndWait {
      let books = try context.all("Book", sortedBy: "title")
      #expect(books.map { $0.value(forKey: "title") as? String } == ["One", "Two"])
      #expect(books.allSatisfy { $0.value(forKey: "shelf") == nil })
    }
  }

  @Test func `an older program applies its own rules beside a newer one`() throws {
    let old = try _fill()
    try _migrate(to: .leanAndMore)
    try _change(old) { $0.delete(try #require(try $0.all("Shelf").first)) }
    try #expect(_texts("Book", "title", in: _open(.leanAndMore)) == [])
    try #expect(_texts("Cover", "text", in: old) == [])
  }

  @Test func `a newer program's history passes over what it does not know`() throws {
    let old = try _fill()
    try _migrate(to: .lean)
    let new = try _open(.lean)
    let token = new.coordinator.currentPersistentHistoryToken(fromStores: nil)
    try _change(old) { context in
      context.make("Cover", ["text": "loose"])
      try _book("One", context).setValue(7, forKey: "pages")
    }
    let context = new.context()
    let changes = try context.performAndWait {
      let result =
        try context.execute(NSPersistentHistoryChangeRequest.fetchHistory(after: token))
        as? NSPersistentHistoryResult
      let transactions = result?.result as? [NSPersistentHistoryTransaction] ?? []
      return transactions.flatMap { $0.changes ?? [] }.map { change in
        "\(change.changedObjectID.entity.name ?? "") \(change.updatedProperties?.count ?? 0)"
      }
    }
    #expect(changes == ["Book 0"])
  }

  // MARK: Coming back

  @Test func `a version that has again what one before left out finds it`() throws {
    _ = try _fill()
    try _migrate(to: .lean)
    try _change(_open(.lean)) { $0.make("Book", ["title": "New"]) }
    try _migrate(to: .fullAgain)
    let stack = try _open(.fullAgain)
    try #expect(_texts("Book", "pages", in: stack) == ["5", "100", "100"])
    try #expect(_texts("Cover", "text", in: stack) == ["One", "Two"])
    try #expect(_columns("book").contains("isbn"))
    // All three versions go on.
    try _change(_open(.full)) { $0.make("Book", ["title": "Full", "pages": 1]) }
    try _change(_open(.lean)) { $0.make("Book", ["title": "Lean"]) }
    try #expect(_texts("Book", "pages", in: stack) == ["1", "5", "5", "100", "100"])
    try #expect(_administration.status().hidden == [])
  }

  @Test func `a version that has the name of what is hidden for something else ends the earlier ones`() throws
  {
    let old = try _fill()
    try _migrate(to: .lean)
    _ = try _open(.otherPages)
    try #expect(_administration.status().versions.map(\.mayWrite) == [true, false, false])
    #expect(_code { try _delete("One", in: old) } == NSPersistentStoreIncompatibleVersionHashError)
    let stack = try _open(.otherPages)
    try _change(stack) { try _book("One", $0).setValue("many", forKey: "pages") }
    try #expect(_texts("Book", "pages", in: stack) == ["-", "many"])
    try #expect(_columns("cover") == [])
  }

  @Test func `a view shows what a later version adds after what it hides`() throws {
    _ = try _fill()
    try _migrate(to: .lean)
    try _migrate(to: .leanAndMore)
    let columns = try _columns("_readable_book")
    #expect(columns.contains("printed") && columns.last == "isbn", "\(columns)")
  }

  @Test func `an owner's unique index on what is left out ends the earlier version`() throws {
    _ = try _fill()
    let session = try ServerSession(_url)
    try session.connection.execute("UPDATE \(session.schema).book SET pages = id")
    try session.connection.execute("CREATE UNIQUE INDEX ON \(session.schema).book (pages)")
    guard case .refused = try _administration.outlook(of: Self._model(.lean)) else {
      Issue.record("the migration drops the column")
      return
    }
  }

  // MARK: Contracting

  @Test func `a contraction drops what is hidden, and ends the earlier version`() throws {
    let old = try _fill()
    try _migrate(to: .lean)
    let new = try _open(.lean)
    let hidden = [
      "Book.pages", "Book.printed", "Book.shelf", "Book.tags", "Book.cover", "Book.sequel", "Book.prequel",
    ]
    try #expect(Set(_administration.status().hidden) == Set(hidden + ["Shelf.books", "Tag", "Cover"]))
    try _administration.contract(to: Self._model(.lean))
    try #expect(_columns("book") == ["id", "entity", "version", "title"])
    try #expect(_columns("_readable_book") == ["id", "entity", "version", "title"])
    for table in ["tag", "cover", "book_tags"] { try #expect(_columns(table) == []) }
    #expect(_code { try _delete("One", in: old) } == NSPersistentStoreIncompatibleVersionHashError)
    #expect(_code { _ = try _open(.full) } == NSPersistentStoreIncompatibleVersionHashError)
    try _delete("One", in: new)
    try #expect(_texts("Book", "title", in: new) == ["Two"])
    try #expect(_administration.status().hidden == [])
    try #expect(_administration.check { _, _ in } == [])
  }

  @Test func `a program that reads what was dropped is told its version`() throws {
    let old = try _fill()
    try _migrate(to: .lean)
    try _administration.contract(to: Self._model(.lean))
    let context = old.context()
    let error = context.performAndWait { () -> NSError? in
      do {
        _ = try context.all("Book", "pages == 3")
        return nil
      } catch {
        return error as NSError
      }
    }
    #expect(error?.code == NSPersistentStoreIncompatibleVersionHashError, "\(String(describing: error))")
  }

  @Test func `a contraction leaves rights and rules of the present version`() throws {
    _ = try _fill()
    let session = try ServerSession(_url)
    for table in ["book", "_readable_book"] {
      try session.connection.execute("GRANT SELECT ON \(session.schema).\(table) TO PUBLIC")
    }
    try _migrate(to: .lean)
    try _administration.contract(to: Self._model(.lean))
    let granted = try session.number(
      """
      SELECT count(*) FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace, aclexplode(c.relacl) x \
      WHERE quote_ident(n.nspname) = $1::text AND c.relname IN ('book', '_readable_book') AND x.grantee = 0
      """, session.schema.contains("\"") ? PostgreSQLNames.plain(session.schema) : session.schema)
    #expect(granted == 2)
  }

  @Test func `a model that is not the store's version contracts nothing`() throws {
    _ = try _fill()
    try _migrate(to: .lean)
    try #expect(_administration.contraction(to: Self._model(.full)) == nil)
    #expect(_code { try _administration.contract(to: Self._model(.full)) } != nil)
    try #expect(_columns("book").contains("pages"))
  }

  @Test(.enabled(if: PostgreSQLServer.shared?.poolerPort == nil, "a pooler's connections hold no locks"))
  func `a contraction knows the connections of earlier versions`() throws {
    let old = try _fill()
    try _migrate(to: .lean)
    let new = try _open(.lean)
    _ = try _texts("Book", "title", in: new)
    let contraction = try #require(try _administration.contraction(to: Self._model(.lean)))
    #expect(contraction.earlier == [1])
    #expect(contraction.connections.count == 1, "\(contraction.connections)")
    #expect(contraction.connections.first?.hasPrefix("version 1: 'CoreData', role ") ?? false)
    try old.coordinator.remove(old.store)
    let isAlone = try ServerSession(_url).waits { _ in
      try _administration.contraction(to: Self._model(.lean))?.connections == []
    }
    #expect(isAlone)
    try #expect(_administration.status().versions.map(\.connectionCount) == [1, 0])
  }

  @Test func `a migration during which the store is contracted begins anew`() throws {
    _ = try _fill()
    try _migrate(to: .lean)
    let session = try ServerSession(_url)
    let schema = PostgreSQLNames.plain(session.schema)
    try session.connection.execute("BEGIN")
    try PostgreSQLStoreLock.acquire(schema, on: session.connection)
    let done = DispatchSemaphore(value: 0)
    let outcome = Outcome()
    let (administration, model) = (_administration, UncheckedModel(model: Self._model(.fullAgain)))
    Thread.detachNewThread {
      outcome.set(Result { try administration.migrate(to: model.model) })
      done.signal()
    }
    // It has read what is hidden by now.
    let isWaiting = try ServerSession(_url).waits {
      try $0.number(
        """
        SELECT count(*) FROM pg_locks l JOIN pg_stat_activity a ON a.pid = l.pid WHERE l.locktype = 'advisory' \
        AND NOT l.granted AND a.pid <> pg_backend_pid() \
        AND $1::text = '' AND (l.classid, l.objid) IN (SELECT classid, objid FROM pg_locks \
        WHERE locktype = 'advisory' AND granted AND pid = \(session.connection.processID))
        """, "") > 0
    }
    #expect(isWaiting)
    let layout = try Self._model(.lean).frozen().layout
    let numbers = try #require(try PostgreSQLTypes(session.connection, schema: schema))
      .numbers(for: layout, schema: schema)
    try PostgreSQLContraction(
      session.connection, schema: schema,
      PostgreSQLMapping.mapping(for: layout, schema: schema, numbers: numbers)
    ).run()
    try session.connection.execute("COMMIT")
    done.wait()
    try outcome.value.get()
    try #expect(_texts("Book", "pages", in: _open(.fullAgain)) == ["5", "5"])
  }
}

/// A model that a test passes to one thread.
private struct UncheckedModel: @unchecked Sendable {
  let model: NSManagedObjectModel
}

/// What a thread has come to.
private final class Outcome: @unchecked Sendable {
  private var _value: Result<Void, any Error> = .success(())
  private let _lock = NSLock()

  func set(_ value: Result<Void, any Error>) { _lock.withLock { _value = value } }

  var value: Result<Void, any Error> { _lock.withLock { _value } }
}
