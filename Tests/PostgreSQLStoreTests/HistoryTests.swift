import CoreData
import CoreDataPostgreSQL
import Foundation
import PostgreSQLServer
import Synchronization
import Testing

@Suite(.enabled(if: PostgreSQLServer.shared != nil, "\(PostgreSQLServer.absence)"))
struct HistoryTests {
  private static var _options: [AnyHashable: Any] { [NSPersistentHistoryTrackingKey: true] }

  private func _transactions(
    _ context: NSManagedObjectContext, after token: NSPersistentHistoryToken?
  ) throws -> [NSPersistentHistoryTransaction] {
    let request = NSPersistentHistoryChangeRequest.fetchHistory(after: token)
    let result = try context.execute(request) as? NSPersistentHistoryResult
    return try #require(result?.result as? [NSPersistentHistoryTransaction])
  }

  @Test func `saves are recorded with author and changes`() throws {
    let stack = try ServerStack(options: Self._options)
    let context = stack.context()
    try context.performAndWait {
      context.transactionAuthor = "test"
      let company = context.make("Company", ["name": "a"])
      context.make("Tag", ["name": "t"])
      try context.save()
      company.setValue("b", forKey: "name")
      try context.save()
      context.delete(company)
      try context.save()
      let found = try _transactions(context, after: nil)
      #expect(found.map(\.author) == ["test", "test", "test"])
      #expect(found.map { $0.changes?.count } == [2, 1, 1])
      #expect(found.map { $0.changes?.first?.changeType } == [.insert, .update, .delete])
      #expect(found[1].changes?.first?.updatedProperties?.map(\.name) == ["name"])
      let later = try _transactions(context, after: found[0].token)
      #expect(later.count == 2)
    }
  }

  @Test func `a history reader misses no transaction of parallel savers`() throws {
    let stack = try ServerStack(options: Self._options)
    let (savers, saves) = (4, 25)
    let isDone = Mutex(false)
    let reader = Thread {
      do {
        let context = try ServerStack(at: stack.url, options: Self._options).context()
        var count = 0
        var token: NSPersistentHistoryToken?
        while count < savers * saves {
          try context.performAndWait {
            let found = try _transactions(context, after: token)
            count += found.count
            if let last = found.last { token = last.token }
          }
        }
      } catch {
        Issue.record(error)
      }
      isDone.withLock { $0 = true }
    }
    reader.start()
    DispatchQueue.concurrentPerform(iterations: savers) { number in
      do {
        let context = try ServerStack(at: stack.url, options: Self._options).context()
        try context.performAndWait {
          for save in 0..<saves {
            context.make("Company", ["name": "\(number) \(save)"])
            try context.save()
          }
        }
      } catch {
        Issue.record(error)
      }
    }
    for _ in 0..<600 where !isDone.withLock({ $0 }) { usleep(50_000) }
    #expect(isDone.withLock { $0 })
  }

  @Test func `history is deleted up to a token`() throws {
    let stack = try ServerStack(options: Self._options)
    let context = stack.context()
    try context.performAndWait {
      for number in 0..<3 {
        context.make("Company", ["name": "\(number)"])
        try context.save()
      }
      let found = try _transactions(context, after: nil)
      _ = try context.execute(NSPersistentHistoryChangeRequest.deleteHistory(before: found[2].token))
      try #expect(_transactions(context, after: nil).count == 1)
    }
  }
}
