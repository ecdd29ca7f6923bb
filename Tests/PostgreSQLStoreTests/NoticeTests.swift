import CoreData
import Dispatch
import Foundation
import PostgreSQLServer
import Synchronization
import Testing

@testable import CoreDataPostgreSQL

@Suite(.enabled(if: PostgreSQLServer.shared != nil, "\(PostgreSQLServer.absence)"))
struct NoticeTests {
  private static var _options: [AnyHashable: Any] {
    [
      NSPersistentHistoryTrackingKey: true, NSPersistentStoreRemoteChangeNotificationPostOptionKey: true,
      NSPostgreSQLNotifiesOption: true,
    ]
  }

  @Test(
    .enabled(if: PostgreSQLServer.shared?.poolerPort == nil, "a pooler passes no notifications on"),
    arguments: [false, true]) func `the server tells of a save where asked`(_ notifies: Bool) throws
  {
    var options = Self._options
    options[NSPostgreSQLNotifiesOption] = notifies
    let stack = try ServerStack(options: options)
    let engine = try #require(stack.store.engine as? PostgreSQLStoreEngine)
    let (heard, looked) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    // One of them never polls, and the other does not listen.
    let listening = try PostgreSQLChangeFeed(engine, listens: true, interval: .seconds(3600)) {
      heard.signal()
    }
    let looking = try PostgreSQLChangeFeed(engine, listens: false, interval: .milliseconds(50)) {
      looked.signal()
    }
    let context = stack.context()
    try context.performAndWait {
      context.make("Company", ["name": "a"])
      try context.save()
    }
    #expect(looked.wait(timeout: .now() + 60) == .success)
    #expect(heard.wait(timeout: .now() + (notifies ? 60 : 0.3)) == (notifies ? .success : .timedOut))
    withExtendedLifetime((listening, looking)) {}
  }

  @Test(
    .enabled(if: PostgreSQLServer.shared?.poolerPort == nil, "a pooler passes no notifications on"),
    arguments: [false, true]) func `a store that notifies listens`(_ notifies: Bool) throws
  {
    var options = Self._options
    options[NSPostgreSQLNotifiesOption] = notifies
    let stack = try ServerStack(options: options)
    let engine = try #require(stack.store.engine as? PostgreSQLStoreEngine)
    #expect(try ServerSession(stack).listeners(engine.channel) == (notifies ? 1 : 0))
  }

  @Test(.enabled(if: PostgreSQLServer.shared?.poolerPort == nil, "a pooler passes no notifications on"))
  func `listeners that have lost their connections listen again`() throws {
    // Many at once: the system gives the number of a closed socket to the next one.
    let stacks = try (0..<6).map { _ in try ServerStack(options: Self._options) }
    let session = try ServerSession(stacks[0])
    let listener = "FROM pg_stat_activity WHERE query = 'LISTEN ' || $1::text"
    let channels = try stacks.map { stack in
      PostgreSQLNames.quoted(try #require(stack.store.engine as? PostgreSQLStoreEngine).channel)
    }
    for _ in 0..<5 {
      let processes = try channels.map { try session.number("SELECT pid \(listener)", $0) }
      for channel in channels {
        try #require(try session.number("SELECT count(pg_terminate_backend(pid)) \(listener)", channel) == 1)
      }
      for (channel, process) in zip(channels, processes) {
        let isBack = try session.waits {
          try $0.number("SELECT count(*) \(listener) AND pid <> \(process)", channel) == 1
        }
        try #require(isBack)
      }
    }
    withExtendedLifetime(stacks) {}
  }

  @Test func `a save is noticed by another program`() throws {
    let stack = try ServerStack(options: Self._options)
    let other = try ServerStack(at: stack.url, options: Self._options)
    let noticed = DispatchSemaphore(value: 0)
    let token = NotificationCenter.default.addObserver(
      forName: .NSPersistentStoreRemoteChange, object: other.coordinator, queue: nil
    ) { _ in noticed.signal() }
    defer { NotificationCenter.default.removeObserver(token) }
    let context = stack.context()
    try context.performAndWait {
      context.make("Company", ["name": "a"])
      try context.save()
    }
    #expect(noticed.wait(timeout: .now() + 60) == .success)
  }

  @Test func `a generation ends at its age and says so`() throws {
    let stack = try ServerStack(options: [
      NSPostgreSQLQueryGenerationsOption: 1, NSPostgreSQLQueryGenerationAgeOption: 0.2,
    ])
    let context = stack.context()
    try context.performAndWait {
      context.make("Company", ["name": "a"])
      try context.save()
      try context.setQueryGenerationFrom(.current)
      #expect(try context.all("Company").count == 1)
      // One is the limit.
      let other = stack.context()
      #expect(throws: CocoaError.self) {
        try other.performAndWait { try other.setQueryGenerationFrom(.current) }
      }
      usleep(600_000)
      let error = #expect(throws: CocoaError.self) { try context.all("Company") }
      #expect(error?.localizedDescription.contains("generation is gone") ?? false)
      try context.setQueryGenerationFrom(.current)
      #expect(try context.all("Company").count == 1)
    }
  }

  @Test func `cancelling a fetch ends the statement on the server`() throws {
    let stack = try ServerStack()
    // No fetch finishes while the table is locked.
    let locker = try ServerSession(stack)
    try locker.lock("person")
    let request = NSFetchRequest<NSManagedObject>(entityName: "Person")
    let isDone = Atomic<Bool>(false)
    let asynchronous = NSAsynchronousFetchRequest(fetchRequest: request) { _ in
      isDone.store(true, ordering: .releasing)
    }
    let context = stack.context()
    let result = try context.performAndWait { try context.execute(asynchronous) }
    let monitor = try ServerSession(stack)
    try #require(try monitor.waits { try $0.waitingStatements("person") == 1 })
    (result as? NSPersistentStoreAsynchronousResult)?.cancel()
    #expect(try monitor.waits { try $0.waitingStatements("person") == 0 })
    // The context is not blocked either.
    #expect(try context.performAndWait { try context.all("Company").isEmpty })
    let isTold = isDone.load(ordering: .acquiring)
    #expect(!isTold, "a result that is not wanted is not delivered")
  }
}
