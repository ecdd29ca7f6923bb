import CoreData
import Foundation
import Testing

/// Accessors as the build plugin writes them.
@Suite struct ManagedKeyTests {
  /// Runs a test on the queue of a context that has a novel.
  private func withNovel(_ body: (NSManagedObject, NSManagedObjectContext) throws -> Void) throws {
    let stack = try TestStack(.memory)
    try stack.context.performAndWait { try body(stack.context.insert("Novel"), stack.context) }
  }

  /// Writes a value through the key and reads it back, as it is and by name.
  private func roundTrip<Value: Equatable>(
    _ name: String, _ value: Value, read: (ManagedKey<Value>, NSManagedObject) -> Value,
    write: (ManagedKey<Value>, NSManagedObject) -> Void
  ) throws {
    try withNovel { book, context in
      let key = ManagedKey<Value>(name)
      write(key, book)
      #expect(read(key, book) == value)
      try context.save()
      book.managedObjectContext?.refresh(book, mergeChanges: false)
      #expect(read(key, book) == value)
    }
  }

  @Test func `Scalars keep their values over a save`() throws {
    try roundTrip("pages", Int32(474), read: { $0[$1] }, write: { $0[$1] = 474 })
    try roundTrip("copies", Int64.max, read: { $0[$1] }, write: { $0[$1] = .max })
    try roundTrip("copies", 12, read: { $0[$1] }, write: { $0[$1] = 12 })
    try roundTrip("price", 9.5, read: { $0[$1] }, write: { $0[$1] = 9.5 })
    try roundTrip("weight", Float(0.25), read: { $0[$1] }, write: { $0[$1] = 0.25 })
    try roundTrip("inPrint", false, read: { $0[$1] }, write: { $0[$1] = false })
  }

  @Test func `Values that may be nil keep over a save`() throws {
    let (date, data, uuid) = (Date(timeIntervalSinceReferenceDate: 1000), Data([1, 2]), UUID())
    let url = URL(string: "https://example.org/a")
    try roundTrip("title", String?("Emma"), read: { $0[$1] }, write: { $0[$1] = "Emma" })
    try roundTrip("published", Date?(date), read: { $0[$1] }, write: { $0[$1] = date })
    try roundTrip("cover", Data?(data), read: { $0[$1] }, write: { $0[$1] = data })
    try roundTrip("isbn", UUID?(uuid), read: { $0[$1] }, write: { $0[$1] = uuid })
    try roundTrip("page", url, read: { $0[$1] }, write: { $0[$1] = url })
    try roundTrip(
      "cost", Decimal(string: "9.90"), read: { $0[$1] }, write: { $0[$1] = Decimal(string: "9.90") })
    try roundTrip("title", String?.none, read: { $0[$1] }, write: { $0[$1] = nil })
  }

  @Test func `An accessor of another width than the model's converts`() throws {
    try withNovel { book, context in
      let narrow = ManagedKey<Int16>("pages")
      narrow[book] = 300
      #expect(book.value(forKey: "pages") as? Int == 300)
      #expect(narrow[book] == 300)
      let seconds = ManagedKey<Double>("published")
      seconds[book] = 60
      #expect(book.value(forKey: "published") as? Date == Date(timeIntervalSinceReferenceDate: 60))
      #expect(seconds[book] == 60)
    }
  }

  private enum Size: Int32 { case small = 1, large = 2 }

  @Test func `Enumerations are kept by raw value`() throws {
    try withNovel { book, context in
      let key = ManagedKey<Size>("pages")
      key[book] = .large
      #expect(book.value(forKey: "pages") as? Int == 2)
      #expect(key[book] == .large)
      let optional = ManagedKey<Size?>("copies")
      #expect(optional[book] == nil)
    }
  }

  @Test func `One key serves objects of several entities`() throws {
    try withNovel { novel, context in
      let key = ManagedKey<String?>("name")
      let objects = [context.insert("Author"), context.insert("Tag")]
      for (number, object) in objects.enumerated() { key[object] = "\(number)" }
      #expect(objects.map { $0.value(forKey: "name") as? String } == ["0", "1"])
      let title = ManagedKey<String?>("title")
      title[novel] = "Emma"
      #expect(title[novel] == "Emma")
    }
  }

  @Test func `A to-one keeps its inverse in step`() throws {
    try withNovel { book, context in
      let author = context.insert("Author")
      let key = ManagedKey<NSManagedObject?>("author")
      key[book] = author
      #expect(key[book] === author)
      #expect(ManagedKey<NSSet?>("books")[author]?.contains(book) == true)
      #expect(ManagedKey<Set<NSManagedObject>>("books")[author] == [book])
    }
  }

  @Test func `Members are added and removed, one and many`() throws {
    try withNovel { book, context in
      let tags = (0..<3).map { _ in context.insert("Tag") }
      let key = ManagedKey<NSSet?>("tags")
      key.add(tags[0], to: book)
      key.add(NSSet(array: [tags[1], tags[2]]), to: book)
      #expect(key[book]?.count == 3)
      key.remove(tags[1], from: book)
      #expect(key[book] == NSSet(array: [tags[0], tags[2]]))
      key[book] = nil
      #expect(key[book]?.count == 0)
    }
  }

  @Test func `Ordered members are placed by index`() throws {
    try withNovel { book, context in
      let chapters = (0..<5).map { _ in context.insert("Chapter") }
      let key = ManagedKey<NSOrderedSet?>("chapters")
      key.add(NSOrderedSet(array: [chapters[0], chapters[1]]), to: book)
      key.insert(chapters[2], into: book, at: 0)
      key.insert([chapters[3], chapters[4]], into: book, at: NSIndexSet(indexSet: [1, 3]))
      func order() -> [Int] { key[book]!.array.map { chapters.firstIndex(of: $0 as! NSManagedObject)! } }
      #expect(order() == [2, 3, 0, 4, 1])
      key.remove(at: NSIndexSet(indexSet: [0, 4]), from: book)
      #expect(order() == [3, 0, 4])
      key.replace(at: 1, in: book, with: chapters[1])
      #expect(order() == [3, 1, 4])
      #expect(chapters[0].value(forKey: "book") == nil)
    }
  }

  @Test func `Writing marks the object as changed`() throws {
    try withNovel { book, context in
      try context.save()
      ManagedKey<Int32>("pages")[book] = 5
      #expect(book.changedValues().keys.sorted() == ["pages"])
    }
  }
}
