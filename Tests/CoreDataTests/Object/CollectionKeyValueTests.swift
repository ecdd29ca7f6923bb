import CoreData
import Foundation
import Testing

/// Key-value coding of Foundation's collections, with the operators of Apple's guide.
@Suite struct CollectionKeyValueTests {
  private struct Row: CustomTestStringConvertible {
    let path: String
    let expected: @Sendable (Any?) -> Bool
    var testDescription: String { path }
  }

  /// Payments as dictionaries: the payee of one is missing.
  private static var payments: [[String: Any]] {
    [
      ["payee": "Rent", "amount": 900, "day": Date(timeIntervalSinceReferenceDate: 10), "tags": ["a", "b"]],
      ["payee": "Power", "amount": 60, "day": Date(timeIntervalSinceReferenceDate: 30), "tags": ["b"]],
      ["payee": "Power", "amount": 66.5, "day": Date(timeIntervalSinceReferenceDate: 20), "tags": ["c"]],
      ["amount": 10, "tags": [String]()],
    ]
  }

  private static func row(_ path: String, _ expected: @escaping @Sendable (Any?) -> Bool) -> Row {
    Row(path: path, expected: expected)
  }

  private static let rows: [Row] = [
    row("@count") { $0 as? Int == 4 },
    row("@sum.amount") { $0 as? Double == 1036.5 },
    row("@avg.amount") { $0 as? Double == 259.125 },
    row("@max.amount") { $0 as? Int == 900 },
    row("@min.amount") { $0 as? Int == 10 },
    row("@max.day") { $0 as? Date == Date(timeIntervalSinceReferenceDate: 30) },
    row("@min.payee") { $0 as? String == "Power" },
    row("@unionOfObjects.payee") { $0 as? [String] == ["Rent", "Power", "Power"] },
    row("@distinctUnionOfObjects.payee") { $0 as? [String] == ["Rent", "Power"] },
    row("payee") { ($0 as? NSArray)?.count == 4 && ($0 as? NSArray)?.object(at: 3) is NSNull },
    row("amount.@sum.self") { $0 as? Double == 1036.5 },
    row("tags.@unionOfArrays.self") { $0 as? [String] == ["a", "b", "b", "c"] },
    row("tags.@distinctUnionOfArrays.self") { $0 as? [String] == ["a", "b", "c"] },
    row("@max.tags.@count") { $0 as? Int == 2 },
  ]

  @Test(arguments: rows)
  private func `an array of dictionaries answers a key path`(_ row: Row) {
    let value = NSArray(array: Self.payments).value(forKeyPath: row.path)
    #expect(row.expected(value), "\(String(describing: value))")
  }

  /// Two authors with books and tags.
  private func library(_ setting: Setting) throws -> (stack: TestStack, authors: [NSManagedObject]) {
    let stack = try TestStack(setting)
    let authors = try stack.root.performAndWait {
      let tags = ["x", "y"].map { stack.root.insert("Tag", ["name": $0]) }
      let ada = stack.root.insert("Author", ["name": "Ada", "age": 36])
      let eve = stack.root.insert("Author", ["name": "Eve"])
      for (title, author, own) in [("A", ada, tags), ("B", ada, [tags[0]]), ("C", eve, [tags[1]])] {
        stack.root.insert("Book", ["title": title, "pages": 10, "author": author, "tags": Set(own)])
      }
      try stack.root.save()
      return [ada, eve]
    }
    return (stack, authors)
  }

  @Test(arguments: Setting.direct)
  func `collections of managed objects answer keys in their own kind`(_ setting: Setting) throws {
    let (stack, authors) = try library(setting)
    stack.root.performAndWait {
      #expect(NSArray(array: authors).value(forKey: "name") as? [String] == ["Ada", "Eve"])
      #expect((NSSet(array: authors).value(forKey: "name") as? NSSet)?.isEqual(to: ["Ada", "Eve"]) == true)
      let names = NSOrderedSet(array: authors).value(forKey: "name") as? NSOrderedSet
      #expect(names?.array as? [String] == ["Ada", "Eve"])
      let array = NSArray(array: authors)
      #expect(array.value(forKeyPath: "@sum.books.@count") as? Int == 3)
      #expect((array.value(forKeyPath: "books.@unionOfSets.title") as? NSSet)?.count == 3)
      #expect((array.value(forKeyPath: "books.@distinctUnionOfSets.pages") as? NSSet)?.count == 1)
      #expect(array.value(forKeyPath: "@max.age") as? Int == 36)
    }
  }

  @Test(arguments: Setting.direct)
  func `unions of sets of a managed object are sets`(_ setting: Setting) throws {
    let (stack, authors) = try library(setting)
    stack.root.performAndWait {
      let names = authors[0].value(forKeyPath: "books.tags.@distinctUnionOfSets.name") as? NSSet
      #expect(names?.isEqual(to: ["x", "y"]) == true)
      let all = authors[0].value(forKeyPath: "books.tags.@unionOfSets.self") as? NSSet
      #expect(all?.count == 2)
      let titles = authors[0].value(forKeyPath: "books.@unionOfObjects.title") as? [String]
      #expect(titles?.sorted() == ["A", "B"])
    }
  }

  @Test(arguments: Setting.direct)
  func `setting a key of a collection sets it for each element`(_ setting: Setting) throws {
    let (stack, authors) = try library(setting)
    try stack.root.performAndWait {
      NSArray(array: authors).setValue(40, forKey: "age")
      NSSet(array: authors).setValue("New", forKeyPath: "books.title")
      authors[0].setValue(5, forKeyPath: "books.pages")
      NSOrderedSet(array: authors).setValue(nil, forKey: "name")
      try stack.root.save()
    }
    try stack.fresh { context in
      try #expect(context.all("Author").allSatisfy { $0.value(forKey: "age") as? Int == 40 })
      try #expect(context.all("Author").allSatisfy { $0.text("name") == nil })
      try #expect(context.all("Book").map { $0.text("title") } == ["New", "New", "New"])
      try #expect(context.all("Book").filter { $0.value(forKey: "pages") as? Int == 5 }.count == 2)
    }
  }

  @Test(arguments: Setting.direct)
  func `a to-many at the end of a key path writes through`(_ setting: Setting) throws {
    let (stack, authors) = try library(setting)
    try stack.root.performAndWait {
      let book = try #require(authors[1].objects("books").first)
      let other = try #require(authors[0].objects("books").first)
      book.mutableSetValue(forKeyPath: "author.books").add(other)
      #expect(other.object("author") === authors[1])
      let chapter = stack.root.insert("Chapter", ["heading": "One", "book": book])
      let second = stack.root.insert("Chapter", ["heading": "Two"])
      chapter.mutableOrderedSetValue(forKeyPath: "book.chapters").insert(second, at: 0)
      #expect(second.object("book") === book)
      book.setValue(nil, forKey: "author")
      #expect(book.mutableSetValue(forKeyPath: "author.books").count == 0)
    }
  }

  @Test func `an unknown key of an element is a mistake`() async {
    await #expect(processExitsWith: .failure) { _ = NSArray(array: [1, 2]).value(forKey: "nothing") }
  }

  @Test func `a value is set in a dictionary that an object has`() throws {
    let stack = try TestStack(.memory)
    stack.context.performAndWait {
      let entries = NSMutableDictionary(dictionary: ["a": 1])
      let book = stack.context.insert("Book", ["extra": entries])
      book.setValue("x", forKeyPath: "extra.a")
      #expect(entries["a"] as? String == "x")
      #expect(book.value(forKeyPath: "extra.a") as? String == "x")
      book.setValue(nil, forKeyPath: "extra.a")
      #expect(entries["a"] == nil)
    }
  }
}
