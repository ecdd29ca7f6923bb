import Foundation
import TestSupport
import Testing

@testable import CoreDataSQLiteBinding

@Suite struct DatabaseHeadTests {
  @Test func `a database is known by its head`() throws {
    let directory = try TemporaryDirectory()
    let path = directory.path("a.db")
    let connection = try Connection(path: path)
    try connection.execute("CREATE TABLE t(a)")
    #expect(DatabaseHead.isDatabase(path))
    #expect(!DatabaseHead.hasLog(path))
    try connection.execute("PRAGMA journal_mode = WAL")
    #expect(DatabaseHead.hasLog(path))
  }

  @Test func `other files are not`() throws {
    let directory = try TemporaryDirectory()
    let path = directory.path("a.txt")
    #expect(DatabaseHead.bytes(path, count: 16) == nil)
    try Data("SQL".utf8).write(to: URL(fileURLWithPath: path))
    #expect(DatabaseHead.bytes(path, count: 16) == Array("SQL".utf8))
    #expect(!DatabaseHead.isDatabase(path))
    #expect(!FileManager.default.fileExists(atPath: path + "-journal"))
  }

  /// Closing a descriptor would release the process's lock, which keeps another process out.
  @Test func `looking at a file keeps the locks on it`() throws {
    let directory = try TemporaryDirectory()
    let path = directory.path("a.db")
    let connection = try Connection(path: path)
    try connection.execute("CREATE TABLE t(a)")
    try connection.beginImmediate()
    #expect(DatabaseHead.isDatabase(path))
    let program =
      "import fcntl, sys\nf = open(sys.argv[1], 'r+b')\nf.seek(0x40000001)\n"
      + "try:\n  fcntl.lockf(f, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, 0x40000001)\nexcept OSError:\n  sys.exit(7)\n"
    let python = try ChildProcess.run("python3", ["-c", program, path])
    // 127: Python is not installed.
    #expect([7, 127].contains(python.code))
  }
}
