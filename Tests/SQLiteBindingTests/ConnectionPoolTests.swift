import Dispatch
import Synchronization
import Testing

@testable import SQLiteBinding

@Suite struct ConnectionPoolTests {
  private func _pool(_ directory: TemporaryDirectory, readers: Int) throws -> ConnectionPool {
    let path = directory.path("a.db")
    let writer = try Connection(path: path)
    try writer.execute("PRAGMA journal_mode = WAL; CREATE TABLE t(a)")
    return ConnectionPool(writer: writer, maximumReaders: readers) {
      try Connection(path: path, mode: .readOnly)
    }
  }

  @Test func readersDoNotWaitForAnOpenTransaction() throws {
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

  @Test func readersAreReused() throws {
    let directory = try TemporaryDirectory()
    let pool = try _pool(directory, readers: 3)
    for _ in 0..<5 { _ = try pool.read { try $0.firstValue("SELECT 1") } }
    #expect(pool.readerCount == 1)
  }

  @Test func noMoreReadersAreOpenedThanAllowed() async throws {
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
    #expect(pool.readerCount <= 2)
    #expect(highest.load(ordering: .relaxed) <= 2)
  }

  @Test func aClosedPoolSaysSo() throws {
    let directory = try TemporaryDirectory()
    let pool = try _pool(directory, readers: 1)
    _ = try pool.read { try $0.firstValue("SELECT 1") }
    pool.close()
    #expect(throws: ConnectionPool.ClosedError.self) { try pool.read { _ in } }
    #expect(throws: ConnectionPool.ClosedError.self) { try pool.write { _ in } }
  }
}
