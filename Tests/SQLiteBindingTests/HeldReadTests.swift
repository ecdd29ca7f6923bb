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

  @Test func readsWithoutACommitBetweenThemShareATransaction() throws {
    try _readThrice()
    #expect(_pool.heldReadCount == 1)
  }

  @Test func aCommitOfThePoolIsSeenByTheNextRead() throws {
    try _readThrice()
    try _pool.write { try $0.execute("INSERT INTO t VALUES(1)") }
    #expect(try _count() == .int(1))
  }

  @Test func aCommitOfAnybodyElseIsSeenByTheNextRead() throws {
    let other = try Connection(path: _path)
    for number in 1...50 {
      try _readThrice()
      try other.execute("INSERT INTO t VALUES(1)")
      #expect(try _count() == .int(Int64(number)))
    }
  }

  @Test func aSchemaChangedElsewhereIsSeenByTheNextRead() throws {
    try _readThrice()
    try Connection(path: _path).execute("ALTER TABLE t ADD COLUMN b DEFAULT 7; INSERT INTO t(a) VALUES(1)")
    #expect(try _pool.read { try $0.firstValue("SELECT b FROM t") } == .int(7))
  }

  @Test func aWriteEndsTheTransactionsOfIdleReaders() throws {
    try _readThrice()
    try _pool.write { _ in #expect(_pool.heldReadCount == 0) }
  }

  @Test func anIdleReaderLetsTheLogBeCutSoon() throws {
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

  @Test func aReadThatFailsLeavesNoTransactionBehind() throws {
    try _readThrice()
    #expect(throws: (any Error).self) { try _pool.read { try $0.firstValue("SELECT nothing FROM nowhere") } }
    #expect(_pool.heldReadCount == 0)
  }

  @Test func withoutALogNothingIsHeld() throws {
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
