import CoreData
import CoreDataPostgreSQLBinding
import Foundation
import PostgreSQLServer
import Synchronization
import Testing

@testable import CoreDataPostgreSQL

/// Connections that end while the server commits: the receipt determines the outcome of the transaction.
@Suite(.enabled(if: PostgreSQLServer.shared != nil, "\(PostgreSQLServer.absence)"))
struct ReceiptTests {
  /// A way to write five companies named `new`, where there were five named `old`.
  enum Work: String, CaseIterable, CustomTestStringConvertible {
    case save, insertion, update, deletion

    var testDescription: String { rawValue }

    func run(_ context: NSManagedObjectContext) throws {
      switch self {
      case .save:
        for object in try context.all("Company") { object.setValue("new", forKey: "name") }
        try context.save()
      case .insertion:
        try context.execute(
          NSBatchInsertRequest(
            entityName: "Company", objects: Array(repeating: ["name": "new"], count: 5)))
      case .update:
        let request = NSBatchUpdateRequest(entityName: "Company")
        request.propertiesToUpdate = ["name": "new"]
        try context.execute(request)
      case .deletion:
        try context.execute(
          NSBatchDeleteRequest(fetchRequest: NSFetchRequest<any NSFetchRequestResult>(entityName: "Company")))
      }
    }

    /// Numbers of companies named `old` and `new` once it is done.
    var outcome: [Int] {
      switch self {
      case .save, .update: [0, 5]
      case .insertion: [5, 5]
      case .deletion: [0, 0]
      }
    }
  }

  private func _filled(_ url: URL, connections: Int = 4) throws -> NSManagedObjectContext {
    let options = [NSPersistentStoreConnectionPoolMaxSizeKey: connections]
    let context = try ServerStack(at: url, options: options).context()
    try context.performAndWait {
      for _ in 0..<5 { context.make("Company", ["name": "old"]) }
      try context.save()
    }
    return context
  }

  private func _counts(_ url: URL) throws -> [Int] {
    let context = try ServerStack(at: url).context()
    return try context.performAndWait {
      try [context.all("Company", "name == 'old'").count, context.all("Company", "name == 'new'").count]
    }
  }

  /// Lets each COMMIT take effect and then wait for a replica that does not exist.
  private func _waitForReplica(_ session: ServerSession, _ url: URL) throws {
    try session.setReplica("absent")
    // The server applies the setting with a delay: retries until the first COMMIT waits.
    let probe = Thread { try? ServerSession(url).writeUntilEnded() }
    probe.start()
    try #require(try session.waits { try $0.commitsWaitingForReplica() == 1 })
    try session.endCommitsWaitingForReplica()
    try probe.join()
  }

  /// Runs a body with a session of its own beside the test, and lets no COMMIT wait afterwards.
  private func _start(_ url: URL, _ body: @escaping @Sendable (ServerSession) throws -> Void) -> Thread {
    let thread = Thread {
      do {
        let session = try ServerSession(url)
        defer { #expect(throws: Never.self) { try session.setReplica("") } }
        try body(session)
      } catch {
        Issue.record(error)
      }
    }
    thread.start()
    return thread
  }

  @Test(arguments: Work.allCases, [1, 4])
  func `work that was committed unheard succeeds once`(_ work: Work, connections: Int) throws {
    let server = try PostgreSQLServer.another()
    defer { server.stop() }
    let url = server.newURL()
    let context = try _filled(url, connections: connections)
    let session = try ServerSession(url)
    try _waitForReplica(session, url)
    let ender = _start(url) { session in
      #expect(try session.waits { try $0.commitsWaitingForReplica() == 1 })
      try session.endCommitsWaitingForReplica()
    }
    #expect(throws: Never.self) { try context.performAndWait { try work.run(context) } }
    try ender.join()
    #expect(try _counts(url) == work.outcome)
  }

  @Test func `a save whose commit did not wait for its replica commits once more`() throws {
    let server = try PostgreSQLServer.another()
    defer { server.stop() }
    let url = server.newURL()
    let context = try _filled(url)
    let session = try ServerSession(url)
    try _waitForReplica(session, url)
    let before = try session.receipts()
    let ender = _start(url) { session in
      #expect(try session.waits { try $0.commitsWaitingForReplica() == 1 })
      try session.cancelCommitsWaitingForReplica()
      // A cancellation that is still on its way would find that there is no replica to wait for any more.
      #expect(
        try session.waits {
          try $0.number(
            "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'SyncRep' AND query LIKE $1::text",
            "%_receipt%") == 1
        })
    }
    #expect(throws: Never.self) { try context.performAndWait { try Work.save.run(context) } }
    try ender.join()
    #expect(try _counts(url) == Work.save.outcome)
    #expect(try session.receipts() - before == 2)
  }

  @Test func `the outcome of a save that no replica has is unknown`() throws {
    let server = try PostgreSQLServer.another()
    defer { server.stop() }
    let url = server.newURL()
    let context = try _filled(url)
    let session = try ServerSession(url)
    try _waitForReplica(session, url)
    let isOver = Atomic<Bool>(false)
    let ender = _start(url) { session in
      while !isOver.load(ordering: .relaxed) { try session.cancelCommitsWaitingForReplica() }
    }
    let error = #expect(throws: CocoaError.self) {
      try context.performAndWait { try Work.save.run(context) }
    }
    isOver.store(true, ordering: .relaxed)
    try ender.join()
    #expect(error?.code.rawValue == NSPersistentStoreSaveError)
  }

  @Test(arguments: Work.allCases)
  func `work whose commit was cut off has failed, or is done again if all of it was`(_ work: Work) throws {
    let server = try #require(PostgreSQLServer.shared)
    let url = server.newURL()
    let context = try _filled(url)
    // The next COMMIT ends its own session.
    let session = try ServerSession(url)
    let schema = session.schema
    for statement in [
      "CREATE SEQUENCE \(schema).first",
      """
      CREATE FUNCTION \(schema).cut_off() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN \
      IF nextval('\(schema).first') = 1 THEN PERFORM pg_terminate_backend(pg_backend_pid()); END IF; \
      RETURN NULL; END $$
      """,
      """
      CREATE CONSTRAINT TRIGGER cut_off AFTER INSERT ON \(schema)."_receipt" DEFERRABLE INITIALLY DEFERRED \
      FOR EACH ROW EXECUTE FUNCTION \(schema).cut_off()
      """,
    ] { try session.connection.execute(statement) }
    if work == .save {
      // Its statements are sent with COMMIT, and are lost with it.
      try context.performAndWait { try work.run(context) }
      return try #expect(_counts(url) == work.outcome)
    }
    #expect(throws: CocoaError.self) { try context.performAndWait { try work.run(context) } }
    #expect(try _counts(url) == [5, 0])
    // A failed save can be retried.
    try context.performAndWait {
      context.rollback()
      try work.run(context)
    }
    #expect(try _counts(url) == work.outcome)
  }

  @Test func `a check of the outcome that is lost itself is not taken for the save`() throws {
    let server = try PostgreSQLServer.another()
    defer { server.stop() }
    let stack = try ServerStack(at: server.newURL())
    let engine = try #require(stack.store.engine as? PostgreSQLStoreEngine)
    let session = try ServerSession(stack)
    // The check's commit waits for a replica that is not there, and its session is ended.
    try session.setReplica("nowhere")
    let isOver = Atomic(false)
    let url = stack.url
    let ender = Thread {
      guard let other = try? ServerSession(url) else { return }
      while !isOver.load(ordering: .relaxed) {
        if (try? other.commitsWaitingForReplica()) ?? 0 > 0 {
          try? other.endCommitsWaitingForReplica()
          try? other.setReplica("")
          return
        }
        Thread.sleep(forTimeInterval: 0.01)
      }
    }
    ender.start()
    defer { isOver.store(true, ordering: .relaxed) }
    let receipt = PostgreSQLReceipt(engine.epoch)
    let lost = try engine.pool.makeConnection()
    let loss = PostgreSQLError(state: nil, message: "the connection was lost")
    let isThere = try receipt.isThere(
      in: engine.pool, on: lost, after: loss, until: PostgreSQLDeadline(after: 20))
    #expect(!isThere)
  }
}
