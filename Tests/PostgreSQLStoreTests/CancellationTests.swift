import CoreData
import CoreDataPostgreSQL
import Foundation
import PostgreSQLServer
import Synchronization
import Testing

/// Work that is cancelled while its statement waits for a table that another session has locked.
@Suite(.enabled(if: PostgreSQLServer.shared != nil, "\(PostgreSQLServer.absence)"))
struct CancellationTests {
  private let _stack: ServerStack
  private let _monitor: ServerSession
  private let _locker: ServerSession

  init() throws {
    // Without a deadline: a suspended test may wait for minutes until it has one of the threads that all tests share.
    _stack = try ServerStack(options: [NSPostgreSQLDeadlineOption: 0])
    _monitor = try ServerSession(_stack)
    _locker = try ServerSession(_stack)
    try _locker.lock("company")
  }

  /// Waits until this many statements wait for the table.
  private func _expectWait(_ count: Int64) async throws {
    for _ in 0..<3000 {
      if try _monitor.waitingStatements("company") == count { return }
      // Suspends instead of blocking: the Tasks of these tests need a thread.
      try await Task.sleep(for: .milliseconds(20))
    }
    Issue.record("there are not \(count) statements that wait")
  }

  @Test(arguments: [false, true])
  func `cancelling a Task ends its fetch on the server`(_ counts: Bool) async throws {
    let context = _stack.context()
    let task = Task {
      try await context.perform {
        counts
          ? try context.count(for: NSFetchRequest<NSManagedObject>(entityName: "Company"))
          : try context.all("Company").count
      }
    }
    try await _expectWait(1)
    task.cancel()
    let error = await #expect(throws: CocoaError.self) { try await task.value }
    #expect(error?.code == .userCancelled)
    try await _expectWait(0)
  }

  @Test func `a Task that fetches by itself is asked, too`() async throws {
    let context = _stack.context()
    let thread = OwnThread()
    let task = Task {
      try await thread.run { try context.performAndWait { try context.all("Company").count } }
    }
    try await _expectWait(1)
    task.cancel()
    let error = await #expect(throws: CocoaError.self) { try await task.value }
    #expect(error?.code == .userCancelled)
  }

  @Test func `resetting a context ends its asynchronous fetch`() async throws {
    let context = _stack.context()
    let request = NSFetchRequest<NSManagedObject>(entityName: "Company")
    let code = Mutex<CocoaError.Code?>(nil)
    let asynchronous = NSAsynchronousFetchRequest(fetchRequest: request) { result in
      code.withLock { $0 = (result.operationError as? CocoaError)?.code }
    }
    _ = try context.performAndWait { try context.execute(asynchronous) }
    try await _expectWait(1)
    context.performAndWait { context.reset() }
    try await _expectWait(0)
    for _ in 0..<3000 where code.withLock({ $0 }) == nil { try await Task.sleep(for: .milliseconds(20)) }
    #expect(code.withLock { $0 } == .userCancelled)
  }

  @Test func `a save of a cancelled Task is finished`() async throws {
    let context = _stack.context()
    let task = Task {
      try await context.perform {
        context.make("Company", ["name": "a"])
        try context.save()
      }
    }
    try await _expectWait(1)
    task.cancel()
    try _locker.connection.execute("ROLLBACK")
    try await task.value
    let names = try await context.perform { try context.texts("Company", "name") }
    #expect(names == ["a"])
  }

  @Test func `a fault that a cancelled fetch fires is filled`() async throws {
    let context = _stack.context()
    try _locker.connection.execute("ROLLBACK")
    try await context.perform {
      context.make("Company", ["name": "a"])
      try context.save()
    }
    let reader = try ServerStack(at: _stack.url, options: [NSPostgreSQLDeadlineOption: 0]).context()
    let id = try await reader.perform {
      let request = NSFetchRequest<NSManagedObject>(entityName: "Company")
      request.includesPropertyValues = false
      return try #require(try reader.fetch(request).first).objectID
    }
    try _locker.lock("company")
    let name = Mutex<String?>(nil)
    let thread = Thread {
      let found = reader.performAndWait {
        RunningQuery.ending(when: { true }) { reader.object(with: id).value(forKey: "name") as? String }
      }
      name.withLock { $0 = found }
    }
    thread.start()
    try await _expectWait(1)
    // Long enough for a statement to be cancelled if it could be.
    try await Task.sleep(for: .milliseconds(200))
    try await _expectWait(1)
    try _locker.connection.execute("ROLLBACK")
    while !thread.isFinished { try await Task.sleep(for: .milliseconds(5)) }
    #expect(name.withLock { $0 } == "a")
  }
}

/// Runs on a thread of its own: other tests wait for the main queue, and keep the threads of the concurrency pool, one for
/// each core, while they do.
private actor OwnThread {
  private final class Executor: SerialExecutor {
    func enqueue(_ job: consuming ExecutorJob) {
      let job = UnownedJob(job)
      Thread.detachNewThread { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
    }
  }

  private let _executor = Executor()

  nonisolated var unownedExecutor: UnownedSerialExecutor { _executor.asUnownedSerialExecutor() }

  func run<Result: Sendable>(_ body: @Sendable () throws -> Result) rethrows -> Result { try body() }
}
