import CoreData
import Foundation
import Testing

@testable import CoreDataTesting

@MainActor @Suite("Expectations of costs") struct CostTests {
  private func _fill(_ store: TestStore) throws {
    let context = store.newBackgroundContext()
    try context.performAndWait {
      for _ in 0..<3 { try store.make(Book.self, in: context) }
      try context.save()
    }
    store.coordinator.emptyRowCache()
  }

  private func _request(prefetching paths: [String] = []) -> NSFetchRequest<Book> {
    let request = NSFetchRequest<Book>(entityName: "Book")
    request.relationshipKeyPathsForPrefetching = paths
    return request
  }

  @Test func `Fetches and counts are counted, also those of a child`() throws {
    try withTestStore(.library()) { store in
      let child = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
      child.parent = store.viewContext
      try store.expectFetches(3) {
        _ = try store.viewContext.fetch(_request())
        _ = try store.viewContext.count(for: _request())
        try child.performAndWait { _ = try child.fetch(_request()) }
      }
    }
  }

  @Test func `Objects that a fetch has read fire no fault`() throws {
    try withTestStore(.library()) { store in
      try _fill(store)
      try store.expectFetches(1, faults: 0) { _ = try store.viewContext.fetch(_request()).map(\.title) }
    }
  }

  @Test func `Related objects that were not prefetched are faults`() throws {
    let messages = try failures { store in
      try _fill(store)
      try store.expectFetches(1, faults: 0) {
        _ = try store.viewContext.fetch(_request()).map { $0.author?.name }
      }
    }
    #expect(messages.count == 1)
    #expect(
      messages.first?.hasPrefix("Expected no fault; the block took 1 fetch, 3 faults") == true, "\(messages)")
    try withTestStore(.library()) { store in
      try _fill(store)
      try store.expectFetches(1, faults: 0) {
        _ = try store.viewContext.fetch(_request(prefetching: ["author"])).map { $0.author?.name }
      }
    }
  }

  @Test func `A to-many that is read is a fault`() throws {
    let messages = try failures { store in
      try _fill(store)
      let book = try #require(try store.viewContext.fetch(_request()).first)
      store.expectNoFaults { _ = book.tags?.count }
    }
    #expect(messages.count == 1)
  }

  @Test func `SQL statements are counted without those that frame them`() throws {
    let messages = try failures { store in
      try _fill(store)
      try store.expectStatements(1) { _ = try store.viewContext.fetch(_request()) }
      store.expectStatements(2) {}
    }
    #expect(messages == ["Expected 2 SQL statements; the block took 0 fetches, 0 faults, 0 SQL statements."])
  }

  @Test func `The cost itself is a value, of blocks that wait as well`() async throws {
    try await withTestStore(.library()) { store in
      let cost = try await store.cost {
        let context = store.newBackgroundContext()
        try await context.perform { _ = try context.fetch(NSFetchRequest<Book>(entityName: "Book")) }
      }
      #expect(cost.fetches == 1)
      #expect(cost.statements == 1)
    }
  }
}

@MainActor @Suite("Expectations of saves, merges and releases") struct EventTests {
  @Test func `A save is as expected`() throws {
    try withTestStore(.library()) { store in
      let context = store.viewContext
      try store.expectSave(of: context, inserted: ["Book": 1, "Author": 1]) {
        try store.make(Book.self)
        try context.save()
      }
      let book = try #require(try context.fetch(NSFetchRequest<Book>(entityName: "Book")).first)
      try store.expectSave(of: context, deleted: ["Book": 1, "Author": 1]) {
        if let author = book.author { context.delete(author) }
        try context.save()
      }
    }
  }

  @Test func `A save that writes something else is a failure with what it wrote`() throws {
    let messages = try failures { store in
      try store.expectSave(of: store.viewContext, inserted: ["Tag": 2]) {
        try store.make(Tag.self)
        try store.viewContext.save()
      }
      store.expectSave(of: store.viewContext, inserted: ["Tag": 1]) {}
    }
    #expect(messages == ["The save inserted 1 Tag, not 2 Tag.", "The context did not save."])
  }

  @Test func `A merge is awaited, also of objects that the context does not have`() async throws {
    try await withTestStore(.library()) { store in
      let context = store.viewContext
      context.automaticallyMergesChangesFromParent = true
      let tag = try store.make(Tag.self)
      try context.save()
      let id = tag.objectID
      try await store.merged(into: context) {
        let other = store.newBackgroundContext()
        try await other.perform {
          (other.object(with: id) as? Tag)?.name = "novel"
          Tag(context: other).name = "classic"
          try other.save()
        }
      }
      #expect(tag.name == "novel")
    }
  }

  @Test func `A context that does not merge is a failure`() async throws {
    let messages = Guarded<[String]>([])
    try await withKnownIssue {
      try await withTestStore(.library()) { store in
        try await store.merged(into: store.viewContext, within: 0.05) {
          let other = store.newBackgroundContext()
          try await other.perform {
            Tag(context: other).name = "novel"
            try other.save()
          }
        }
        await store.merged(into: store.viewContext, within: 0.05) {}
      }
    } matching: { issue in
      messages.withLock { $0 += issue.comments.map(\.rawValue) }
      return true
    }
    let found = messages.withLock { $0 }
    #expect(found.count == 2)
    #expect(found.first?.contains("automaticallyMergesChangesFromParent is false") == true)
    #expect(found.last?.hasPrefix("No other context of the store saved") == true)
  }

  @Test func `A context that is let go is released, and one that is kept is a failure`() async throws {
    let kept = Guarded<NSManagedObjectContext?>(nil)
    try await withKnownIssue {
      try await withTestStore(.library()) { store in
        await store.expectReleased { store.newBackgroundContext() }
        await store.expectReleased(within: 0.02) {
          let context = store.newBackgroundContext()
          kept.withLock { $0 = context }
          return context
        }
      }
    } matching: {
      $0.comments.map(\.rawValue) == ["The NSManagedObjectContext is still retained after 0.02 s."]
    }
  }
}
