import Foundation
import Synchronization
import Testing

@testable import CoreData

/// How old the values may be that a fault shows. Another coordinator, whose saves this one does not learn of,
/// writes meanwhile.
@Suite(.serialized, .ofFiles) struct StalenessTests {
  private let stack: TestStack
  private let other: NSManagedObjectContext

  init() throws {
    stack = try TestStack(.sqlite)
    other = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    other.persistentStoreCoordinator = try stack.otherCoordinator()
    let root = stack.root
    try root.performAndWait {
      let ada = root.insert("Author", ["name": "Ada", "age": 1])
      root.insert("Book", ["title": "One", "pages": 1, "author": ada])
      try root.save()
    }
  }

  private func writeElsewhere(_ number: Int) throws {
    try other.performAndWait {
      try #require(try other.all("Author").first).setValue(number, forKey: "age")
      try #require(try other.all("Book").first).setValue(number, forKey: "pages")
      try other.save()
    }
  }

  private func wait(seconds: Int) { CoarseClock.advance.add(seconds * 1000, ordering: .relaxed) }

  private var reads: Int { stack.coordinator.rowReads.load(ordering: .relaxed) }

  /// Runs a block in a new context whose first read, which asks whether others have written, is over.
  private func fresh(_ interval: TimeInterval, _ body: (NSManagedObjectContext) throws -> Void) throws {
    try stack.fresh { context in
      context.stalenessInterval = interval
      _ = try context.count("Author")
      try body(context)
    }
  }

  private func age(_ author: NSManagedObject?) -> Int? { author?.value(forKey: "age") as? Int }
  private func pages(_ book: NSManagedObject?) -> Int? { book?.value(forKey: "pages") as? Int }

  @Test func `what a context has just read is not old, and what it no longer knows of is`() {
    let cache = RowCache()
    var stamps = ReadStamps()
    stamps.begin(cache, 10, isFetch: true)
    let first = stamps.current
    #expect(!stamps.isOld(first, cache, 10))
    #expect(stamps.isOld(first &- 1, cache, 10))
    wait(seconds: 20)
    stamps.begin(cache, 10, isFetch: true)
    #expect(stamps.isOld(first, cache, 10))
    #expect(!stamps.isOld(stamps.current, cache, 10))
  }

  // MARK: Never stale

  @Test func `By default a fault shows the newest values that the coordinator knows`() throws {
    try fresh(-1) { context in
      let ada = try #require(try context.all("Author").first)
      try stack.fresh { sibling in
        try sibling.all("Author").first?.setValue(2, forKey: "age")
        try sibling.save()
      }
      #expect(ada.isFault)
      #expect(age(ada) == 2)
      try stack.fresh { sibling in
        try sibling.all("Author").first?.setValue(3, forKey: "age")
        try sibling.save()
      }
      #expect(age(ada) == 2, "loaded values stay")
    }
  }

  @Test func `The context's own saves make no other fault's row old`() throws {
    try fresh(-1) { context in
      let book = try #require(try context.all("Book").first)
      let eve = context.insert("Author", ["name": "Eve"])
      for number in 1...3 {
        eve.setValue(number, forKey: "age")
        try context.save()
      }
      #expect(context.freshness.isCurrent(book))
      try stack.fresh { sibling in
        sibling.insert("Author")
        try sibling.save()
      }
      #expect(!context.freshness.isCurrent(book))
    }
  }

  @Test func `By default cached values never expire`() throws {
    try fresh(-1) { context in
      let ada = try #require(try context.all("Author").first)
      #expect(age(ada) == 1)
      try writeElsewhere(2)
      wait(seconds: 1_000_000)
      context.refresh(ada, mergeChanges: false)
      let before = reads
      #expect(age(ada) == 1)
      #expect(reads == before)
    }
  }

  @Test func `A fault that is fetched again shows the newer values`() throws {
    try fresh(-1) { context in
      let ada = try #require(try context.all("Author").first)
      try writeElsewhere(2)
      #expect(try context.all("Author").first === ada)
      #expect(ada.isFault)
      #expect(age(ada) == 2)
    }
  }

  // MARK: Seconds

  @Test func `A refreshed object is read again once its cached row is older than the interval`() throws {
    try fresh(60) { context in
      let ada = try #require(try context.all("Author").first)
      #expect(age(ada) == 1)
      try writeElsewhere(2)
      wait(seconds: 50)
      context.refresh(ada, mergeChanges: false)
      let before = reads
      #expect(age(ada) == 1)
      #expect(reads == before)
      wait(seconds: 11)
      context.refresh(ada, mergeChanges: false)
      #expect(age(ada) == 2)
      #expect(reads == before + 1)
    }
  }

  @Test func `A refresh that merges changes reads a row that is too old`() throws {
    try fresh(60) { context in
      let ada = try #require(try context.all("Author").first)
      ada.setValue("Grace", forKey: "name")
      try writeElsewhere(2)
      context.refresh(ada, mergeChanges: true)
      #expect(age(ada) == 1)
      wait(seconds: 61)
      context.refresh(ada, mergeChanges: true)
      #expect(age(ada) == 2 && ada.text("name") == "Grace")
    }
  }

  @Test func `Values that a fetch has read expire before they are shown`() throws {
    try fresh(60) { context in
      let ada = try #require(try context.all("Author").first)
      let book = try #require(try context.all("Book").first)
      try writeElsewhere(2)
      wait(seconds: 50)
      let before = reads
      #expect(age(ada) == 1, "young enough")
      #expect(reads == before)
      wait(seconds: 11)
      #expect(pages(book) == 2)
      #expect(age(ada) == 1, "loaded values stay")
    }
  }

  @Test func `The target of a to-one is read again if its row is too old`() throws {
    try fresh(60) { context in
      _ = try context.all("Author")
      let book = try #require(try context.all("Book").first)
      #expect(pages(book) == 1)
      try writeElsewhere(2)
      wait(seconds: 61)
      #expect(age(book.object("author")) == 2)
    }
  }

  @Test func `Prefetched objects are read again if their rows are too old`() throws {
    try fresh(60) { context in
      let books = try context.all("Book")
      try writeElsewhere(2)
      wait(seconds: 61)
      let request = NSFetchRequest<NSManagedObject>(entityName: "Author")
      request.relationshipKeyPathsForPrefetching = ["books"]
      _ = try context.fetch(request)
      let before = reads
      #expect(pages(books.first) == 2)
      #expect(reads == before)
    }
  }

  @Test func `A loaded object looked up by ID stays as it is, and a fault is read`() throws {
    try fresh(60) { context in
      let (ada, book) = (try context.all("Author")[0], try context.all("Book")[0])
      #expect(age(ada) == 1)
      try writeElsewhere(2)
      wait(seconds: 61)
      #expect(age(try context.existingObject(with: ada.objectID)) == 1)
      #expect(pages(try context.existingObject(with: book.objectID)) == 2)
    }
  }

  @Test func `A link that expired with its row leaves no stale member behind`() throws {
    try fresh(60) { context in
      let ada = try #require(try context.all("Author").first)
      let book = try #require(try context.all("Book").first)
      #expect(ada.objects("books") == [book] && book.isFault)
      try other.performAndWait {
        try other.all("Book").first?.setValue(other.insert("Author", ["name": "Eve"]), forKey: "author")
        try other.save()
      }
      wait(seconds: 61)
      #expect(book.object("author")?.text("name") == "Eve")
      #expect(ada.objects("books").isEmpty)
    }
  }

  // MARK: Always stale

  @Test func `With 0 only what the last fetch has read is not read again`() throws {
    try fresh(0) { context in
      let ada = try #require(try context.all("Author").first)
      let before = reads
      #expect(age(ada) == 1)
      #expect(reads == before)
      context.refresh(ada, mergeChanges: false)
      try writeElsewhere(2)
      #expect(age(ada) == 2)
      let book = try #require(try context.all("Book").first)
      _ = try context.all("Author")
      try writeElsewhere(3)
      #expect(pages(book) == 3)
    }
  }

  @Test func `A pinned state does not age`() throws {
    try fresh(0) { context in
      try context.setQueryGenerationFrom(.current)
      let ada = try #require(try context.all("Author").first)
      try writeElsewhere(2)
      wait(seconds: 1000)
      #expect(age(ada) == 1)
    }
  }
}
