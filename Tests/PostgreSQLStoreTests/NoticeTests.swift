import CoreData
import CoreDataPostgreSQL
import Foundation
import PostgreSQLServer
import Synchronization
import Testing

@Suite(.enabled(if: PostgreSQLServer.shared != nil, "\(PostgreSQLServer.absence)"))
struct NoticeTests {
  private static var _options: [AnyHashable: Any] {
    [
      NSPersistentHistoryTrackingKey: true, NSPersistentStoreRemoteChangeNotificationPostOptionKey: true,
      NSPostgreSQLNotifiesOption: true,
    ]
  }

  @Test func `a save is noticed by another program that listens`() throws {
    let stack = try ServerStack(options: Self._options)
    let other = try ServerStack(at: stack.url, options: Self._options)
    let count = Mutex(0)
    let token = NotificationCenter.default.addObserver(
      forName: .NSPersistentStoreRemoteChange, object: other.coordinator, queue: nil
    ) { _ in count.withLock { $0 += 1 } }
    defer { NotificationCenter.default.removeObserver(token) }
    let context = stack.context()
    try context.performAndWait {
      context.make("Company", ["name": "a"])
      try context.save()
    }
    var isNoticed = false
    for _ in 0..<1000 where !isNoticed {
      usleep(5_000)
      isNoticed = count.withLock { $0 > 0 }
    }
    #expect(isNoticed)
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
      // One is as many as there may be.
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
    let context = stack.context()
    try context.performAndWait {
      // A to-many condition over each pair takes long.
      for number in 0..<3000 { context.make("Person", ["firstName": "\(number)", "age": number % 90]) }
      try context.save()
    }
    let request = NSFetchRequest<NSManagedObject>(entityName: "Person")
    request.predicate = NSPredicate(
      format: "firstName MATCHES %@", "(1|2|3|4|5|6|7|8|9|0|(a*)*){1,40}(1|2|3|4|5|6|7|8|9|(a*)*){1,40}x")
    let isDone = Atomic<Bool>(false)
    let asynchronous = NSAsynchronousFetchRequest(fetchRequest: request) { _ in
      isDone.store(true, ordering: .releasing)
    }
    let result = try context.performAndWait { try context.execute(asynchronous) }
    usleep(50_000)
    (result as? NSPersistentStoreAsynchronousResult)?.cancel()
    // Afterwards the server runs nothing for the store.
    var isFree = false
    for _ in 0..<1000 where !isFree {
      isFree = try context.performAndWait { try context.all("Company").isEmpty }
      usleep(2_000)
    }
    #expect(isFree)
    let isTold = isDone.load(ordering: .acquiring)
    #expect(!isTold, "a result that is not wanted is not delivered")
  }
}
