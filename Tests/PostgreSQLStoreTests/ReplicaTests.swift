import CoreData
import Foundation
import PostgreSQLServer
import Testing

@testable import CoreDataPostgreSQL

/// Reads from a replica, with `NSPostgreSQLReplicaOption`.
@Suite(.enabled(if: PostgreSQLServer.shared != nil, "\(PostgreSQLServer.absence)"), .serialized)
final class ReplicaTests {
  private let _server: PostgreSQLServer
  private let _replica: PostgreSQLServer
  private let _url: URL
  private let _stack: ServerStack
  private let _reads: PostgreSQLReplica
  private let _session: ServerSession

  init() throws {
    _server = try PostgreSQLServer.another()
    _replica = try _server.startReplica()
    _url = _server.newURL()
    let copy = URL(
      string: "postgresql://coredata@/postgres?host=\(_replica.directory)&port=\(_replica.port)")!
    _stack = try ServerStack(at: _url, options: [NSPostgreSQLReplicaOption: copy])
    _reads = try #require((_stack.store.engine as? PostgreSQLStoreEngine)?.replica)
    _session = try ServerSession(copy)
  }

  deinit {
    _replica.stop()
    _server.stop()
  }

  private func _save(_ name: String, _ stack: ServerStack? = nil) throws {
    let context = (stack ?? _stack).context()
    try context.performAndWait {
      context.make("Company", ["name": name])
      try context.save()
    }
  }

  private func _names() throws -> [String] {
    let context = _stack.context()
    return try context.performAndWait { try context.texts("Company", "name") }
  }

  /// Reads until the replica answers.
  private func _answered() throws -> Bool {
    let before = _reads.answerCount
    return try _session.waits { _ in
      _ = try _names()
      return _reads.answerCount > before
    }
  }

  /// What the servers say of their log, for the message of a wait that ends in vain.
  private func _positions() -> String {
    let replica =
      "SELECT 'replayed ' || pg_last_wal_replay_lsn() || ', receiver ' "
      + "|| coalesce((SELECT status || ' at ' || flushed_lsn FROM pg_stat_wal_receiver), 'none')"
    func text(_ session: ServerSession?, _ sql: String) -> String {
      (try? session?.connection.run(sql).string(0, 0)) ?? "no answer"
    }
    let primary = text(try? ServerSession(_url), "SELECT pg_current_wal_insert_lsn()::text")
    return "primary: \(primary); replica: \(text(_session, replica))"
  }

  @Test func `a replica that has everything is read`() throws {
    try _save("a")
    #expect(try _answered())
    let before = _reads.answerCount
    #expect(try _names() == ["a"])
    #expect(_reads.answerCount == before + 1)
  }

  @Test func `a store reads its own save while the replica lags`() throws {
    try _save("a")
    #expect(try _answered())
    try _session.connection.execute("SELECT pg_wal_replay_pause()")
    try _save("b")
    let before = _reads.answerCount
    #expect(try _names() == ["a", "b"])
    let request = NSBatchUpdateRequest(entityName: "Company")
    request.propertiesToUpdate = ["name": "c"]
    let context = _stack.context()
    try context.performAndWait { _ = try context.execute(request) }
    #expect(try _names() == ["c", "c"])
    #expect(_reads.answerCount == before)
    try _session.connection.execute("SELECT pg_wal_replay_resume()")
    #expect(try _answered())
    #expect(try _names() == ["c", "c"])
  }

  @Test func `a conflict that a lagging replica does not know of is met once`() throws {
    try _save("a")
    #expect(try _answered())
    let context = _stack.context()
    let company = try context.performAndWait { try #require(try context.all("Company").first) }
    try _session.connection.execute("SELECT pg_wal_replay_pause()")
    let other = try ServerStack(at: _url).context()
    try other.performAndWait {
      try #require(try other.all("Company").first).setValue("other", forKey: "name")
      try other.save()
    }
    context.performAndWait {
      company.setValue("mine", forKey: "name")
      #expect(throws: CocoaError.self) { try context.save() }
    }
    let again = _stack.context()
    try again.performAndWait {
      let company = try #require(try again.all("Company").first)
      #expect(company.value(forKey: "name") as? String == "other")
      company.setValue("mine", forKey: "name")
      try again.save()
    }
    try _session.connection.execute("SELECT pg_wal_replay_resume()")
  }

  @Test func `what was read on the primary stays there to be read`() throws {
    try _save("a")
    #expect(try _answered())
    try _session.connection.execute("SELECT pg_wal_replay_pause()")
    try _save("b")
    // Another program's save, read from the primary because of this one's.
    try _save("other", ServerStack(at: _url))
    #expect(try _names() == ["a", "b", "other"])
    #expect(try _names() == ["a", "b", "other"])
    try _session.connection.execute("SELECT pg_wal_replay_resume()")
  }

  @Test func `without its replica a store reads the primary`() throws {
    try _save("a")
    #expect(try _answered())
    _replica.stop()
    #expect(try _names() == ["a"])
  }

  @Test func `the log position comes with a read or save`() throws {
    let engine = try #require(_stack.store.engine as? PostgreSQLStoreEngine)
    engine.receipts.beginInterval()
    try _save("a")
    func statements(_ body: () throws -> Void) throws -> Int {
      let before = try engine.pool.withConnection("a test") { $0.statementCount }
      try body()
      return try engine.pool.withConnection("a test") { $0.statementCount } - before
    }
    // Paused, so that reads go to the primary.
    #expect(try _answered())
    try _session.connection.execute("SELECT pg_wal_replay_pause()")
    #expect(try statements { try _save("b") } == 2, "BEGIN with the receipt and INSERT, COMMIT")
    #expect(try statements { _ = try _names() } == 1)
    try _session.connection.execute("SELECT pg_wal_replay_resume()")
    #expect(try _answered())
  }

  @Test func `a replica behind the same address lags by itself`() throws {
    let other = try _server.startReplica(named: "other")
    defer { other.stop() }
    // One address that leads first to one replica, then to the other, like a load balancer.
    let directory = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: directory.path)
    defer { try? FileManager.default.removeItem(at: directory) }
    let socket = directory.appendingPathComponent(".s.PGSQL.5432")
    func lead(to server: PostgreSQLServer) throws {
      try? FileManager.default.removeItem(at: socket)
      try FileManager.default.createSymbolicLink(
        at: socket, withDestinationURL: URL(fileURLWithPath: "\(server.directory)/.s.PGSQL.\(server.port)"))
    }
    try lead(to: _replica)
    let address = URL(string: "postgresql://coredata@/postgres?host=\(directory.path)&port=5432")!
    let stack = try ServerStack(at: _url, options: [NSPostgreSQLReplicaOption: address])
    let reads = try #require((stack.store.engine as? PostgreSQLStoreEngine)?.replica)
    func names() throws -> [String] {
      let context = stack.context()
      return try context.performAndWait { try context.texts("Company", "name") }
    }
    try _save("a", stack)
    let there = try ServerSession(
      URL(string: "postgresql://coredata@/postgres?host=\(other.directory)&port=\(other.port)")!)
    // The other one has "a", and never receives "b".
    let table = "\(PostgreSQLNames.quoted(try PostgreSQLAddress(_url).schema)).company"
    try #require(
      try there.waits { _ in
        (try? there.number("SELECT count(*) FROM \(table) WHERE name = $1::text", "a")) == 1
      })
    try there.connection.execute("SELECT pg_wal_replay_pause()")
    try _save("b", stack)
    try #require(
      try _session.waits { _ in
        let before = reads.answerCount
        let found = try names()
        #expect(found == ["a", "b"])
        return reads.answerCount > before
      }, "\(_positions())")
    // A read waits on the first replica, whose connection is then in use.
    let primary = try ServerSession(_url)
    try primary.lock("tag")
    let tag = "\(primary.schema).\"tag\""
    let flusher = try ServerSession(_url)
    try #require(
      try _session.waits {
        // A lock reaches the replica with the next commit.
        try flusher.connection.execute("SELECT pg_current_xact_id()")
        return try $0.number("SELECT count(*) FROM pg_locks WHERE relation = $1::text::regclass", tag) == 1
      })
    let waiting = Thread {
      let context = stack.context()
      let found = try? context.performAndWait { try context.all("Tag").count }
      #expect(found == 0)
    }
    waiting.start()
    try #require(
      try _session.waits {
        try $0.number(
          "SELECT count(*) FROM pg_locks WHERE NOT granted AND relation = $1::text::regclass", tag) == 1
      })
    try lead(to: other)
    #expect(try names() == ["a", "b"])
    try primary.connection.execute("ROLLBACK")
    try waiting.join()
    try there.connection.execute("SELECT pg_wal_replay_resume()")
  }
}
