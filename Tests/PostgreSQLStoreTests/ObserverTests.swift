import CoreData
import CoreDataPostgreSQL
import Foundation
import PostgreSQLServer
import Synchronization
import Testing

/// What an observer of a store is told.
@Suite(.enabled(if: PostgreSQLServer.shared != nil, "\(PostgreSQLServer.absence)"))
struct ObserverTests {
  private final class Log: PostgreSQLObserver {
    private let _events = Mutex<[PostgreSQLEvent]>([])

    func observe(_ event: PostgreSQLEvent) { _events.withLock { $0.append(event) } }

    func events(_ kind: PostgreSQLEvent.Kind) -> [PostgreSQLEvent] {
      _events.withLock { $0.filter { $0.kind == kind } }
    }

    func clear() { _events.withLock { $0 = [] } }
  }

  private let _log = Log()
  private let _stack: ServerStack

  init() throws {
    _stack = try ServerStack(options: [
      NSPostgreSQLObserverOption: _log, NSPersistentStoreConnectionPoolMaxSizeKey: 1,
    ])
  }

  @Test func `statements that are sent with another one are told, too`() throws {
    let context = _stack.context()
    try context.performAndWait {
      let company = context.make("Company", ["name": "a"])
      context.make("Tag", ["name": "b"])
      try context.save()
      company.setValue("c", forKey: "name")
      _log.clear()
      context.make("Note", ["text": "d"])
      context.make("Track", ["title": "e"])
      try context.save()
      let inserted = _log.events(.statement).filter { $0.sql?.hasPrefix("INSERT INTO") ?? false }
      #expect(inserted.count == 2)
      company.setValue("f", forKey: "name")
      _log.clear()
      try context.save()
      #expect(_log.events(.statement).contains { $0.sql?.contains("UPDATE") ?? false })
      #expect(_log.events(.statement).last?.sql == "COMMIT")
    }
  }

  @Test func `opening a store connects, and says so`() {
    let connected = _log.events(.connect)
    #expect(connected.count == 1)
    #expect(connected.allSatisfy { $0.failure == nil && $0.seconds > 0 })
    #expect(connected.first?.metricName == "db.client.connection.create_time")
    #expect(_log.events(.acquire).contains { $0.use == "opening the store" })
  }

  @Test func `a save is told with its author, its rows and its statements`() throws {
    _log.clear()
    let context = _stack.context()
    context.transactionAuthor = "ann"
    context.name = "form"
    try context.performAndWait {
      for name in ["a", "b"] { context.make("Company", ["name": name]) }
      try context.save()
    }
    let save = try #require(_log.events(.save).first)
    #expect(_log.events(.save).count == 1)
    #expect(save.rowCount == 2 && save.author == "ann" && save.contextName == "form" && save.failure == nil)
    #expect(save.metricName == "db.client.operation.duration")
    #expect(save.attributes["db.operation.name"] == "save")
    let statements = _log.events(.statement)
    let insertion = try #require(
      statements.first { $0.sql?.contains("INSERT INTO") ?? false && $0.rowCount == 2 })
    #expect(insertion.sql?.contains("'a'") == false)
    #expect(insertion.attributes["db.system.name"] == "postgresql")
    #expect(statements.last?.sql == "COMMIT")
    #expect(statements.map(\.seconds).reduce(0, +) <= save.seconds)
  }

  @Test func `a fetch is told with the rows that it has found`() throws {
    let context = _stack.context()
    try context.performAndWait {
      context.make("Company", ["name": "a"])
      try context.save()
      _log.clear()
      _ = try context.all("Company")
    }
    let fetch = try #require(_log.events(.statement).first)
    #expect(fetch.rowCount == 1 && fetch.attributes["db.operation.name"] == "SELECT")
    #expect(_log.events(.acquire).count == 1)
    #expect(_log.events(.save).isEmpty)
  }

  @Test func `a conflict is told, and the save that the merge policy makes of it`() throws {
    let context = _stack.context()
    context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
    let other = try ServerStack(at: _stack.url).context()
    try context.performAndWait {
      let company = context.make("Company", ["name": "a"])
      try context.save()
      try other.performAndWait {
        try #require(try other.all("Company").first).setValue("b", forKey: "name")
        try other.save()
      }
      _log.clear()
      company.setValue("c", forKey: "name")
      try context.save()
    }
    #expect(_log.events(.conflict).map(\.rowCount) == [1])
    #expect(_log.events(.save).map(\.failure) == [nil])
  }

  @Test func `a retry and a failure are told with their SQLSTATE`() throws {
    let context = _stack.context()
    _log.clear()
    var runs = 0
    try context.performAndWait {
      try context.save { sql in
        runs += 1
        if runs == 1 {
          try sql.run("DO $$ BEGIN RAISE EXCEPTION 'as in a deadlock' USING ERRCODE = '40P01'; END $$")
        }
      }
    }
    #expect(_log.events(.retry).map(\.sqlState) == ["40P01"])
    let failed = _log.events(.statement).filter { $0.failure != nil }
    #expect(failed.map(\.sqlState) == ["40P01"])
    #expect(failed.first?.attributes["error.type"] == "40P01")
    #expect(_log.events(.save).map(\.failure) == [nil])
  }

  @Test func `a caller that finds all connections in use too long is refused`() throws {
    let log = Log()
    let stack = try ServerStack(
      at: _stack.url,
      options: [
        NSPostgreSQLObserverOption: log, NSPersistentStoreConnectionPoolMaxSizeKey: 1,
        NSPersistentStoreTimeoutOption: 0.2,
      ])
    let locker = try ServerSession(stack)
    try locker.lock("company")
    let coordinator = stack.coordinator
    let holder = Thread {
      let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
      context.persistentStoreCoordinator = coordinator
      context.performAndWait {
        _ = try? context.count(for: NSFetchRequest<NSManagedObject>(entityName: "Company"))
      }
    }
    holder.start()
    try #expect(ServerSession(stack).waits { try $0.waitingStatements("company") == 1 })
    let context = stack.context()
    _ = context.performAndWait {
      #expect(throws: CocoaError.self) { _ = try context.all("Company") }
    }
    try locker.connection.execute("ROLLBACK")
    try holder.join()
    let refused = log.events(.refused)
    #expect(refused.count == 1)
    #expect(refused.first?.failure?.contains("all 1 connections") ?? false)
    #expect(refused.first?.metricName == "db.client.connection.timeouts")
  }

  @Test func `a server that takes no more connections is told with its SQLSTATE`() throws {
    let server = try PostgreSQLServer.another()
    defer { server.stop() }
    let url = server.newURL()
    try ServerSession(url).connection.execute("CREATE ROLE few LOGIN CONNECTION LIMIT 0")
    let log = Log()
    #expect(throws: CocoaError.self) {
      try ServerStack(
        at: URL(string: url.absoluteString.replacing("coredata@", with: "few@"))!,
        options: [NSPostgreSQLObserverOption: log, NSPersistentStoreTimeoutOption: 1])
    }
    let refused = log.events(.refused)
    #expect(!refused.isEmpty && refused.allSatisfy { $0.sqlState == "53300" })
    #expect(log.events(.connect).allSatisfy { $0.failure != nil })
  }

  @Test func `a description has an observer`() throws {
    let log = Log()
    let description = NSPersistentStoreDescription(postgreSQL: _stack.url)
    #expect(description.postgreSQLObserver == nil)
    description.postgreSQLObserver = log
    #expect(description.postgreSQLObserver as? Log === log)
    _ = try ServerStack(at: _stack.url, options: description.options)
    #expect(!log.events(.connect).isEmpty)
    description.postgreSQLObserver = nil
    #expect(description.options[NSPostgreSQLObserverOption] == nil)
  }

  @Test func `an object that is no observer is refused`() throws {
    let error = #expect(throws: CocoaError.self) {
      try ServerStack(at: _stack.url, options: [NSPostgreSQLObserverOption: "stdout"])
    }
    #expect(error?.localizedDescription.contains("NSPostgreSQLObserverOption") ?? false)
  }
}
