import Foundation
import Testing

@testable import CoreData

/// What an object shows while its store cannot be read, under the policy `fail`.
@Suite(.ofFiles) struct UnreadableValueTests {
  private let store: OutageStack
  init() throws { store = try OutageStack() }

  private enum Size: Int32 { case small = 1, large = 2 }
  private enum Level: Int, CaseIterable { case low = 5, high = 7 }

  /// Runs a block with a book that cannot be read.
  private func withUnreadable(_ body: (NSManagedObject) throws -> Void) throws {
    try store.fresh { context in
      let book = try store.faults(in: context)[0]
      try store.outage { try body(book) }
      #expect(book.isFault)
    }
  }

  @Test func `Optional values read as nil`() throws {
    try withUnreadable { book in
      #expect(ManagedKey<String?>("title")[book] == nil)
      #expect(ManagedKey<Date?>("published")[book] == nil)
      #expect(ManagedKey<UUID?>("isbn")[book] == nil)
      #expect(ManagedKey<URL?>("page")[book] == nil)
      #expect(ManagedKey<Decimal?>("cost")[book] == nil)
      #expect(ManagedKey<Data?>("cover")[book] == nil)
      #expect(ManagedKey<Size?>("pages")[book] == nil)
      #expect(ManagedKey<NSNumber?>("pages")[book] == nil)
      #expect(ManagedKey<NSManagedObject?>("author")[book] == nil)
      #expect(book.value(forKey: "title") == nil)
      #expect(book.primitiveValue(forKey: "title") == nil)
    }
  }

  @Test func `Other values read as zero or empty`() throws {
    try withUnreadable { book in
      #expect(ManagedKey<String>("title")[book] == "")
      #expect(ManagedKey<Int32>("pages")[book] == 0)
      #expect(ManagedKey<Int>("copies")[book] == 0)
      #expect(ManagedKey<Double>("price")[book] == 0)
      #expect(ManagedKey<Bool>("inPrint")[book] == false)
      #expect(ManagedKey<Date>("published")[book] == Date(timeIntervalSinceReferenceDate: 0))
      #expect(ManagedKey<UUID>("isbn")[book].uuidString == "00000000-0000-0000-0000-000000000000")
      #expect(ManagedKey<URL>("page")[book].absoluteString == "about:blank")
      #expect(ManagedKey<Decimal>("cost")[book] == 0)
      #expect(ManagedKey<NSDecimalNumber>("cost")[book] == 0)
      #expect(ManagedKey<NSNumber>("pages")[book] == 0)
      #expect(ManagedKey<Data>("cover")[book] == Data())
      #expect(ManagedKey<NSString>("title")[book] == "")
      #expect(ManagedKey<[String]>("extra")[book] == [])
    }
  }

  @Test func `An enumeration reads as its first case`() throws {
    try withUnreadable { book in
      #expect(ManagedKey<Size>("pages")[book] == .small)
      #expect(ManagedKey<Level>("pages")[book] == .low)
    }
  }

  @Test func `Relationships to many read as empty`() throws {
    try withUnreadable { book in
      #expect(ManagedKey<NSSet?>("tags")[book]?.count == 0)
      #expect(ManagedKey<Set<NSManagedObject>>("tags")[book] == [])
      #expect(ManagedKey<NSOrderedSet>("chapters")[book].count == 0)
      #expect(book.mutableSetValue(forKey: "tags").count == 0)
      #expect(book.mutableOrderedSetValue(forKey: "chapters").count == 0)
      #expect(book.objectIDs(forRelationshipNamed: "tags") == [])
      #expect(book.value(forKeyPath: "tags.@count") as? Int == 0)
    }
  }

  @Test func `A required to-one is a fault that cannot be read either`() throws {
    try store.fresh { context in
      let book = try store.faults(in: context)[0]
      let author = try store.outage { ManagedKey<NSManagedObject>("author")[book] }
      #expect(author.entity.name == "Author")
      #expect(author.text("name") == nil)
      #expect(ManagedKey<Set<NSManagedObject>>("books")[author] == [])
      #expect(author.isFault)
      context.rollback()
      #expect(author.text("name") == nil, "also after a rollback")
      #expect(ManagedKey<NSManagedObject>("author")[book].text("name") == "Ada")
    }
  }

  @Test func `The next read reads again`() throws {
    try store.fresh { context in
      let book = try store.faults(in: context)[0]
      try store.outage {
        #expect(book.text("title") == nil)
        #expect(book.objects("tags").isEmpty)
      }
      #expect(book.text("title") == "One")
      #expect(!book.isFault)
      #expect(book.objects("tags").count == 1)
      #expect((book.value(forKey: "chapters") as? NSOrderedSet)?.count == 1)
    }
  }

  @Test func `Only the members of a relationship may be unreadable`() throws {
    try store.fresh { context in
      let book = try store.faults(in: context)[0]
      #expect(book.text("title") == "One")
      try store.outage { #expect(book.objects("tags").isEmpty) }
      #expect(book.objects("tags").count == 1)
    }
  }

  @Test func `A batch of results has empty objects, which read again`() throws {
    try store.fresh { context in
      let request = NSFetchRequest<NSManagedObject>(entityName: "Book")
      request.sortDescriptors = [NSSortDescriptor(key: "title", ascending: true)]
      let books = try context.fetchBatched(request)
      store.stack.coordinator.rowCache.removeAll()
      try store.outage { #expect(books.map { $0.text("title") } == [nil, nil]) }
      #expect(books.map { $0.text("title") } == ["One", "Two"])
    }
  }

  @Test func `A batch of dictionaries has only object IDs, and is read again`() throws {
    try store.fresh { context in
      let request = NSFetchRequest<NSDictionary>(entityName: "Book")
      let identity = NSExpressionDescription()
      identity.name = "objectID"
      identity.expression = NSExpression.expressionForEvaluatedObject()
      identity.resultType = .objectID
      request.propertiesToFetch = ["title", identity]
      request.sortDescriptors = [NSSortDescriptor(key: "title", ascending: true)]
      let rows = try context.fetchBatched(request)
      try store.outage {
        #expect(rows[0]["title"] == nil)
        #expect(rows[0]["objectID"] is NSManagedObjectID)
      }
      #expect(rows.map { $0["title"] as? String } == ["One", "Two"])
    }
  }

  @Test func `A fetched property is empty, and evaluated again`() throws {
    try store.fresh { context in
      let tag = try store.faults("Tag", by: "name", in: context)[0]
      #expect(tag.text("name") == "t")
      try store.outage { #expect((tag.value(forKey: "namesakes") as? [NSManagedObject])?.count == 0) }
      context.rollback()
      #expect((tag.value(forKey: "namesakes") as? [NSManagedObject])?.count == 2)
    }
  }

  @Test func `By default the process ends`() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let store = try OutageStack()
      try store.fresh(.trap) { context in
        let book = try store.faults(in: context)[0]
        try store.outage { _ = book.text("title") }
      }
    }
    let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(text.contains("could not fulfil a fault for 'x-coredata:"))
  }
}
