import Foundation
import PostgreSQLServer
import Testing

@testable import CoreData
@testable import CoreDataPostgreSQL

/// Fetches that are cancelled while they wait for something else than their statement.
@Suite(
  .enabled(if: PostgreSQLServer.shared != nil, "\(PostgreSQLServer.absence)"),
  .enabled(if: PostgreSQLServer.shared?.poolerPort == nil, "the proxy is in front of the server itself"))
struct CancelledWaitTests {
  private func _options(_ seconds: Double, connections: Int = 4) -> [AnyHashable: Any] {
    [
      NSPostgreSQLDeadlineOption: seconds, NSPersistentStoreConnectionPoolMaxSizeKey: connections,
      NSPersistentStoreTimeoutOption: 20.0,
    ]
  }

  private func _count(_ stack: ServerStack) throws -> Int {
    let context = stack.context()
    return try context.performAndWait { try context.all("Company").count }
  }

  /// When something has happened on another thread.
  private final class Moment: @unchecked Sendable {
    // Unchecked: guarded by the lock.
    private let _lock = NSLock()
    private var _value: ContinuousClock.Instant?

    func isNow() { _lock.withLock { _value = .now } }
    var value: ContinuousClock.Instant? { _lock.withLock { _value } }
  }

  /// Fetches in a Task, and notes when that has ended.
  private func _fetch(_ stack: ServerStack, _ ended: Moment) -> Task<Int, any Error> {
    let context = stack.context()
    return Task {
      try await context.perform {
        defer { ended.isNow() }
        return try context.all("Company").count
      }
    }
  }

  @Test func `a cancelled fetch ends though the network is silent`() async throws {
    let server = try #require(PostgreSQLServer.shared)
    let proxy = try PostgreSQLProxy(server)
    defer { proxy.stop() }
    let stack = try ServerStack(at: proxy.url(server.newURL()), options: _options(0))
    try #expect(_count(stack) == 0)
    proxy.arm(.init(.silence, passesMessage: true, at: 0))
    let ended = Moment()
    let task = _fetch(stack, ended)
    for _ in 0..<6_000 where !proxy.hasHappened { try await Task.sleep(for: .milliseconds(5)) }
    #expect(proxy.hasHappened)
    let cancelled = ContinuousClock.now
    task.cancel()
    await #expect { try await task.value } throws: { ($0 as? CocoaError)?.code == .userCancelled }
    // Two seconds for the server to answer; ten more for another connection, and a minute if nothing watches the network.
    let end = try #require(ended.value)
    #expect(end - cancelled < .seconds(9))
  }

  @Test func `a cancelled fetch leaves the line for a connection`() async throws {
    let stack = try ServerStack(options: _options(0, connections: 1))
    let (monitor, locker) = (try ServerSession(stack), try ServerSession(stack))
    try locker.lock("company")
    let ended = Moment()
    let first = _fetch(stack, Moment())
    for _ in 0..<3_000 where try monitor.waitingStatements("company") == 0 {
      try await Task.sleep(for: .milliseconds(20))
    }
    let second = _fetch(stack, ended)
    // Until it stands in line. A fetch that is cancelled before ends, too.
    try await Task.sleep(for: .milliseconds(300))
    let cancelled = ContinuousClock.now
    second.cancel()
    await #expect { try await second.value } throws: { ($0 as? CocoaError)?.code == .userCancelled }
    // The first one has the only connection, still. The line would end after 20 seconds.
    try #expect(monitor.waitingStatements("company") == 1)
    let end = try #require(ended.value)
    #expect(end - cancelled < .seconds(10))
    try locker.connection.execute("ROLLBACK")
    let counts = try await [first.value, _fetch(stack, Moment()).value]
    #expect(counts == [0, 0])
  }

  @Test func `a cancelled fetch ends while it connects`() async throws {
    let server = try #require(PostgreSQLServer.shared)
    let proxy = try PostgreSQLProxy(server)
    defer { proxy.stop() }
    let stack = try ServerStack(at: proxy.url(server.newURL()), options: _options(0, connections: 1))
    try #expect(_count(stack) == 0)
    // Without its connection, the store makes another one.
    let engine = try #require(stack.store.engine as? PostgreSQLStoreEngine)
    engine.pool.dropIdle()
    proxy.arm(.init(.silence, passesMessage: false, at: 0))
    let ended = Moment()
    let task = _fetch(stack, ended)
    for _ in 0..<6_000 where !proxy.hasHappened { try await Task.sleep(for: .milliseconds(5)) }
    // The message may have been the farewell of the connection that was dropped.
    try await Task.sleep(for: .milliseconds(300))
    let cancelled = ContinuousClock.now
    task.cancel()
    await #expect { try await task.value } throws: { ($0 as? CocoaError)?.code == .userCancelled }
    // A connection may take ten seconds.
    let end = try #require(ended.value)
    #expect(end - cancelled < .seconds(5))
  }
}
