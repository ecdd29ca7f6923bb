import CoreData
import CoreDataPostgreSQLBinding
import Foundation
import PostgreSQLServer
import Testing

@testable import CoreDataPostgreSQL

/// The number of round trips of an operation, independent of the number of objects.
@Suite(.enabled(if: PostgreSQLServer.shared != nil, "\(PostgreSQLServer.absence)"))
struct StatementTests {
  private let _stack: ServerStack
  private let _engine: PostgreSQLStoreEngine

  init() throws { try self.init(at: nil) }

  private init(at url: URL?, options: [AnyHashable: Any] = [:]) throws {
    // A single connection, which runs all statements.
    _stack = try ServerStack(
      at: url, options: options.merging([NSPersistentStoreConnectionPoolMaxSizeKey: 1]) { $1 })
    _engine = try #require(_stack.store.engine as? PostgreSQLStoreEngine)
    // Old receipts are deleted on the same connection, after any of many saves.
    _engine.receipts.beginInterval()
  }

  /// Returns the number of statements that `body` runs.
  private func _statements(_ body: () throws -> Void) throws -> Int {
    let before = try _engine.pool.withConnection("a test") { $0.statementCount }
    try body()
    return try _engine.pool.withConnection("a test") { $0.statementCount } - before
  }

  private func _fill(_ context: NSManagedObjectContext, _ count: Int) throws {
    for number in 0..<count { context.make("Company", ["name": "\(number)"]) }
    try context.save()
  }

  @Test(arguments: [1, 49]) func `a save of insertions takes two round trips`(_ count: Int) throws {
    let context = _stack.context()
    try context.performAndWait {
      // Acquires a block of keys.
      try _fill(context, 1)
      let statements = try _statements { try _fill(context, count) }
      #expect(statements == 2, "BEGIN with the receipt and INSERT, COMMIT")
    }
  }

  @Test(arguments: ["", "&pooler=transaction"])
  func `a save of objects with permanent IDs is one round trip, unless a pooler's server is looked at first`(
    _ item: String
  ) throws {
    let server = try #require(PostgreSQLServer.shared)
    let url = server.directURL(server.newURL())
    let tests = try Self(at: URL(string: url.absoluteString + item))
    let context = tests._stack.context()
    try context.performAndWait {
      let company = context.make("Company", ["name": "a"])
      try context.obtainPermanentIDs(for: [company])
      let statements = try tests._statements { try context.save() }
      #expect(statements == (item.isEmpty ? 1 : 2))
      #expect(try context.texts("Company", "name") == ["a"])
    }
  }

  @Test(arguments: [50, 500]) func `a save of many insertions goes by COPY`(_ count: Int) throws {
    let context = _stack.context()
    try context.performAndWait {
      try _fill(context, 1)
      let statements = try _statements { try _fill(context, count) }
      #expect(statements == 3, "BEGIN with the receipt, COPY, COMMIT")
    }
  }

  @Test(arguments: [(1, 1), (2, 2), (255, 2), (256, 3)])
  func `a save of updates takes one more to lock several rows, and one to count many`(
    _ count: Int, _ expected: Int
  ) throws {
    // Behind a pooler the server is looked at with the first statement, and COMMIT is sent alone.
    let server = try #require(PostgreSQLServer.shared)
    let tests = try Self(at: server.directURL(server.newURL()))
    let context = tests._stack.context()
    try context.performAndWait {
      try tests._fill(context, count)
      for object in try context.all("Company") { object.setValue("new", forKey: "name") }
      let statements = try tests._statements { try context.save() }
      #expect(statements == expected, "BEGIN with the receipt and SELECT FOR UPDATE, UPDATE with COMMIT")
    }
  }

  @Test func `a save of an object with a new member takes no more than the member alone`() throws {
    let context = _stack.context()
    try context.performAndWait {
      let company = context.make("Company", ["name": "a"])
      context.make("Person", ["firstName": "first"]).setValue(company, forKey: "employer")
      try context.save()
      context.make("Person", ["firstName": "second"]).setValue(company, forKey: "employer")
      let statements = try _statements { try context.save() }
      #expect(statements == 2, "BEGIN with the receipt, UPDATE and INSERT, COMMIT")
    }
  }

  @Test func `a save of one object whose row has changed looks at it`() throws {
    let (context, other) = (_stack.context(), _stack.context())
    try context.performAndWait { try _fill(context, 1) }
    func change(_ name: String, in context: NSManagedObjectContext) throws {
      try context.performAndWait {
        let company = try #require(try context.all("Company").first)
        company.setValue(name, forKey: "name")
      }
    }
    try change("mine", in: context)
    try change("theirs", in: other)
    try other.performAndWait { try other.save() }
    try context.performAndWait {
      let error = #expect(throws: CocoaError.self) { try context.save() }
      #expect(error?.code == .managedObjectMerge)
      context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
      try context.save()
    }
    let reader = _stack.context()
    try reader.performAndWait { try #expect(reader.texts("Company", "name") == ["mine"]) }
  }

  @Test func `a save that is recorded in a history takes one more for its number`() throws {
    let tests = try Self(at: nil, options: [NSPersistentHistoryTrackingKey: true])
    let context = tests._stack.context()
    try context.performAndWait {
      try tests._fill(context, 1)
      for object in try context.all("Company") { object.setValue("new", forKey: "name") }
      let statements = try tests._statements { try context.save() }
      #expect(statements == 2, "BEGIN, UPDATE and the counter's, the records and COMMIT")
    }
  }

  @Test(arguments: [1, 2, 300]) func `a save fails if a trigger keeps one of its rows from being written`(
    _ count: Int
  ) throws {
    let session = try ServerSession(_stack.url)
    try session.connection.execute(
      """
      CREATE FUNCTION \(session.schema).keep() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN \
      RETURN CASE WHEN OLD.name = 'kept' THEN NULL ELSE NEW END; END $$
      """)
    try session.connection.execute(
      """
      CREATE TRIGGER keep BEFORE UPDATE ON \(session.schema).company \
      FOR EACH ROW EXECUTE FUNCTION \(session.schema).keep()
      """)
    let context = _stack.context()
    try context.performAndWait {
      for number in 0..<count { context.make("Company", ["name": number == count - 1 ? "kept" : "old"]) }
      try context.save()
      for object in try context.all("Company") { object.setValue("new", forKey: "name") }
      let error = #expect(throws: CocoaError.self) { try context.save() }
      #expect("\(error as Any)".contains("\(count - 1) of \(count) locked rows were written"))
    }
    let reader = _stack.context()
    try reader.performAndWait {
      try #expect(Set(reader.texts("Company", "name")) == (count > 1 ? ["kept", "old"] : ["kept"]))
    }
  }

  @Test(arguments: [1, 500]) func `a save of deletions takes one for each table`(_ count: Int) throws {
    let context = _stack.context()
    try context.performAndWait {
      for number in 0..<count { context.make("Note", ["text": "\(number)"]) }
      try context.save()
      for object in try context.all("Note") { context.delete(object) }
      let statements = try _statements { try context.save() }
      #expect(statements == 2, "BEGIN with the receipt and DELETE, COMMIT")
    }
  }

  @Test(arguments: [2, 50]) func `rules of deletions are followed with as many statements for any number`(
    _ count: Int
  ) throws {
    let context = _stack.context()
    try context.performAndWait {
      for number in 0..<count {
        let company = context.make("Company", ["name": "\(number)"])
        let staff = (0..<3).map { context.make("Person", ["firstName": "\($0)"]) }
        company.setValue(Set(staff), forKey: "staff")
        for person in staff {
          person.setValue(Set([context.make("Tag", ["name": "\(number) \(person.hash)"])]), forKey: "tags")
        }
      }
      try context.save()
    }
    // A coordinator that has no rows yet.
    let reader = try StatementTests(at: _stack.url)
    let other = reader._stack.context()
    try other.performAndWait {
      let request = NSFetchRequest<NSManagedObject>(entityName: "Company")
      request.includesPropertyValues = false
      let companies = try other.fetch(request)
      for company in companies { other.delete(company) }
      var statements = try reader._statements { other.processPendingChanges() }
      #expect(statements == 4, "values of companies, members of two to-manys, values of the staff")
      let people = try other.all("Person")
      for person in people { other.delete(person) }
      statements = try reader._statements { other.processPendingChanges() }
      #expect(statements == 2, "members of two to-manys")
      try other.save()
    }
  }

  @Test(arguments: [1, 500]) func `whether rows point at deleted ones is asked once`(_ count: Int) throws {
    let context = _stack.context()
    try context.performAndWait {
      for number in 0..<count { context.make("Company", ["name": "\(number)"]) }
      try context.save()
      for object in try context.all("Company") { context.delete(object) }
      context.processPendingChanges()
      let statements = try _statements { try context.save() }
      #expect(
        statements == 3, "BEGIN with the receipt and DELETE, hidden references with rows that point, COMMIT")
    }
  }

  @Test func `faults of one entity are read together`() throws {
    let context = _stack.context()
    try context.performAndWait { try _fill(context, 300) }
    let fresh = _stack.context()
    try fresh.performAndWait {
      let request = NSFetchRequest<NSManagedObject>(entityName: "Company")
      request.includesPropertyValues = false
      let found = try fresh.fetch(request)
      let statements = try _statements { for object in found { _ = object.value(forKey: "name") } }
      #expect(statements <= 3)
    }
  }

  @Test func `faults in turn are read in ever larger batches`() throws {
    let context = _stack.context()
    try context.performAndWait { try _fill(context, 6000) }
    // A reader with an empty row cache.
    let reader = try StatementTests(at: _stack.url)
    let fresh = reader._stack.context()
    try fresh.performAndWait {
      let request = NSFetchRequest<NSManagedObject>(entityName: "Company")
      request.includesPropertyValues = false
      let found = try fresh.fetch(request)
      var names: Set<String> = []
      let statements = try reader._statements {
        for object in found { names.insert(object.value(forKey: "name") as? String ?? "") }
      }
      #expect(names.count == 6000)
      #expect(statements == 4, "128, 512, 2048 and 3312 rows")
    }
  }

  @Test func `a batch size of the program's own is kept`() throws {
    let context = _stack.context()
    try context.performAndWait { try _fill(context, 300) }
    let reader = try StatementTests(at: _stack.url)
    let fresh = reader._stack.context()
    try fresh.performAndWait {
      let request = NSFetchRequest<NSManagedObject>(entityName: "Company")
      request.fetchBatchSize = 50
      let found = try fresh.fetch(request)
      let statements = try reader._statements { for object in found { _ = object.value(forKey: "name") } }
      #expect(statements == 6)
    }
  }

  @Test func `groups are computed by the server`() throws {
    let context = _stack.context()
    try context.performAndWait {
      for number in 0..<30 { context.make("Person", ["firstName": "\(number % 3)", "age": number]) }
      try context.save()
      let request = NSFetchRequest<NSDictionary>(entityName: "Person")
      request.resultType = .dictionaryResultType
      let sum = NSExpressionDescription()
      sum.name = "sum"
      sum.expression = NSExpression(
        forFunction: "sum:", arguments: [NSExpression(forKeyPath: "age")])
      sum.expressionResultType = .integer64AttributeType
      request.propertiesToFetch = ["firstName", sum]
      request.propertiesToGroupBy = ["firstName"]
      request.sortDescriptors = [NSSortDescriptor(key: "firstName", ascending: true)]
      var sums: [Int?] = []
      let statements = try _statements { sums = try context.fetch(request).map { $0["sum"] as? Int } }
      #expect(sums == [135, 145, 155])
      #expect(statements == 1)
    }
  }
}
