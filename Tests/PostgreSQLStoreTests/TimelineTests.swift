import CoreData
import CoreDataPostgreSQLBinding
import Foundation
import PostgreSQLServer
import Synchronization
import TestSupport
import Testing

@testable import CoreDataPostgreSQL

/// Stores whose server has lost commits that they know of: a replica that had not received them was promoted, or the files
/// were copied back.
@Suite(.enabled(if: PostgreSQLServer.shared != nil, "\(PostgreSQLServer.absence)"))
struct TimelineTests {
  /// A server and what takes its place, without the commits that were made in between.
  private final class Failover {
    private let _server: PostgreSQLServer
    private let _replica: PostgreSQLServer
    let url: URL

    init() throws {
      _server = try PostgreSQLServer.another()
      _replica = try _server.startReplica()
      url = URL(
        string: "postgresql://coredata@/postgres?host=\(_server.directory),\(_replica.directory)"
          + "&port=\(_server.port),\(_replica.port)&schema=hosts")!
    }

    deinit {
      _server.stop()
      _replica.stop()
    }

    /// Returns another replica, which follows the server for good.
    func startReplica() throws -> PostgreSQLServer { try _server.startReplica(named: "other") }

    /// Lengthens the server's log by some megabytes, and waits for a replica.
    func write(replayedBy replica: PostgreSQLServer) throws {
      let (old, new) = (try ServerSession(_server.newURL()), try ServerSession(replica.newURL()))
      for _ in 0..<40 {
        try old.connection.execute("SELECT pg_logical_emit_message(true, 'test', repeat('x', 100000))")
      }
      let written = try old.number("SELECT (pg_current_wal_lsn() - '0/0')::int8 WHERE $1::text = ''", "")
      try #expect(
        new.waits {
          try $0.number("SELECT (pg_last_wal_replay_lsn() - '0/0')::int8 WHERE $1::text = ''", "") >= written
        })
    }

    /// From here on the replica receives nothing.
    func part() throws {
      let (old, new) = (try ServerSession(_server.newURL()), try ServerSession(_replica.newURL()))
      let written = try old.number("SELECT (pg_current_wal_lsn() - '0/0')::int8 WHERE $1::text = ''", "")
      try #expect(
        new.waits {
          try $0.number("SELECT (pg_last_wal_replay_lsn() - '0/0')::int8 WHERE $1::text = ''", "") >= written
        })
      try old.setReplica("")
      try new.connection.execute("ALTER SYSTEM SET primary_conninfo = ''")
      try new.connection.execute("SELECT pg_reload_conf()")
      try #expect(
        new.waits { try $0.number("SELECT count(*) FROM pg_stat_wal_receiver WHERE $1::text = ''", "") == 0 })
    }

    /// The server is gone, and the replica takes its place.
    func promote() throws -> ServerSession {
      try _server.halt()
      let new = try ServerSession(_replica.newURL())
      try new.connection.execute("SELECT pg_promote()")
      try new.connection.execute("ALTER SYSTEM SET synchronous_standby_names = ''")
      try new.connection.execute("SELECT pg_reload_conf()")
      return new
    }
  }

  /// A company that is named "first", in a store with no age of rows.
  private static func _stack(_ url: URL) throws -> (ServerStack, NSManagedObjectContext, NSManagedObject) {
    let stack = try ServerStack(at: url, options: [NSPostgreSQLRowAgeOption: -1])
    let context = stack.context()
    let company = context.performAndWait { context.make("Company", ["name": "first"]) }
    try context.performAndWait { try context.save() }
    return (stack, context, company)
  }

  private static func _name(_ company: NSManagedObject, _ name: String, in context: NSManagedObjectContext)
    throws
  {
    try context.performAndWait {
      company.setValue(name, forKey: "name")
      try context.save()
    }
  }

  private static func _names(_ stack: ServerStack) throws -> [String] {
    let context = stack.context()
    return try context.performAndWait { try context.texts("Company", "name") }
  }

  /// What another program makes of the row after the commits were lost: the version that the store knows, with another name.
  private static func _overwrite(_ session: ServerSession) throws {
    try session.connection.execute("UPDATE hosts.company SET name = 'other', version = 2")
  }

  @Test func `a save conflicts with a row of the same version that another program has written meanwhile`()
    throws
  {
    let failover = try Failover()
    let (_, context, company) = try Self._stack(failover.url)
    try failover.part()
    try Self._name(company, "lost", in: context)
    try Self._overwrite(try failover.promote())
    let error = #expect(throws: CocoaError.self) { try Self._name(company, "mine", in: context) }
    #expect(error?.errorCode == NSManagedObjectMergeError)
    context.performAndWait {
      context.refresh(company, mergeChanges: false)
      #expect(company.value(forKey: "name") as? String == "other")
    }
    try Self._name(company, "mine", in: context)
  }

  @Test func `rows that the server has as they were read are saved without a conflict`() throws {
    let failover = try Failover()
    let (stack, context, company) = try Self._stack(failover.url)
    try failover.part()
    _ = try failover.promote()
    try Self._name(company, "second", in: context)
    try Self._name(company, "third", in: context)
    try #expect(Self._names(stack) == ["third"])
  }

  @Test func `a context shows what the server has, although it has read a later version`() throws {
    let failover = try Failover()
    let (stack, context, company) = try Self._stack(failover.url)
    try failover.part()
    for name in ["lost", "lost, too"] { try Self._name(company, name, in: context) }
    _ = try failover.promote()
    try #expect(Self._names(stack) == ["first"])
    context.performAndWait {
      context.refreshAllObjects()
      #expect(company.value(forKey: "name") as? String == "first")
    }
  }

  @Test func `a row that was cached is not shown`() throws {
    let failover = try Failover()
    let (stack, context, company) = try Self._stack(failover.url)
    try failover.part()
    try Self._name(company, "lost", in: context)
    _ = try failover.promote()
    // The first statement finds the new server.
    try #expect(Self._names(stack).count == 1)
    let other = stack.context()
    try other.performAndWait {
      let found = try other.existingObject(with: company.objectID)
      #expect(found.value(forKey: "name") as? String == "first")
    }
  }

  @Test func `keys that the server assigns again are not used twice`() throws {
    let failover = try Failover()
    let (stack, context, _) = try Self._stack(failover.url)
    try failover.part()
    // Takes a new block, and leaves most of it.
    try context.performAndWait {
      for number in 0..<1_500 { context.make("Company", ["name": "lost \(number)"]) }
      try context.save()
    }
    _ = try failover.promote()
    let other = try ServerStack(at: failover.url)
    let others = other.context()
    try others.performAndWait {
      for number in 0..<1_500 { others.make("Company", ["name": "other \(number)"]) }
      try others.save()
    }
    let mine = stack.context()
    try mine.performAndWait {
      for number in 0..<500 { mine.make("Company", ["name": "mine \(number)"]) }
      try mine.save()
    }
    try #expect(Self._names(stack).count == 2_001)
  }

  @Test func `an object inserted after a failover is changed and deleted like any other`() throws {
    let failover = try Failover()
    let (stack, context, first) = try Self._stack(failover.url)
    try failover.part()
    _ = try failover.promote()
    let (company, person) = context.performAndWait {
      (context.make("Company", ["name": "new"]), context.make("Person", ["firstName": "Ada"]))
    }
    try context.performAndWait {
      try context.save()
      person.setValue(company, forKey: "employer")
      try context.save()
      context.delete(first)
      try context.save()
      context.delete(company)
      try context.save()
    }
    try #expect(Self._names(stack) == [])
  }

  @Test func `a replica that follows the server that is gone is not read`() throws {
    let failover = try Failover()
    let old = try failover.startReplica()
    defer { old.stop() }
    let stack = try ServerStack(
      at: failover.url, options: [NSPostgreSQLRowAgeOption: -1, NSPostgreSQLReplicaOption: old.newURL()])
    let engine = try #require(stack.store.engine as? PostgreSQLStoreEngine)
    let context = stack.context()
    let company = context.performAndWait { context.make("Company", ["name": "first"]) }
    try context.performAndWait { try context.save() }
    try failover.part()
    try Self._name(company, "lost", in: context)
    // The replica is ahead of the server that takes over, for long.
    try failover.write(replayedBy: old)
    // It has what the server has, and answers.
    for _ in 0..<200 where engine.replica?.answerCount == 0 {
      try #expect(Self._names(stack) == ["lost"])
      Thread.sleep(forTimeInterval: 0.05)
    }
    #expect(engine.replica?.answerCount ?? 0 > 0)
    _ = try failover.promote()
    // A save shows which history the server has, and how far a replica must be.
    try context.performAndWait {
      context.make("Tag", ["name": "new"])
      try context.save()
    }
    for _ in 0..<5 { try #expect(Self._names(stack) == ["first"]) }
  }

  @Test func `a server that is restarted has the same history`() throws {
    let server = try PostgreSQLServer.another()
    defer { server.stop() }
    let (stack, context, company) = try Self._stack(server.newURL())
    let engine = try #require(stack.store.engine as? PostgreSQLStoreEngine)
    for number in 0..<5 { try Self._name(company, "\(number)", in: context) }
    try server.restart()
    Self._settle(stack)
    let timeline = try engine.pool.withConnection("a test") { $0.timeline }
    #expect(timeline == 0)
  }

  @Test func `an observer is told`() throws {
    let failover = try Failover()
    let log = EventLog()
    let coordinator = NSPersistentContainer(name: "Test", managedObjectModel: TestModel.make())
    let description = NSPersistentStoreDescription(postgreSQL: failover.url)
    description.postgreSQLObserver = log
    coordinator.persistentStoreDescriptions = [description]
    nonisolated(unsafe) var failure: (any Error)?
    coordinator.loadPersistentStores { failure = $1 }
    try #require(failure == nil)
    try failover.part()
    #expect(log.count(.timeline) == 0)
    _ = try failover.promote()
    let context = coordinator.newBackgroundContext()
    try context.performAndWait { _ = try context.all("Company") }
    #expect(log.count(.timeline) == 1)
  }

  private final class EventLog: PostgreSQLObserver {
    private let _counts = Mutex<[PostgreSQLEvent.Kind: Int]>([:])

    func observe(_ event: PostgreSQLEvent) { _counts.withLock { $0[event.kind, default: 0] += 1 } }
    func count(_ kind: PostgreSQLEvent.Kind) -> Int { _counts.withLock { $0[kind] ?? 0 } }
  }

  // MARK: Files that are copied back

  /// Copies a server's files, and later puts them back.
  private struct Copy {
    let server: PostgreSQLServer

    private func _run(_ script: String) throws {
      let outcome = try ChildProcess.run(
        "/bin/sh", ["-c", script], in: URL(fileURLWithPath: server.directory))
      #expect(outcome.code == 0, "\(outcome.error)")
    }

    func make() throws {
      try server.halt()
      try _run("cp -a data copy")
      try server.restart()
    }

    func putBack() throws {
      try server.halt()
      try _run("rm -rf data && mv copy data")
      try server.restart()
    }
  }

  /// Reads until the server answers, after the connections to the one before it were lost.
  private static func _settle(_ stack: ServerStack) {
    for _ in 0..<100 {
      if (try? _names(stack)) != nil { return }
      Thread.sleep(forTimeInterval: 0.1)
    }
  }

  @Test(arguments: [false, true])
  func `files that were copied back are another history, also behind a pooler`(isPooled: Bool) throws {
    let server = try PostgreSQLServer.another()
    defer { server.stop() }
    let place = isPooled ? "port=\(try server.startPooler())&pooler=transaction" : "port=\(server.port)"
    let url = URL(string: "postgresql://coredata@/postgres?host=\(server.directory)&\(place)&schema=hosts")!
    let (stack, context, company) = try Self._stack(url)
    let copy = Copy(server: server)
    try copy.make()
    Self._settle(stack)
    try Self._name(company, "lost", in: context)
    let session = try ServerSession(server.newURL())
    for _ in 0..<20 {
      try session.connection.execute("SELECT pg_logical_emit_message(true, 'test', repeat('x', 100000))")
    }
    // A connection that is made later notes how long the log is.
    let engine = try #require(stack.store.engine as? PostgreSQLStoreEngine)
    engine.pool.dropIdle()
    try #expect(Self._names(stack) == ["lost"])
    try copy.putBack()
    try Self._overwrite(try ServerSession(server.newURL()))
    let error = #expect(throws: CocoaError.self) {
      for _ in 0..<100 {
        do {
          return try Self._name(company, "mine", in: context)
        } catch let error as CocoaError where error.errorCode != NSManagedObjectMergeError {
          Thread.sleep(forTimeInterval: 0.1)
        }
      }
    }
    #expect(error?.errorCode == NSManagedObjectMergeError)
  }
}
