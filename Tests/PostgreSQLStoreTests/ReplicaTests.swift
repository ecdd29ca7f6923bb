import CoreData
import Foundation
import PostgreSQLServer
import Testing

@testable import CoreDataPostgreSQL

/// Reads on a replica, by `NSPostgreSQLReplicaOption`.
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

  @Test func `what was read on the primary stays there to be read`() throws {
    try _save("a")
    #expect(try _answered())
    try _session.connection.execute("SELECT pg_wal_replay_pause()")
    try _save("b")
    // Another program's save, seen on the primary because of this one's.
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
}
