import Foundation
import Testing

@testable import CoreDataSQLiteBinding

@Suite struct HeldReadTests {
  private let _directory: TemporaryDirectory
  private let _pool: ConnectionPool
  private let _path: String

  init() throws {
    _directory = try TemporaryDirectory()
    let path = _directory.path("a.db")
    _path = path
    let writer = try Connection(path: path)
    try writer.execute("PRAGMA journal_mode = WAL; CREATE TABLE t(a)")
    _pool = ConnectionPool(writer, maximumReads: 2, holdsReads: true) {
      try Connection(path: path, mode: .readWrite)
    }
  }

  private func _count() throws -> Binding? {
    try _pool.read { try $0.firstValue("SELECT COUNT(*) FROM t") }
  }

  private func _readThrice() throws {
    for _ in 0..<3 { _ = try _count() }
  }

  @Test func `reads without a commit between them share a transaction`() throws {
    try _readThrice()
    #expect(_pool.heldReadCount == 1)
  }

  @Test func `a commit of the pool is seen by the next read`() throws {
    try _readThrice()
    try _pool.write { try $0.execute("INSERT INTO t VALUES(1)") }
    #expect(try _count() == .int(1))
  }

  @Test func `a commit of anybody else is seen by the next read`() throws {
    let other = try Connection(path: _path)
    for number in 1...50 {
      try _readThrice()
      try other.execute("INSERT INTO t VALUES(1)")
      #expect(try _count() == .int(Int64(number)))
    }
  }

  @Test func `a schema changed elsewhere is seen by the next read`() throws {
    try _readThrice()
    try Connection(path: _path).execute("ALTER TABLE t ADD COLUMN b DEFAULT 7; INSERT INTO t(a) VALUES(1)")
    #expect(try _pool.read { try $0.firstValue("SELECT b FROM t") } == .int(7))
  }

  @Test func `a write ends the transactions of idle readers`() throws {
    try _readThrice()
    try _pool.write { _ in #expect(_pool.heldReadCount == 0) }
  }

  @Test func `an idle reader lets the log be cut soon`() throws {
    let other = try Connection(path: _path, busyTimeout: 0)
    try other.execute("INSERT INTO t VALUES(1)")
    try _readThrice()
    try other.execute("INSERT INTO t VALUES(2)")
    let deadline = Date().addingTimeInterval(30)
    while Date() < deadline, (try? other.checkpoint(.truncate)) == nil { usleep(5_000) }
    let log = try FileManager.default.attributesOfItem(atPath: _path + "-wal")[.size] as? Int
    #expect(log == 0)
    #expect(_pool.heldReadCount == 0)
  }

  @Test func `a read that fails leaves no transaction behind`() throws {
    try _readThrice()
    #expect(throws: (any Error).self) { try _pool.read { try $0.firstValue("SELECT nothing FROM nowhere") } }
    #expect(_pool.heldReadCount == 0)
  }

  @Test func `without a log nothing is held`() throws {
    let path = _directory.path("plain.db")
    let writer = try Connection(path: path)
    try writer.execute("CREATE TABLE t(a)")
    let pool = ConnectionPool(writer, maximumReads: 1) {
      try Connection(path: path, mode: .readWrite)
    }
    for _ in 0..<3 { _ = try pool.read { try $0.firstValue("SELECT COUNT(*) FROM t") } }
    #expect(pool.heldReadCount == 0)
    #expect(!FileManager.default.fileExists(atPath: path + "-shm"))
  }
}
