import Dispatch
import Foundation
import Synchronization
import Testing

@testable import CoreDataSQLiteBinding

@Suite struct ConnectionPoolTests {
  private func _pool(_ directory: TemporaryDirectory, readers: Int, holdsReads: Bool = false) throws
    -> ConnectionPool
  {
    let path = directory.path("a.db")
    let writer = try Connection(path: path)
    try writer.execute("PRAGMA journal_mode = WAL; CREATE TABLE t(a)")
    return ConnectionPool(writer, maximumReads: readers, holdsReads: holdsReads) {
      try Connection(path: path, mode: .readWrite)
    }
  }

  @Test func `readers do not wait for an open transaction`() throws {
    let directory = try TemporaryDirectory()
    let pool = try _pool(directory, readers: 1)
    let seen = try pool.write { writer in
      try writer.transaction {
        try writer.execute("INSERT INTO t VALUES(1)")
        return try pool.read { try $0.firstValue("SELECT COUNT(*) FROM t") }
      }
    }
    #expect(seen == .int(0))
    #expect(try pool.read { try $0.firstValue("SELECT COUNT(*) FROM t") } == .int(1))
  }

  @Test func `who reads and writes by himself has one connection`() throws {
    let directory = try TemporaryDirectory()
    let pool = try _pool(directory, readers: 3)
    for _ in 0..<5 {
      _ = try pool.read { try $0.firstValue("SELECT 1") }
      try pool.write { try $0.execute("INSERT INTO t VALUES(1)") }
    }
    #expect(pool.connectionCount == 1)
  }

  @Test func `the connection that wrote last is taken first`() throws {
    let directory = try TemporaryDirectory()
    let pool = try _pool(directory, readers: 3)
    var writer: Connection?
    var other: Connection?
    try pool.write { connection in
      writer = connection
      try pool.read { other = $0 }
    }
    #expect(other !== writer)
    // The other one was returned last, and is therefore on top.
    try pool.write { connection in try pool.read { _ in #expect(connection === writer) } }
    #expect(try pool.read { $0 === writer })
  }

  @Test func `a write does not wait for reads`() throws {
    let directory = try TemporaryDirectory()
    let pool = try _pool(directory, readers: 1)
    let seen = try pool.read { reader in
      try reader.execute("BEGIN")
      _ = try reader.firstValue("SELECT COUNT(*) FROM t")
      try pool.write { try $0.execute("INSERT INTO t VALUES(1)") }
      defer { try? reader.execute("COMMIT") }
      return try reader.firstValue("SELECT COUNT(*) FROM t")
    }
    #expect(seen == .int(0))
    #expect(try pool.read { try $0.firstValue("SELECT COUNT(*) FROM t") } == .int(1))
  }

  @Test func `no more read at once than allowed`() async throws {
    let directory = try TemporaryDirectory()
    let pool = try _pool(directory, readers: 2)
    let running = Atomic<Int>(0)
    let highest = Atomic<Int>(0)
    DispatchQueue.concurrentPerform(iterations: 200) { _ in
      try? pool.read { reader in
        let now = running.add(1, ordering: .relaxed).newValue
        _ = highest.max(now, ordering: .relaxed)
        _ = try reader.firstValue("SELECT COUNT(*) FROM t")
        running.subtract(1, ordering: .relaxed)
      }
    }
    #expect(pool.connectionCount <= 2)
    #expect(highest.load(ordering: .relaxed) <= 2)
  }

  @Test(arguments: [false, true])
  func `a closed pool leaves no log behind`(holdsReads: Bool) throws {
    let directory = try TemporaryDirectory()
    let pool = try _pool(directory, readers: 2, holdsReads: holdsReads)
    try pool.write { try $0.execute("INSERT INTO t VALUES(1)") }
    for _ in 0..<3 { _ = try pool.read { try $0.firstValue("SELECT COUNT(*) FROM t") } }
    pool.close()
    #expect(!FileManager.default.fileExists(atPath: directory.path("a.db-wal")))
  }

  @Test func `an interrupted connection leaves no log behind`() throws {
    let directory = try TemporaryDirectory()
    func open() throws {
      let connection = try Connection(path: directory.path("a.db"))
      try connection.execute("PRAGMA journal_mode = WAL; CREATE TABLE t(a)")
      connection.interrupt()
    }
    try open()
    #expect(!FileManager.default.fileExists(atPath: directory.path("a.db-wal")))
  }

  @Test func `a closed pool says so`() throws {
    let directory = try TemporaryDirectory()
    let pool = try _pool(directory, readers: 1)
    _ = try pool.read { try $0.firstValue("SELECT 1") }
    pool.close()
    #expect(throws: ConnectionPool.ClosedError.self) { try pool.read { _ in } }
    #expect(throws: ConnectionPool.ClosedError.self) { try pool.write { _ in } }
  }

  // MARK: Faults

  private static let _fault = SQLiteError(code: 522, message: "disk I/O error")

  @Test func `a connection with a read error is not lent again`() throws {
    let directory = try TemporaryDirectory()
    let pool = try _pool(directory, readers: 2)
    var faulty: Connection?
    #expect(throws: SQLiteError.self) {
      try pool.read { connection in
        faulty = connection
        throw Self._fault
      }
    }
    #expect(try pool.read { $0 !== faulty })
    #expect(pool.connectionCount == 1)
  }

  @Test func `a connection with a write error is not lent again`() throws {
    let directory = try TemporaryDirectory()
    let pool = try _pool(directory, readers: 2)
    var faulty: Connection?
    #expect(throws: SQLiteError.self) {
      try pool.write { connection in
        faulty = connection
        try connection.execute("BEGIN IMMEDIATE; INSERT INTO t VALUES(1)")
        throw Self._fault
      }
    }
    try pool.write { connection in
      #expect(connection !== faulty)
      try connection.execute("INSERT INTO t VALUES(2)")
    }
    #expect(try pool.read { try $0.firstValue("SELECT group_concat(a) FROM t") } == .text("2"))
  }

  @Test func `an error that is no fault keeps the connection`() throws {
    let directory = try TemporaryDirectory()
    let pool = try _pool(directory, readers: 2)
    var first: Connection?
    #expect(throws: SQLiteError.self) {
      try pool.read { connection in
        first = connection
        try connection.execute("SELECT nonsense")
      }
    }
    #expect(try pool.read { $0 === first })
  }

  @Test func `a reader that waits for a faulty connection gets a fresh one`() throws {
    let directory = try TemporaryDirectory()
    let pool = try _pool(directory, readers: 1)
    let isReading = DispatchSemaphore(value: 0)
    // Each is written before the other thread may continue.
    nonisolated(unsafe) var (faulty, second): (Connection?, Connection?)
    let waiter = Thread {
      isReading.wait()
      #expect(throws: Never.self) {
        try pool.read { connection in
          _ = try connection.firstValue("SELECT 1")
          second = connection
        }
      }
      isReading.signal()
    }
    waiter.start()
    try? pool.read { connection in
      faulty = connection
      isReading.signal()
      // Usually long enough for the other thread to wait; it reads in either case.
      Thread.sleep(forTimeInterval: 0.05)
      throw Self._fault
    }
    isReading.wait()
    #expect(second != nil && second !== faulty)
  }

  @Test func `a database in memory outlives a fault`() throws {
    let connection = try Connection(path: ":memory:")
    let pool = ConnectionPool(connection, maximumReads: 2, hasOne: true, replacesFaulty: false) { connection }
    try pool.write { try $0.execute("CREATE TABLE t(a)") }
    #expect(throws: SQLiteError.self) { try pool.write { _ in throw Self._fault } }
    #expect(try pool.read { try $0.firstValue("SELECT COUNT(*) FROM t") } == .int(0))
  }
}
