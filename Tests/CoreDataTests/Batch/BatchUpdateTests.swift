import CoreData
import Foundation
import Testing

/// Updates of many objects without a context.
struct BatchUpdateTests {
  private let stack: TestStack
  private let context: NSManagedObjectContext

  init() throws {
    let model = LibraryModel.make()
    model.entitiesByName["Tag"]!.uniquenessConstraints = [["name"]]
    model.entitiesByName["Chapter"]!.attributesByName["heading"]!.isOptional = false
    stack = try TestStack(.sqlite, model: model)
    context = stack.context
    try context.performAndWait { [context] in
      let ada = context.insert("Author", ["name": "Ada", "age": 36])
      let bob = context.insert("Author", ["name": "Bob", "age": 20])
      for number in 1...4 {
        context.insert(
          "Book", ["title": "b\(number)", "pages": number, "author": number % 2 == 0 ? ada : bob])
      }
      context.insert("Novel", ["title": "n", "pages": 10, "author": ada])
      try context.save()
    }
  }

  private func run(_ entity: String, _ values: [AnyHashable: Any], where predicate: NSPredicate? = nil) throws
    -> Int
  {
    let request = NSBatchUpdateRequest(entityName: entity)
    request.propertiesToUpdate = values
    request.predicate = predicate
    request.resultType = .updatedObjectsCountResultType
    return (try context.execute(request) as! NSBatchUpdateResult).result as! Int
  }

  private func pages() throws -> [Int] {
    try stack.fresh { try $0.all("Book", by: "title").map { $0.value(forKey: "pages") as! Int } }
  }

  @Test func `what meets the predicate is set`() throws {
    try context.performAndWait {
      try #expect(run("Book", ["pages": 99], where: NSPredicate(format: "pages < 3")) == 2)
      try #expect(pages() == [99, 99, 3, 4, 10])
      try #expect(run("Book", ["pages": 1, "title": "x"]) == 5)
    }
  }

  @Test func `predicates follow relationships`() throws {
    try context.performAndWait {
      try #expect(run("Book", ["pages": 0], where: NSPredicate(format: "author.name == 'Ada'")) == 3)
      try #expect(pages() == [1, 0, 3, 0, 0])
    }
  }

  @Test func `subentities are included unless left out`() throws {
    try context.performAndWait {
      let request = NSBatchUpdateRequest(
        entity: try #require(NSEntityDescription.entity(forEntityName: "Book", in: context)))
      #expect(request.includesSubentities)
      #expect(request.entityName == "Book")
      #expect(request.entity.name == "Book")
      request.includesSubentities = false
      request.propertiesToUpdate = ["pages": 0]
      try #expect((context.execute(request) as! NSBatchUpdateResult).result as? Bool == true)
      try #expect(pages() == [0, 0, 0, 0, 10])
    }
  }

  @Test func `keys are names or descriptions and values may be expressions`() throws {
    try context.performAndWait {
      let pagesKey = try #require(
        NSEntityDescription.entity(forEntityName: "Book", in: context)?.propertiesByName["pages"])
      let twice = NSExpression(format: "pages * 2 + %d", 1)
      try #expect(run("Book", [pagesKey: twice, "title": NSExpression(forConstantValue: "t")]) == 5)
      let after = try stack.fresh {
        try $0.all("Book", by: "pages").map { $0.value(forKey: "pages") as! Int }
      }
      #expect(after == [3, 5, 7, 9, 21])
      try #expect(stack.fresh { try $0.all("Book").allSatisfy { $0.text("title") == "t" } })
    }
  }

  @Test func `expressions may look at other objects`() throws {
    try context.performAndWait {
      let predicate = NSPredicate(format: "author.name == 'Ada' AND pages > 2")
      try #expect(run("Book", ["pages": NSExpression(format: "author.age + pages")], where: predicate) == 2)
      try #expect(pages() == [1, 2, 3, 40, 46])
    }
  }

  @Test func `setting nothing is refused`() throws {
    context.performAndWait {
      #expect(throws: CocoaError.self) { try run("Book", [:]) }
      #expect(throws: CocoaError.self) { try context.execute(NSBatchUpdateRequest(entityName: "Book")) }
      #expect(throws: CocoaError.self) { try run("Book", ["pagse": 1]) }
      #expect(throws: CocoaError.self) { try run("Book", ["mark": "transient"]) }
      #expect(throws: CocoaError.self) { try run("Book", ["pages": "text"]) }
      #expect(throws: CocoaError.self) { try run("Book", ["tags": NSNull()]) }
    }
  }

  @Test(.ofFiles) func `mandatory attributes can become nil`() throws {
    try context.performAndWait {
      context.insert("Chapter", ["heading": "h"])
      try context.save()
      try #expect(run("Chapter", ["heading": NSNull()]) == 1)
    }
    try #expect(Tracked.rows("SELECT typeof(ZHEADING) FROM ZCHAPTER", stack) == [["null"]])
  }

  @Test func `duplicates fail and change nothing`() throws {
    try context.performAndWait {
      try context.saveTags("a", "b")
      #expect { try run("Tag", ["name": "same"]) } throws: {
        ($0 as? CocoaError)?.code.rawValue == NSManagedObjectConstraintMergeError
      }
      try #expect(stack.fresh { try $0.all("Tag", by: "name").map { $0.text("name") } } == ["a", "b"])
    }
  }

  @Test func `results are status IDs or count`() throws {
    #expect(NSBatchUpdateRequestResultType(rawValue: 1) == .updatedObjectIDsResultType)
    #expect(NSBatchUpdateRequestResultType(rawValue: 2) == .updatedObjectsCountResultType)
    try context.performAndWait {
      let request = NSBatchUpdateRequest(entityName: "Book")
      #expect(request.resultType == .statusOnlyResultType)
      request.propertiesToUpdate = ["pages": 5]
      request.predicate = NSPredicate(format: "title BEGINSWITH 'b'")
      request.resultType = .updatedObjectIDsResultType
      let ids = try #require(
        (try context.execute(request) as! NSBatchUpdateResult).result as? [NSManagedObjectID])
      let expected = try context.all("Book", where: request.predicate).map(\.objectID)
      #expect(Set(ids) == Set(expected))
      #expect(ids.count == 4)
    }
  }

  @Test func `to-ones are set to an object its ID or nothing`() throws {
    try context.performAndWait {
      let ada = try #require(try context.author(named: "Ada"))
      let novel = try context.all("Novel")[0]
      context.insert("Chapter", ["heading": "c"])
      try context.save()
      try #expect(run("Book", ["author": ada], where: NSPredicate(format: "title == 'b1'")) == 1)
      try #expect(run("Book", ["author": NSNull()], where: NSPredicate(format: "title == 'b2'")) == 1)
      try #expect(run("Chapter", ["book": novel.objectID]) == 1)
      try stack.fresh { fresh in
        let books = try fresh.all("Book", by: "title")
        #expect(books[0].object("author")?.text("name") == "Ada")
        #expect(books[1].object("author") == nil)
        try #expect(fresh.all("Chapter")[0].object("book")?.entity.name == "Novel")
      }
      #expect(throws: CocoaError.self) { try run("Book", ["author": "Ada"]) }
    }
  }

  @Test(.ofFiles) func `versions go up so that stale contexts notice`() throws {
    let stale = stack.sibling()
    try stale.performAndWait {
      let books = try stale.all("Book", by: "title")
      books[0].setValue("mine", forKey: "title")
      try context.performAndWait { _ = try run("Book", ["pages": 7]) }
      #expect { try stale.save() } throws: { ($0 as? CocoaError)?.code.rawValue == NSManagedObjectMergeError }
    }
    try #expect(Tracked.rows("SELECT DISTINCT Z_OPT FROM ZPUBLICATION", stack) == [["2"]])
  }

  @Test func `a fetch of another context sees the new values`() throws {
    try context.performAndWait {
      let book = try context.all("Book", by: "title")[0]
      let other = stack.sibling()
      _ = try run("Book", ["pages": 77])
      #expect(book.value(forKey: "pages") as? Int == 1 || book.isFault)
      try other.performAndWait {
        try #expect(other.all("Book", by: "title")[0].value(forKey: "pages") as? Int == 77)
      }
    }
  }

  @Test(.ofFiles) func `replaced files of large values go`() throws {
    let model = LibraryModel.make()
    model.entitiesByName["Book"]!.attributesByName["cover"]!.allowsExternalBinaryDataStorage = true
    let stack = try TestStack(.sqlite, model: model)
    let context = stack.context
    let directory = stack.url.deletingLastPathComponent().appendingPathComponent(
      ".Store_SUPPORT/_EXTERNAL_DATA"
    ).path
    try context.performAndWait {
      context.insert("Book", ["title": "t", "cover": Data(repeating: 1, count: 300_000)])
      try context.save()
      try #expect(FileManager.default.contentsOfDirectory(atPath: directory).count == 1)
      let request = NSBatchUpdateRequest(entityName: "Book")
      request.propertiesToUpdate = ["cover": Data([1, 2, 3])]
      try context.execute(request)
      try #expect(FileManager.default.contentsOfDirectory(atPath: directory).isEmpty)
      try #expect(stack.fresh { try $0.all("Book")[0].value(forKey: "cover") as? Data } == Data([1, 2, 3]))
    }
  }

  @Test(.ofFiles) func `objects and rows stay the same until refreshed`() throws {
    try context.performAndWait {
      let book = try #require(try context.all("Book", where: NSPredicate(format: "title == 'b1'")).first)
      book.willAccessValue(forKey: nil)
      try #expect(run("Book", ["pages": 99]) == 5)
      #expect(book.value(forKey: "pages") as? Int == 1)
      context.refresh(book, mergeChanges: false)
      #expect(book.value(forKey: "pages") as? Int == 1)
      context.refreshAllObjects()
      #expect(book.value(forKey: "pages") as? Int == 1)
      context.stalenessInterval = 0
      context.refresh(book, mergeChanges: false)
      #expect(book.value(forKey: "pages") as? Int == 99)
    }
  }
}
