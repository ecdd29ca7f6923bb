import CoreData
import CoreDataPostgreSQLBinding
import Foundation
import PostgreSQLServer
import Testing

@testable import CoreDataPostgreSQL

/// Cached rows that the history keeps current.
@Suite(.enabled(if: PostgreSQLServer.shared != nil, "\(PostgreSQLServer.absence)"))
struct HistoryFollowingTests {
  private static var _following: [AnyHashable: Any] {
    [NSPersistentHistoryTrackingKey: true, NSPostgreSQLFollowsHistoryOption: true]
  }

  private let _url: URL
  private let _stack: ServerStack
  private let _engine: PostgreSQLStoreEngine
  /// Another program.
  private let _other: ServerStack

  /// - Parameter age: Seconds after which a row would be read again.
  private init(age: Double, _ model: NSManagedObjectModel = TestModel.make()) throws {
    _url = try #require(PostgreSQLServer.shared).newURL()
    var options = Self._following
    options[NSPostgreSQLRowAgeOption] = age
    _stack = try ServerStack(model, at: _url, options: options)
    options[NSPostgreSQLFollowsHistoryOption] = nil
    _other = try ServerStack(model, at: _url, options: options)
    _engine = try #require(_stack.store.engine as? PostgreSQLStoreEngine)
  }

  init() throws { try self.init(age: 60) }

  /// Saves an object named "first".
  private func _fill(_ stack: ServerStack, _ entity: String = "Company") throws -> NSManagedObjectID {
    let context = stack.context()
    return try context.performAndWait {
      let object = context.make(entity, ["name": "first"])
      try context.save()
      return object.objectID
    }
  }

  private func _change(_ id: NSManagedObjectID, to name: String, in stack: ServerStack) throws {
    let context = stack.context()
    try context.performAndWait {
      let key = try #require(stack.coordinator.managedObjectID(forURIRepresentation: id.uriRepresentation()))
      context.object(with: key).setValue(name, forKey: "name")
      try context.save()
    }
  }

  /// A context that has been there for a while, and has read nothing of which the tests ask.
  private func _reader(_ stack: ServerStack) throws -> NSManagedObjectContext {
    let context = stack.context()
    // What it shows is from now on, which the clock must tell from what was before.
    Thread.sleep(forTimeInterval: 0.05)
    _ = try context.performAndWait { try context.all("Note") }
    Thread.sleep(forTimeInterval: 0.1)
    return context
  }

  /// Fires a fault.
  private func _name(_ id: NSManagedObjectID, in context: NSManagedObjectContext) -> String? {
    context.performAndWait { context.object(with: id).value(forKey: "name") as? String }
  }

  private func _look() throws { _ = try #require(_engine.follower).follow(_engine) }

  /// Returns how often the server is asked for a row whose fault is fired.
  private func _reads(_ id: NSManagedObjectID, in context: NSManagedObjectContext, of stack: ServerStack)
    -> Int
  {
    let before = stack.coordinator.faultReads.load(ordering: .relaxed)
    #expect(_name(id, in: context) == "first")
    return Int(stack.coordinator.faultReads.load(ordering: .relaxed) - before)
  }

  @Test func `a row that no other program has changed is shown to a context that is newer than its reading`()
    throws
  {
    let id = try _fill(_stack)
    let context = try _reader(_stack)
    try _look()
    #expect(_reads(id, in: context, of: _stack) == 0)
  }

  @Test func `a row of a store that does not follow its history is read again`() throws {
    let id = try _fill(_other)
    let context = try _reader(_other)
    #expect(_reads(id, in: context, of: _other) == 1)
  }

  @Test(arguments: [false, true]) func `a row that another program has changed is read again`(_ follows: Bool)
    throws
  {
    let tests = try Self(age: -1)
    let stack = follows ? tests._stack : tests._other
    let (first, second) = try (tests._reader(stack), tests._reader(stack))
    let id = try tests._fill(stack)
    #expect(tests._name(id, in: first) == "first")
    try tests._change(id, to: "second", in: follows ? tests._other : tests._stack)
    try tests._look()
    #expect(tests._name(id, in: second) == (follows ? "second" : "first"))
  }

  @Test func `changes of other programs are noticed without a request`() throws {
    let tests = try Self(age: -1)
    let context = try tests._reader(tests._stack)
    let id = try tests._fill(tests._stack)
    #expect(tests._name(id, in: context) == "first")
    try tests._change(id, to: "second", in: tests._other)
    let isShown = try ServerSession(tests._url).waits { _ in tests._name(id, in: context) == "second" }
    #expect(isShown)
  }

  @Test func `a deleted object is no longer shown`() throws {
    let tests = try Self(age: -1)
    let context = try tests._reader(tests._stack)
    let id = try tests._fill(tests._stack)
    let session = try ServerSession(tests._url)
    let other = tests._other.context()
    try other.performAndWait {
      for company in try other.all("Company") { other.delete(company) }
      try other.save()
    }
    try tests._look()
    let isThere = context.performAndWait { (try? context.existingObject(with: id)) != nil }
    #expect(!isThere)
    try #expect(session.number("SELECT count(*) FROM \(session.schema).company WHERE $1::text = ''", "") == 0)
  }

  @Test func `a store's own saves drop none of its rows`() throws {
    let tests = try Self(age: -1)
    let context = try tests._reader(tests._stack)
    let id = try tests._fill(tests._stack)
    try tests._look()
    #expect(tests._reads(id, in: context, of: tests._stack) == 0)
  }

  @Test func `transactions that were purged unseen drop all rows`() throws {
    let tests = try Self(age: -1)
    let context = try tests._reader(tests._stack)
    let id = try tests._fill(tests._stack)
    try tests._look()
    try tests._change(id, to: "second", in: tests._other)
    let session = try ServerSession(tests._url)
    for table in ["_history_change", "_history"] {
      try session.connection.execute("DELETE FROM \(session.schema).\"\(table)\"")
    }
    try tests._look()
    #expect(tests._name(id, in: context) == "second")
  }

  @Test func `another history of the server drops all rows`() throws {
    let tests = try Self(age: -1)
    let context = try tests._reader(tests._stack)
    let id = try tests._fill(tests._stack)
    try tests._look()
    let session = try ServerSession(tests._url)
    try session.connection.execute(
      "UPDATE \(session.schema).company SET name = 'second', version = version + 1")
    try session.connection.execute("UPDATE \(session.schema).\"_history_counter\" SET n = n - 1")
    try tests._look()
    #expect(tests._name(id, in: context) == "second")
  }

  @Test func `rows age that triggers change with other objects`() throws {
    let model = TestModel.make()
    let company = try #require(model.entitiesByName["Company"])
    let count = NSDerivedAttributeDescription()
    (count.name, count.attributeType, count.isOptional) = ("staffCount", .integer64AttributeType, true)
    count.derivationExpression = NSExpression(format: "staff.@count")
    company.properties.append(count)
    let tests = try Self(age: 60, model)
    let id = try tests._fill(tests._stack)
    let tag = try tests._fill(tests._stack, "Tag")
    let context = try tests._reader(tests._stack)
    try tests._look()
    #expect(tests._reads(id, in: context, of: tests._stack) == 1)
    #expect(tests._reads(tag, in: context, of: tests._stack) == 0)
  }

  @Test func `the store must keep a history`() throws {
    let url = try #require(PostgreSQLServer.shared).newURL()
    #expect {
      try ServerStack(at: url, options: [NSPostgreSQLFollowsHistoryOption: true])
    } throws: {
      "\($0)".contains("NSPersistentHistoryTrackingKey")
    }
  }
}
