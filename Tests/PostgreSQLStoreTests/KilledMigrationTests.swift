import CoreData
import Foundation
import PostgreSQLServer
import Testing

@testable import CoreDataPostgreSQL

/// Migrations whose program, or its connection, ends at each message to the server, and which another program repeats.
@Suite(
  .enabled(if: PostgreSQLServer.shared != nil, "\(PostgreSQLServer.absence)"),
  .enabled(if: PostgreSQLServer.shared?.poolerPort == nil, "the proxy is in front of the server itself"))
struct KilledMigrationTests {
  enum Change: String, CaseIterable, Sendable {
    case adds, leavesOut, renames, derives, retypes, contracts
  }

  /// Books on shelves.
  private static func _model(_ change: Change? = nil) -> NSManagedObjectModel {
    let book = TestModel.entity("Book"), shelf = TestModel.entity("Shelf")
    let pages = TestModel.attribute("pages", .integer32AttributeType)
    pages.isOptional = false
    pages.defaultValue = 5
    book.properties = [TestModel.attribute("title", .stringAttributeType), pages]
    shelf.properties = [TestModel.attribute("name", .stringAttributeType)]
    let model = NSManagedObjectModel()
    model.entities = [book, shelf]
    if change != .leavesOut, change != .contracts {
      TestModel.relate(book, "shelf", shelf, "books", toMany: (false, true))
    }
    switch change {
    case nil: break
    case .adds:
      let reader = TestModel.entity("Reader"), isbn = TestModel.attribute("isbn", .stringAttributeType)
      reader.properties = [TestModel.attribute("name", .stringAttributeType)]
      TestModel.relate(reader, "books", book, "readers", toMany: (true, true))
      book.properties.append(isbn)
      book.indexes = [
        NSFetchIndexDescription(
          name: "isbn", elements: [NSFetchIndexElementDescription(property: isbn, collationType: .binary)])
      ]
      model.entities.append(reader)
    case .leavesOut, .contracts: book.properties.removeAll { $0.name == "pages" }
    case .renames:
      pages.name = "length"
      pages.renamingIdentifier = "pages"
    case .derives:
      let count = NSDerivedAttributeDescription()
      (count.name, count.attributeType, count.isOptional) = ("bookCount", .integer64AttributeType, true)
      count.derivationExpression = NSExpression(format: "books.@count")
      shelf.properties.append(count)
    case .retypes: pages.attributeType = .integer64AttributeType
    }
    return model
  }

  /// Makes a store of the first version with two books on a shelf.
  private static func _fill(_ url: URL) throws -> ServerStack {
    let stack = try ServerStack(_model(), at: url, options: [NSPersistentHistoryTrackingKey: true])
    let context = stack.context()
    try context.performAndWait {
      let shelf = context.make("Shelf", ["name": "top"])
      for title in ["One", "Two"] { context.make("Book", ["title": title, "pages": 100, "shelf": shelf]) }
      try context.save()
    }
    return stack
  }

  private static func _run(_ change: Change, _ url: URL) throws {
    let administration = try PostgreSQLAdministration(url)
    if change == .contracts {
      try administration.contract(to: _model(change))
    } else {
      try administration.migrate(to: _model(change))
    }
  }

  /// Returns whether the old program can still save, which it may not without the right error.
  private static func _saves(_ old: ServerStack) throws -> Bool {
    let context = old.context()
    return try context.performAndWait {
      context.make("Book", ["title": "Three"])
      do {
        try context.save()
        return true
      } catch let error as NSError where error.code == NSPersistentStoreIncompatibleVersionHashError {
        return false
      }
    }
  }

  /// Lets a migration end at a message, and repeats it.
  ///
  /// - Returns: Whether it had as many messages.
  private static func _end(_ change: Change, at message: Int) throws -> Bool {
    let server = try #require(PostgreSQLServer.shared)
    let proxy = try PostgreSQLProxy(server)
    defer { proxy.stop() }
    let url = server.newURL()
    let old = try _fill(url)
    if change == .contracts { try PostgreSQLAdministration(url).migrate(to: _model(change)) }
    proxy.arm(.init(.cut, passesMessage: message.isMultiple(of: 2), at: message))
    let isDone = (try? _run(change, proxy.url(url))) != nil
    guard proxy.hasHappened else { return false }
    let saves = try _saves(old)
    if isDone, change != .adds, change != .leavesOut { #expect(!saves, "message \(message)") }
    try _run(change, url)
    let stack = try ServerStack(
      _model(change), at: url, options: [NSPersistentHistoryTrackingKey: true])
    let context = stack.context()
    try context.performAndWait {
      let titles = try context.all("Book", sortedBy: "title").map {
        $0.value(forKey: "title") as? String ?? "-"
      }
      #expect(titles == ["One"] + (saves ? ["Three"] : []) + ["Two"], "message \(message)")
      if change == .derives {
        try #expect(
          context.all("Shelf").map { $0.value(forKey: "bookCount") as? Int } == [2], "message \(message)")
      }
      context.make("Book", ["title": "Four"])
      try context.save()
    }
    try #expect(PostgreSQLAdministration(url).check { _, _ in } == [], "message \(message)")
    try #expect(PostgreSQLAdministration(url).status().unfinishedIndexes.isEmpty, "message \(message)")
    let session = try ServerSession(url)
    let others = try session.number(
      "SELECT count(*) FROM pg_namespace WHERE nspname LIKE $1::text || '\\_%'",
      PostgreSQLNames.plain(session.schema))
    #expect(others == 0, "message \(message)")
    try stack.coordinator.remove(stack.store)
    try old.coordinator.remove(old.store)
    return true
  }

  /// Returns the number of messages of a migration.
  private static func _messageCount(_ change: Change) throws -> Int {
    let server = try #require(PostgreSQLServer.shared)
    let proxy = try PostgreSQLProxy(server)
    defer { proxy.stop() }
    let url = server.newURL()
    _ = try _fill(url)
    if change == .contracts { try PostgreSQLAdministration(url).migrate(to: _model(change)) }
    proxy.arm(.init(.cut, passesMessage: false, at: .max))
    try _run(change, proxy.url(url))
    return proxy.messageCount
  }

  /// At five messages, from anywhere on, or as many as `COREDATA_TEST_MESSAGES` says.
  @Test(arguments: Change.allCases)
  func `a migration that has ended at a message is completed by the next one`(_ change: Change) throws {
    let count = try Self._messageCount(change)
    let wanted = ProcessInfo.processInfo.environment["COREDATA_TEST_MESSAGES"].flatMap { Int($0) } ?? 5
    let stride = max(1, count / wanted)
    var message = Int.random(in: 1...stride)
    // The number varies a little.
    while message <= count - 5 {
      try #expect(Self._end(change, at: message), "\(message) of \(count)")
      message += stride
    }
    if wanted > 5 { print("\(change): \(count) messages, \(count / stride) tried") }
  }
}
