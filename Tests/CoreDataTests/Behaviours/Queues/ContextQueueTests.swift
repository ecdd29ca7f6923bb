@testable import CoreData
import Foundation
import Testing

@Suite struct ContextQueueTests {
  @Test func `concurrency types have Apple's raw values`() {
    #expect(NSManagedObjectContextConcurrencyType.confinement.rawValue == 0)
    #expect(NSManagedObjectContextConcurrencyType.privateQueueConcurrencyType.rawValue == 1)
    #expect(NSManagedObjectContextConcurrencyType.mainQueueConcurrencyType.rawValue == 2)
  }

  @available(*, deprecated)
  @Test func `a plain context is confined`() {
    #expect(NSManagedObjectContext().concurrencyType == .confinement)
  }

  @Test func `contexts are made in either spelling`() {
    #expect(NSManagedObjectContext(.privateQueue).concurrencyType == .privateQueueConcurrencyType)
    #expect(NSManagedObjectContext(.mainQueue).concurrencyType == .mainQueueConcurrencyType)
    #expect(
      NSManagedObjectContext(concurrencyType: .mainQueueConcurrencyType).concurrencyType
        == .mainQueueConcurrencyType)
  }

  @Test func `perform runs in turn and processes changes afterwards`() throws {
    let stack = try TestStack(.memory)
    let posted = Posted(.NSManagedObjectContextObjectsDidChange, by: stack.context)
    nonisolated(unsafe) var order: [Int] = []
    let context = stack.context
    for number in 0..<3 {
      context.perform {
        order.append(number)
        context.insert("Author")
      }
    }
    context.performAndWait {}
    #expect(order == [0, 1, 2])
    #expect(posted.userInfos.count == 3)
  }

  @Test func `perform and wait may be entered again and processes nothing`() throws {
    let stack = try TestStack(.memory)
    let posted = Posted(.NSManagedObjectContextObjectsDidChange, by: stack.context)
    stack.context.performAndWait {
      stack.context.performAndWait { _ = stack.context.insert("Author") }
    }
    #expect(posted.userInfos.isEmpty)
    stack.context.performAndWait { stack.context.processPendingChanges() }
    #expect(posted.userInfos.count == 1)
  }

  @Test func `perform and wait runs on the callers thread`() {
    let context = NSManagedObjectContext(.privateQueue)
    let caller = Thread.current
    #expect(context.performAndWait { Thread.current } === caller)
  }

  @Test func `perform of a private context is never on main`() async {
    let context = NSManagedObjectContext(.privateQueue)
    let onMain = await Task { @MainActor in
      await context.perform(schedule: .enqueued) { ContextQueue.isOnMainQueue }
    }.value
    #expect(!onMain)
  }

  @Test func `perform and wait hands back values and errors`() {
    let context = NSManagedObjectContext(.privateQueue)
    #expect(context.performAndWait { 7 } == 7)
    #expect(throws: CocoaError.self) { try context.performAndWait { throw CocoaError(.fileNoSuchFile) } }
  }

  @Test func `async perform is immediate inside and in turn when enqueued`() async throws {
    let context = NSManagedObjectContext(.privateQueue)
    let order = Order()
    let value = await context.perform {
      context.perform { order.add("later") }
      order.add("now")
      return 7
    }
    await context.perform(schedule: .enqueued) { order.add("last") }
    #expect(value == 7)
    #expect(order.words == ["now", "later", "last"])
  }

  @Test func `an error in an async block leaves changes alone`() async throws {
    let stack = try TestStack(.memory)
    let context = stack.context
    await #expect(throws: CocoaError.self) {
      try await context.perform { () throws(CocoaError) in
        context.insert("Author")
        throw CocoaError(.fileNoSuchFile)
      }
    }
    let isPending = await context.perform { context.insertedObjects.count == 1 }
    #expect(isPending)
  }

  @Test func `perform and wait of a main context runs on main`() async {
    let context = NSManagedObjectContext(.mainQueue)
    let inline = await MainActor.run { context.performAndWait { ContextQueue.isOnMainQueue } }
    #expect(inline)
    let hopped = await withCheckedContinuation { continuation in
      DispatchQueue.global().async {
        continuation.resume(returning: context.performAndWait { ContextQueue.isOnMainQueue })
      }
    }
    #expect(hopped)
  }

  @Test func `a private queue takes the contexts name and keeps its order`() {
    let context = NSManagedObjectContext(.privateQueue)
    let order = Order()
    context.perform { order.add("before") }
    context.name = "import"
    #expect(context.queue.label == "import")
    context.perform { order.add("after") }
    context.performAndWait { order.add("end") }
    #expect(order.words == ["before", "after", "end"])
  }

  @Test func `every context has a user info and an author`() {
    let context = NSManagedObjectContext(.privateQueue)
    context.userInfo["key"] = 1
    #expect(context.userInfo["key"] as? Int == 1)
    #expect(context.transactionAuthor == nil)
    context.transactionAuthor = "import"
    #expect(context.transactionAuthor == "import")
  }

  @Test func `a child reports its parents coordinator`() throws {
    let stack = try TestStack(.memory)
    let child = stack.child(of: stack.child(of: stack.root))
    #expect(child.persistentStoreCoordinator === stack.coordinator)
  }

  @Test(.ofFiles) func `a cancelled task goes on fetching from a file`() async throws {
    let stack = try TestStack(.sqlite)
    let context = stack.context
    try await context.perform {
      for number in 0..<3000 { context.insert("Author", ["name": "n\(number)"]) }
      try context.save()
    }
    let fetching = Task {
      while !Task.isCancelled { await Task.yield() }
      // Takes long enough for SQLite to call its progress handler.
      return try await context.perform {
        try context.all("Author", where: NSPredicate(format: "name MATCHES '.*[0-9]9'")).count
      }
    }
    fetching.cancel()
    #expect(try await fetching.value == 299)
  }
}

/// Words recorded from several threads, in order.
final class Order: @unchecked Sendable {
  // Unchecked: guarded by the lock.
  private let _lock = NSLock()
  private var _words: [String] = []
  var words: [String] { _lock.withLock { _words } }
  func add(_ word: String) { _lock.withLock { _words.append(word) } }
}
