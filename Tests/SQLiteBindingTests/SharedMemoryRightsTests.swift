import Foundation
import Synchronization
import Testing

@testable import CoreDataSQLiteBinding

/// Readers that must not write a database's shared memory, and writers of the same process.
@Suite struct SharedMemoryRightsTests {
  /// A database with a write-ahead log and its shared memory, as a killed process leaves them.
  private static func _abandoned(_ body: (String) throws -> Void) throws {
    let directory = FileManager.default.temporaryDirectory.appendingPathComponent(
      "rights-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: directory) }
    let (original, path) = (directory.path + "/original", directory.path + "/database")
    let connection = try Connection(path: original)
    try connection.execute("PRAGMA journal_mode = WAL; CREATE TABLE t (n); INSERT INTO t VALUES (1)")
    for suffix in ["", "-wal", "-shm"] {
      try FileManager.default.copyItem(atPath: original + suffix, toPath: path + suffix)
    }
    try withExtendedLifetime(connection) { try body(path) }
  }

  private static func _readers(_ path: String) throws -> ConnectionPool {
    @Sendable func open() throws -> Connection { try Connection(path: path, mode: .readOnlyBeside) }
    return ConnectionPool(try open(), maximumReads: 2, open: open)
  }

  private static func _count(_ connection: Connection) throws -> Binding? {
    try connection.firstValue("SELECT COUNT(*) FROM t")
  }

  @Test func `a writer that comes after a reader writes, and the reader sees it`() throws {
    try Self._abandoned { path in
      let readers = try Self._readers(path)
      #expect(try readers.read(Self._count) == .int(1))
      let writer = try Connection(path: path, mode: .readWrite)
      try writer.execute("INSERT INTO t VALUES (2)")
      #expect(try readers.read(Self._count) == .int(2))
    }
  }

  @Test func `a writer waits until a read has ended`() async throws {
    try Self._abandoned { path in
      let readers = try Self._readers(path)
      let (isReading, isWritten) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
      let isRead = DispatchSemaphore(value: 0)
      // The writer stays open until the second read: the last connection to close deletes the log and its memory.
      defer { isRead.signal() }
      Thread.detachNewThread {
        isReading.wait()
        let writer = try? Connection(path: path, mode: .readWrite)
        try? writer?.execute("INSERT INTO t VALUES (2)")
        isWritten.signal()
        isRead.wait()
        withExtendedLifetime(writer) {}
      }
      try readers.read { connection in
        isReading.signal()
        #expect(isWritten.wait(timeout: .now() + .milliseconds(50)) == .timedOut)
        let count = try Self._count(connection)
        #expect(count == .int(1))
      }
      #expect(isWritten.wait(timeout: .now() + 10) == .success)
      #expect(try readers.read(Self._count) == .int(2))
    }
  }

  @Test func `a reader that stays makes the writer fail as busy`() throws {
    try Self._abandoned { path in
      let reader = try Connection(path: path, mode: .readOnlyBeside)
      do {
        _ = try Connection(path: path, mode: .readWrite, busyTimeout: 0.02)
        Issue.record("the writer was opened")
      } catch let error as SQLiteError {
        #expect(error.isBusy)
      }
      #expect(try Self._count(reader) == .int(1))
    }
  }

  @Test func `a reader that is opened while a writer waits does not keep it from writing`() throws {
    try Self._abandoned { path in
      let readers = try Self._readers(path)
      let (isReading, isOpen) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
      let (isWritten, isDone) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
      let failure = Mutex<(any Error)?>(nil)
      Thread.detachNewThread {
        isReading.wait()
        do {
          let writer = try Connection(path: path, mode: .readWrite)
          try writer.execute("INSERT INTO t VALUES (2)")
        } catch {
          failure.withLock { $0 = error }
        }
        isWritten.signal()
      }
      Thread.detachNewThread {
        isReading.wait()
        let late = try? Self._readers(path)
        _ = try? late?.read(Self._count)
        isOpen.signal()
        isDone.wait()
        withExtendedLifetime(late) {}
      }
      try readers.read { connection in
        isReading.signal()
        isReading.signal()
        Thread.sleep(forTimeInterval: 0.05)
        _ = try Self._count(connection)
      }
      #expect(isOpen.wait(timeout: .now() + 10) == .success)
      #expect(isWritten.wait(timeout: .now() + 15) == .success)
      isDone.signal()
      #expect(failure.withLock { $0.map { "\($0)" } } == nil)
    }
  }

  @Test func `a read within a read goes on while a writer waits for the outer one`() throws {
    try Self._abandoned { path in
      let readers = try Self._readers(path)
      let (isReading, isWritten) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
      let failure = Mutex<(any Error)?>(nil)
      Thread.detachNewThread {
        isReading.wait()
        do {
          try Connection(path: path, mode: .readWrite).execute("INSERT INTO t VALUES (2)")
        } catch {
          failure.withLock { $0 = error }
        }
        isWritten.signal()
      }
      try readers.read { outer in
        isReading.signal()
        Thread.sleep(forTimeInterval: 0.05)
        let inner = try readers.read(Self._count)
        let count = try Self._count(outer)
        #expect(inner == count)
      }
      #expect(isWritten.wait(timeout: .now() + 15) == .success)
      #expect(failure.withLock { $0.map { "\($0)" } } == nil)
    }
  }

  @Test(arguments: [Double.infinity, .nan, -1, 0, 1e300])
  func `a writer takes any time limit, and with none closes an idle reader`(seconds: Double) throws {
    try Self._abandoned { path in
      let readers = try Self._readers(path)
      #expect(try readers.read(Self._count) == .int(1))
      let writer = try Connection(path: path, mode: .readWrite, busyTimeout: seconds)
      try writer.execute("INSERT INTO t VALUES (2)")
    }
  }
}
