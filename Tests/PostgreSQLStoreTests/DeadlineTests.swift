import CoreDataPostgreSQLBinding
import Foundation
import PostgreSQLServer
import Synchronization
import Testing

@testable import CoreData
@testable import CoreDataPostgreSQL

/// Calls end in time whatever locks, server and network do, and what they say of a save is true.
@Suite(
  .enabled(if: PostgreSQLServer.shared != nil, "\(PostgreSQLServer.absence)"),
  .enabled(if: PostgreSQLServer.shared?.poolerPort == nil, "the proxy is in front of the server itself"))
struct DeadlineTests {
  private static func _options(_ seconds: Double, connections: Int = 4) -> [AnyHashable: Any] {
    [NSPostgreSQLDeadlineOption: seconds, NSPersistentStoreConnectionPoolMaxSizeKey: connections]
  }

  private func _save(_ name: String, _ stack: ServerStack) throws {
    let context = stack.context()
    try context.performAndWait {
      context.make("Company", ["name": name])
      try context.save()
    }
  }

  private func _names(_ stack: ServerStack) throws -> [String] {
    let context = stack.context()
    return try context.performAndWait { try context.texts("Company", "name") }
  }

  private func _code(_ body: () throws -> Void) -> Int? {
    do {
      try body()
      return nil
    } catch {
      return (error as NSError).code
    }
  }

  /// Ends a session's lock of the companies a while after a statement began to wait for it.
  private func _unlockLater(_ locker: ServerSession, _ stack: ServerStack) -> Thread {
    nonisolated(unsafe) let locker = locker
    let thread = Thread {
      let monitor = try? ServerSession(stack)
      _ = try? monitor?.waits { try $0.waitingStatements("company") == 1 }
      usleep(300_000)
      try? locker.connection.execute("ROLLBACK")
    }
    thread.start()
    return thread
  }

  // MARK: Locks

  @Test func `a fetch that waits for a lock ends, and so does its statement`() throws {
    let stack = try ServerStack(options: Self._options(0.3, connections: 1))
    let locker = try ServerSession(stack)
    try locker.lock("company")
    let error = #expect(throws: CocoaError.self) { _ = try _names(stack) }
    #expect(error?.code.rawValue == NSPersistentStoreTimeoutError)
    #expect(error?.localizedDescription.contains("NSPostgreSQLDeadlineOption") ?? false)
    let monitor = try ServerSession(stack)
    try #expect(monitor.waits { try $0.waitingStatements("company") == 0 })
    try locker.connection.execute("ROLLBACK")
    try #expect(_names(stack) == [])
  }

  @Test func `a save that waits for a lock ends and is not stored`() throws {
    let stack = try ServerStack(options: Self._options(0.3, connections: 1))
    let locker = try ServerSession(stack)
    try locker.lock("company")
    #expect(_code { try _save("a", stack) } == NSPersistentStoreTimeoutError)
    try locker.connection.execute("ROLLBACK")
    try #expect(_names(stack) == [])
    try _save("b", stack)
    try #expect(_names(stack) == ["b"])
  }

  @Test func `a batch takes as long as it takes`() throws {
    let stack = try ServerStack(options: Self._options(0.1))
    let locker = try ServerSession(stack)
    let context = stack.context()
    try locker.lock("company")
    let done = _unlockLater(locker, stack)
    try context.performAndWait {
      _ = try context.execute(NSBatchInsertRequest(entityName: "Company", objects: [["name": "a"]]))
    }
    try done.join()
    let free = try ServerStack(at: stack.url)
    try #expect(_names(free) == ["a"])
  }

  @Test func `without a limit a call waits`() throws {
    let stack = try ServerStack(options: Self._options(0))
    let locker = try ServerSession(stack)
    try locker.lock("company")
    let thread = _unlockLater(locker, stack)
    try #expect(_names(stack) == [])
    try thread.join()
  }

  // MARK: Networks

  struct Network: CustomTestStringConvertible, Sendable {
    let kind: PostgreSQLProxy.Fault.Kind
    let passesMessage: Bool
    let connections: Int

    var testDescription: String {
      "\(kind.rawValue) \(passesMessage ? "after" : "before") a message, \(connections) connections"
    }

    static let all = PostgreSQLProxy.Fault.Kind.allCases.flatMap { kind in
      [false, true].flatMap { passes in
        [1, 8].map { Network(kind: kind, passesMessage: passes, connections: $0) }
      }
    }
  }

  /// How a save ended.
  private enum Outcome { case stored, failed, unknown }

  @Test(.serialized, arguments: Network.all)
  func `a save on a bad network is stored, fails, or says that it does not know`(_ network: Network) throws {
    let server = try #require(PostgreSQLServer.shared)
    let url = server.newURL()
    let direct = try ServerStack(at: url)
    let outcomes = Mutex<[Int: Outcome]>([:])
    let problems = Mutex<[String]>([])
    // As many messages as a first save and a second one have, and some more.
    let threads = (0..<20).map { message in
      Thread {
        do {
          let proxy = try PostgreSQLProxy(server)
          defer { proxy.stop() }
          let stack = try ServerStack(
            at: proxy.url(url), options: Self._options(0.5, connections: network.connections))
          try _save("first \(message)", stack)
          proxy.arm(.init(network.kind, passesMessage: network.passesMessage, at: message))
          do {
            try _save("second \(message)", stack)
            outcomes.withLock { $0[message] = .stored }
          } catch let error as NSError {
            let isUnknown = error.code == NSPersistentStoreSaveError
            outcomes.withLock { $0[message] = isUnknown ? .unknown : .failed }
          }
        } catch {
          problems.withLock { $0.append("\(message): \(error)") }
        }
      }
    }
    for thread in threads { thread.start() }
    for thread in threads { try thread.join() }
    #expect(problems.withLock { $0 } == [])
    let names = try _names(direct)
    #expect(Set(names).count == names.count, "no save is there twice")
    for (message, outcome) in outcomes.withLock({ $0 }) {
      let isThere = names.contains("second \(message)")
      switch outcome {
      case .stored: #expect(isThere, "\(message) was said to be stored")
      case .failed: #expect(!isThere, "\(message) was said to have failed")
      case .unknown: #expect(network.kind == .silence, "\(message): the server can be asked")
      }
    }
    #expect(outcomes.withLock { $0 }.count == threads.count)
  }

  @Test func `a fetch through a silent network ends`() throws {
    let server = try #require(PostgreSQLServer.shared)
    let proxy = try PostgreSQLProxy(server)
    defer { proxy.stop() }
    let stack = try ServerStack(at: proxy.url(server.newURL()), options: Self._options(0.3, connections: 1))
    try #expect(_names(stack) == [])
    proxy.arm(.init(.silence, passesMessage: true, at: 0))
    #expect(_code { _ = try _names(stack) } == NSPersistentStoreTimeoutError)
    // Neither does a further connection answer.
    #expect(_code { _ = try _names(stack) } == NSPersistentStoreTimeoutError)
  }

  @Test func `opening a store behind a silent network ends`() throws {
    let server = try #require(PostgreSQLServer.shared)
    let proxy = try PostgreSQLProxy(server)
    defer { proxy.stop() }
    proxy.arm(.init(.silence, passesMessage: false, at: 0))
    let code = _code {
      _ = try ServerStack(at: proxy.url(server.newURL()), options: [NSPersistentStoreTimeoutOption: 0.3])
    }
    #expect(code == NSPersistentStoreTimeoutError)
  }

  @Test func `rows that a save of a vanished client holds are free again`() throws {
    let server = try #require(PostgreSQLServer.shared)
    let url = server.newURL()
    let direct = try ServerStack(at: url, options: Self._options(20))
    try _save("old", direct)
    func rename(_ name: String, _ stack: ServerStack) throws {
      let context = stack.context()
      try context.performAndWait {
        try #require(try context.all("Company").first).setValue(name, forKey: "name")
        try context.save()
      }
    }
    // The last message but one of a save executes its COMMIT, and an earlier one ends a statement that locks rows.
    for back in [1, 8] {
      let proxy = try PostgreSQLProxy(server)
      defer { proxy.stop() }
      let stack = try ServerStack(at: proxy.url(url), options: Self._options(0.5))
      try rename("first", stack)
      var code: Int?
      // Another connection, or the deletion of old receipts, may take more messages in the first of the two saves.
      for _ in 0..<10 where !proxy.hasHappened {
        proxy.arm(.init(.stall, passesMessage: false, at: .max))
        try rename("second", stack)
        proxy.arm(.init(.stall, passesMessage: false, at: proxy.messageCount - 1 - back))
        code = _code { try rename("lost", stack) }
      }
      #expect(proxy.hasHappened && code == NSPersistentStoreTimeoutError, "\(back): \(code ?? 0)")
    }
    try rename("free", direct)
    try #expect(_names(direct) == ["free"])
  }

  // MARK: Servers

  @Test func `callers wait while the server takes no more connections`() throws {
    let server = try PostgreSQLServer.another()
    defer { server.stop() }
    let owner = try ServerSession(server.newURL())
    try owner.connection.execute("CREATE ROLE few LOGIN CONNECTION LIMIT 2")
    try owner.connection.execute("GRANT CREATE ON DATABASE postgres TO few")
    let url = URL(string: server.newURL().absoluteString.replacing("coredata@", with: "few@"))!
    let stacks = try (0..<2).map { _ in
      try ServerStack(at: url, options: [NSPersistentStoreConnectionPoolMaxSizeKey: 8])
    }
    let problems = Mutex<[String]>([])
    let threads = (0..<8).map { thread in
      Thread {
        for number in 0..<10 {
          do {
            try _save("\(thread) \(number)", stacks[thread % 2])
          } catch {
            problems.withLock { $0.append("\(error)") }
          }
        }
      }
    }
    for thread in threads { thread.start() }
    for thread in threads { try thread.join() }
    #expect(problems.withLock { $0 } == [])
    try #expect(_names(stacks[0]).count == 80)
  }

  @Test func `a server that stays crowded is named in the error`() throws {
    let server = try PostgreSQLServer.another()
    defer { server.stop() }
    let url = server.newURL()
    _ = try ServerStack(at: url)
    let owner = try ServerSession(url)
    try owner.connection.execute("CREATE ROLE nobody LOGIN CONNECTION LIMIT 0")
    let nobody = URL(string: url.absoluteString.replacing("coredata@", with: "nobody@"))!
    let error = #expect(throws: CocoaError.self) {
      try ServerStack(at: nobody, options: [NSPersistentStoreTimeoutOption: 3])
    }
    #expect(error?.localizedDescription.contains("too many connections for role") ?? false, "\(error as Any)")
  }

  @Test func `the server soon notices that a client of a store is gone`() throws {
    let server = try #require(PostgreSQLServer.shared)
    let stack = try ServerStack(at: server.newTCPURL())
    let engine = try #require(stack.store.engine as? PostgreSQLStoreEngine)
    let found = try engine.pool.withConnection("a test") {
      try $0.run(
        "SELECT current_setting('tcp_keepalives_idle'), current_setting('tcp_user_timeout')",
        isRepeated: false)
    }
    #expect(found.string(0, 0) == "30")
    #expect(found.string(0, 1) == "60000" || found.string(0, 1) == "1min")
  }

  @Test func `work that ends its session is repeated once`() throws {
    let stack = try ServerStack()
    let session = try ServerSession(stack)
    for statement in [
      "CREATE SEQUENCE \(session.schema).attempts",
      """
      CREATE FUNCTION \(session.schema).ends() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
      PERFORM nextval('\(session.schema).attempts'); PERFORM pg_terminate_backend(pg_backend_pid());
      PERFORM pg_sleep(1); RETURN NEW; END $$
      """,
      """
      CREATE TRIGGER ends BEFORE INSERT ON \(session.schema).company FOR EACH ROW
      EXECUTE FUNCTION \(session.schema).ends()
      """,
    ] { try session.connection.execute(statement) }
    #expect(_code { try _save("a", stack) } != nil)
    try #expect(
      session.number("SELECT last_value FROM \(session.schema).attempts WHERE $1::text = ''", "") == 2)
    try #expect(_names(stack) == [])
  }

  @Test func `of several hosts a server that has become read-only is left`() throws {
    let server = try PostgreSQLServer.another()
    defer { server.stop() }
    let replica = try server.startReplica()
    defer { replica.stop() }
    let url = URL(
      string: "postgresql://coredata@/postgres?host=\(server.directory),\(replica.directory)"
        + "&port=\(server.port),\(replica.port)&schema=hosts")!
    let stack = try ServerStack(at: url)
    try _save("before", stack)
    let old = try ServerSession(server.newURL())
    let new = try ServerSession(replica.newURL())
    func isThere(_ session: ServerSession) throws -> Bool {
      guard
        try session.number("SELECT count(*) FROM pg_class WHERE oid = to_regclass($1::text)", "hosts.company")
          > 0
      else { return false }
      return try session.number("SELECT count(*) FROM hosts.company WHERE name = $1::text", "before") == 1
    }
    try #expect(new.waits(isThere))
    try new.connection.execute("SELECT pg_promote()")
    try old.connection.execute("ALTER SYSTEM SET default_transaction_read_only = on")
    try old.connection.execute("SELECT pg_reload_conf()")
    let probe = try ServerSession(server.newURL())
    try #expect(
      probe.waits { session in
        let found = try session.connection.run("SHOW default_transaction_read_only", isRepeated: false)
        return found.string(0, 0) == "on"
      })
    try _save("after", stack)
    try #expect(_names(stack) == ["after", "before"])
    let count = try new.connection.run("SELECT count(*) FROM hosts.company", isRepeated: false)
    #expect(count.int64(0, 0) == 2)
  }

  // MARK: Pools

  private func _pool(
    _ count: Int, _ change: (inout PostgreSQLPool.Limits) -> Void = { _ in }
  ) throws -> PostgreSQLPool {
    let server = try #require(PostgreSQLServer.shared)
    let address = try PostgreSQLAddress(server.newURL())
    var limits = PostgreSQLPool.Limits(count: count, wait: 10)
    change(&limits)
    return PostgreSQLPool(limits) { try PostgreSQLConnection(address.settings, until: $0) }
  }

  private func _end(_ process: Int32) throws {
    let server = try #require(PostgreSQLServer.shared)
    _ = try ServerSession(server.newURL()).number(
      "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE pid::text = $1::text", "\(process)"
    )
  }

  private func _process(_ pool: PostgreSQLPool) throws -> Int32 {
    try pool.withConnection("a test") { $0.processID }
  }

  private func _isAlive(_ process: Int32) throws -> Bool {
    let server = try #require(PostgreSQLServer.shared)
    return try ServerSession(server.newURL()).number(
      "SELECT count(*) FROM pg_stat_activity WHERE pid::text = $1::text", "\(process)") == 1
  }

  @Test func `idle connections are closed but for one`() throws {
    let pool = try _pool(3) { $0.idle = 0.2 }
    var processes: [Int32] = []
    try pool.withConnection("one") { one in
      try pool.withConnection("two") { two in
        try pool.withConnection("three") { three in
          processes = [one, two, three].map(\.processID)
        }
      }
    }
    let server = try #require(PostgreSQLServer.shared)
    let session = try ServerSession(server.newURL())
    let list = processes.map(String.init).joined(separator: ",")
    func alive() throws -> Int64 {
      try session.number(
        "SELECT count(*) FROM pg_stat_activity WHERE pid = ANY(string_to_array($1::text, ',')::int4[])", list)
    }
    for _ in 0..<600 where try alive() > 1 { usleep(20_000) }
    try #expect(alive() == 1)
    usleep(500_000)
    try #expect(alive() == 1)
    #expect(try processes.contains(_process(pool)))
  }

  @Test func `many idle stores of a program hold no connection`() throws {
    let server = try #require(PostgreSQLServer.shared)
    let session = try ServerSession(server.newURL())
    let name = "tenants-\(UUID().uuidString.prefix(8))"
    let options: [AnyHashable: Any] = [NSPostgreSQLIdleConnectionsOption: 0, NSPostgreSQLIdleTimeOption: 0.3]
    let stacks = try (0..<Self._tenants).map { _ in
      let url = server.newURL()
      return try ServerStack(
        at: URL(string: "\(url.absoluteString)&application_name=\(name)")!, options: options)
    }
    func connections() throws -> Int64 {
      try session.number("SELECT count(*) FROM pg_stat_activity WHERE application_name = $1::text", name)
    }
    for _ in 0..<3000 where try connections() > 0 { usleep(10_000) }
    try #expect(connections() == 0)
    // Each connects again.
    for stack in stacks { try _save("x", stack) }
    try #expect(connections() > 0)
    for stack in stacks { try #expect(_names(stack) == ["x"]) }
  }

  private static let _tenants = 12

  @Test func `a connection that the server has ended is not quiet`() throws {
    let pool = try _pool(1)
    try pool.withConnection("a test") { connection in
      #expect(connection.isQuiet)
      try _end(connection.processID)
      for _ in 0..<600 where connection.isQuiet { usleep(5_000) }
      #expect(!connection.isQuiet)
    }
  }

  @Test func `a connection that the server has ended while it was idle is replaced`() throws {
    let pool = try _pool(1) { $0.trust = 0 }
    let process = try _process(pool)
    try #expect(_process(pool) == process)
    try _end(process)
    // The server ends it a little later.
    for _ in 0..<600 where try _isAlive(process) { usleep(5_000) }
    usleep(20_000)
    let isUsable = try pool.withConnection("a test") { connection in
      try connection.execute("SELECT 1")
      return connection.processID != process
    }
    #expect(isUsable)
  }

  @Test func `an old connection is closed when it is returned`() throws {
    let pool = try _pool(1) { $0.age = 0 }
    let process = try _process(pool)
    try #expect(_process(pool) != process)
  }
}
