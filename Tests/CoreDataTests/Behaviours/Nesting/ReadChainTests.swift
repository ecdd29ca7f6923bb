@testable import CoreData
import Foundation
import Synchronization
import Testing

/// Reading through a chain of contexts without waiting. Uses the real main queue, so tests run one at a time.
@Suite(.serialized) struct ReadChainTests {
  /// main is connected to the coordinator, worker is its child.
  private struct Stack {
    let base: TestStack
    let main = NSManagedObjectContext(concurrencyType: .mainQueueConcurrencyType)
    let worker = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)

    init(authors: Int) throws {
      base = try TestStack(.sqlite)
      try base.root.performAndWait {
        for index in 0..<authors { base.root.insert("Author", ["name": "author \(index)", "age": index]) }
        try base.root.save()
      }
      main.persistentStoreCoordinator = base.coordinator
      worker.parent = main
    }
  }

  /// Records the queues that scheduled threads enter, and lets every thread run.
  private final class EnteredQueues: InterleavingSchedule {
    private let _all = Mutex<Set<ObjectIdentifier>>([])

    var includeMain: Bool { _all.withLock { $0.contains(ObjectIdentifier(Interleaving.mainQueue)) } }

    func reach(_ point: InterleavingPoint) {}
    func acquire(_ resource: ObjectIdentifier) { _all.withLock { _ = $0.insert(resource) } }
    func release(_ resource: ObjectIdentifier) {}
    func enqueue(on resource: ObjectIdentifier, _ block: @escaping @Sendable () -> Void) {
      acquire(resource)
      block()
    }
  }

  @Test func `a worker enters the main queue to save, not to read`() throws {
    let stack = try Stack(authors: 300)
    let queues = EnteredQueues()
    Interleaving.run(under: queues) {
      stack.worker.performAndWait {
        do {
          let authors = try stack.worker.all("Author")
          let sum = authors.reduce(0) { $0 + ($1.value(forKey: "age") as? Int ?? 0) }
          #expect(sum == 300 * 299 / 2)
          stack.worker.insert("Author", ["name": "new"])
          let count = try stack.worker.count("Author")
          #expect(count == 301)
          #expect(!queues.includeMain, "reading entered the main queue")
          try stack.worker.save()
          #expect(queues.includeMain)
        } catch {
          Issue.record(error)
        }
      }
    }
    let inserted = stack.main.performAndWait { stack.main.insertedObjects.count }
    #expect(inserted == 1)
  }

  @Test func `a worker sees what main changed and has not saved`() async throws {
    let stack = try Stack(authors: 3)
    try await stack.main.perform {
      let authors = try stack.main.all("Author").sorted { $0.text("name")! < $1.text("name")! }
      authors[0].setValue("changed", forKey: "name")
      stack.main.delete(authors[1])
      stack.main.insert("Author", ["name": "inserted"])
    }
    let names = try await stack.worker.perform {
      try stack.worker.all("Author").compactMap { $0.text("name") }.sorted()
    }
    #expect(names == ["author 2", "changed", "inserted"])
  }

  @Test func `a worker sees changes made in the middle of a block of main`() async throws {
    let stack = try Stack(authors: 1)
    let names = try await stack.main.perform {
      try stack.main.all("Author")[0].setValue("first", forKey: "name")
      let first = try stack.worker.performAndWait {
        try stack.worker.all("Author").compactMap { $0.text("name") }
      }
      stack.main.insert("Author", ["name": "second"])
      let second = try stack.worker.performAndWait {
        try stack.worker.all("Author").compactMap { $0.text("name") }.sorted()
      }
      return [first, second]
    }
    #expect(names == [["first"], ["first", "second"]])
  }

  @Test func `a change on its way into the store is seen exactly once`() async throws {
    let base = try TestStack(.sqlite)
    let writer = base.root
    let main = base.child(of: writer)
    let worker = base.child(of: main)
    let reader = base.child(of: main)
    let rounds = 60
    let hasEnded = Mutex(false)
    let saving = Task.detached {
      // Also with an error: the reader would wait without end for what is not saved.
      defer { hasEnded.withLock { $0 = true } }
      for round in 0..<rounds {
        try worker.performAndWait {
          for index in 0..<5 { worker.insert("Author", ["name": "\(round).\(index)"]) }
          try worker.save()
        }
        try main.performAndWait { try main.save() }
        try await writer.perform { try writer.save() }
      }
    }
    var last = 0
    var isDone = false
    while !isDone {
      isDone = last == rounds * 5 || hasEnded.withLock { $0 }
      let (count, distinct, fetched) = try reader.performAndWait {
        let objects = try reader.all("Author")
        return (objects.count, Set(objects.compactMap { $0.text("name") }).count, try reader.count("Author"))
      }
      #expect(count == distinct, "an object was seen twice")
      #expect(count % 5 == 0, "part of a save was seen")
      #expect(count >= last, "a save was lost from sight")
      #expect(fetched >= count)
      last = count
      await Task.yield()
    }
    try await saving.value
    try #expect(base.fresh { try $0.count("Author") } == rounds * 5)
  }

  @Test func `faults load their neighbours together`() async throws {
    let stack = try Stack(authors: 1000)
    try stack.base.fresh { context in
      let request = NSFetchRequest<NSManagedObjectID>(entityName: "Author")
      request.resultType = .managedObjectIDResultType
      let objects = try context.fetch(request).map { context.object(with: $0) }
      stack.base.coordinator.rowCache.removeAll()
      let before = stack.base.coordinator.rowReads.load(ordering: .relaxed)
      let sum = objects.reduce(0) { $0 + ($1.value(forKey: "age") as? Int ?? 0) }
      #expect(sum == 1000 * 999 / 2)
      let reads = stack.base.coordinator.rowReads.load(ordering: .relaxed) - before
      #expect(reads <= 10)
    }
  }

  @Test func `faults of a child load their neighbours together, and keep what its parent has changed`() throws
  {
    let stack = try Stack(authors: 1000)
    try stack.base.fresh { parent in
      let request = NSFetchRequest<NSManagedObjectID>(entityName: "Author")
      request.resultType = .managedObjectIDResultType
      let ids = try parent.fetch(request)
      for id in [ids[10], ids[500], ids[990]] {
        let author = parent.object(with: id)
        author.setValue((author.value(forKey: "age") as? Int ?? 0) + 10_000, forKey: "age")
      }
      let child = stack.base.child(of: parent)
      try child.performAndWait {
        let objects = ids.map { child.object(with: $0) }
        stack.base.coordinator.rowCache.removeAll()
        let before = stack.base.coordinator.rowReads.load(ordering: .relaxed)
        let sum = objects.reduce(0) { $0 + ($1.value(forKey: "age") as? Int ?? 0) }
        try #require(sum == 1000 * 999 / 2 + 30_000)
        #expect(stack.base.coordinator.rowReads.load(ordering: .relaxed) - before <= 12)
      }
    }
  }
}
