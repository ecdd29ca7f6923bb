import Testing

@testable import CoreDataSQLiteBinding

/// What a pool learns of commits by others, who write through a connection of their own.
@Suite struct CommitWatchTests {
  private let _directory: TemporaryDirectory
  private let _own: Connection
  private let _other: Connection
  private let _watch = CommitWatch()

  init() throws {
    _directory = try TemporaryDirectory()
    _own = try Connection(path: _directory.path("a.db"))
    try _own.execute("PRAGMA journal_mode = WAL; CREATE TABLE t(a); INSERT INTO t VALUES(0)")
    _other = try Connection(path: _directory.path("a.db"), mode: .readWrite)
    _watch.begin(with: _own)
    _own.commitWatch = _watch
  }

  private func _insert(_ connection: Connection) throws { try connection.execute("INSERT INTO t VALUES(1)") }

  @Test func `a commit by another connection is told once`() throws {
    #expect(!_watch.check())
    try _insert(_other)
    #expect(_watch.check())
    #expect(!_watch.check())
  }

  @Test func `a commit of one's own is not told`() throws {
    try _own.transaction { try _insert(_own) }
    #expect(!_watch.check())
    try _own.transaction {}
    #expect(!_watch.check())
  }

  @Test func `a commit before one's own transaction is told while that is under way`() throws {
    try _insert(_other)
    try _own.transaction {
      try _insert(_own)
      #expect(_watch.check())
      #expect(!_watch.check())
    }
    #expect(!_watch.check())
  }

  @Test func `a commit right after one's own is told`() throws {
    try _own.beginImmediate()
    _watch.willWrite(_own)
    try _insert(_own)
    try _own.commit()
    try _insert(_other)
    _watch.didCommit(_own)
    #expect(_watch.check())
    #expect(!_watch.check())
  }

  @Test func `a commit right after one's own without changes is told`() throws {
    try _own.beginImmediate()
    _watch.willWrite(_own)
    try _own.commit()
    try _insert(_other)
    _watch.didCommit(_own)
    #expect(_watch.check())
  }

  @Test func `a commit right after one's own was rolled back is told`() throws {
    struct Refused: Error {}
    #expect(throws: Refused.self) {
      try _own.transaction {
        try _insert(_own)
        throw Refused()
      }
    }
    #expect(!_watch.check())
    try _insert(_other)
    #expect(_watch.check())
  }

  @Test func `a log that starts over in one's own transaction is not told`() throws {
    try _own.checkpoint(.full)
    try _own.transaction { try _insert(_own) }
    #expect(!_watch.check())
  }
}
