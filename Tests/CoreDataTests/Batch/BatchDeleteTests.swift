import CoreData
import Foundation
import Testing

/// Deletions of many objects without a context.
struct BatchDeleteTests {
  private let stack: TestStack
  private let context: NSManagedObjectContext

  init() throws {
    stack = try TestStack(.sqlite)
    context = stack.context
    try Self.fill(context)
  }

  private static func fill(_ context: NSManagedObjectContext) throws {
    try context.performAndWait {
      let ada = context.insert("Author", ["name": "Ada"])
      let bob = context.insert("Author", ["name": "Bob", "mentor": ada])
      let tag = context.insert("Tag", ["name": "tag"])
      for number in 1...4 {
        let book = context.insert(
          "Book", ["title": "b\(number)", "author": number < 3 ? ada : bob, "tags": Set([tag])])
        context.insert("Chapter", ["heading": "c\(number)", "book": book])
      }
      context.insert("Novel", ["title": "n", "author": bob])
      try context.save()
    }
  }

  private func delete(_ request: AnyFetchRequest) throws -> Int {
    let delete = NSBatchDeleteRequest(fetchRequest: request)
    delete.resultType = .resultTypeCount
    return (try context.execute(delete) as! NSBatchDeleteResult).result as! Int
  }

  private func request(_ entity: String, _ format: String? = nil) -> NSFetchRequest<NSManagedObject> {
    let request = NSFetchRequest<NSManagedObject>(entityName: entity)
    request.predicate = format.map { NSPredicate(format: $0) }
    return request
  }

  private func titles() throws -> [String?] {
    try stack.fresh { try $0.all("Book", by: "title").map { $0.text("title") } }
  }

  @Test func `what the fetch finds is deleted`() throws {
    try context.performAndWait {
      try #expect(delete(request("Chapter", "heading > 'c2'")) == 2)
      try #expect(stack.fresh { try $0.count("Chapter") } == 2)
      let limited = request("Chapter")
      limited.sortDescriptors = [NSSortDescriptor(key: "heading", ascending: false)]
      limited.fetchLimit = 1
      try #expect(delete(limited) == 1)
      try #expect(stack.fresh { try $0.all("Chapter").map { $0.text("heading") } } == ["c1"])
    }
  }

  @Test func `subentities go too unless left out`() throws {
    try context.performAndWait {
      let books = request("Book")
      books.includesSubentities = false
      _ = try delete(books)
      try #expect(titles() == ["n"])
      _ = try delete(request("Publication"))
      try #expect(titles() == [])
    }
  }

  @Test func `object IDs of one entity are deleted`() throws {
    try context.performAndWait {
      let books = try context.all("Book", by: "title")
      let request = NSBatchDeleteRequest(objectIDs: books.prefix(2).map(\.objectID))
      #expect(request.fetchRequest.entityName == "Book")
      request.resultType = .resultTypeObjectIDs
      let ids = try #require(
        (try context.execute(request) as! NSBatchDeleteResult).result as? [NSManagedObjectID])
      #expect(Set(books.prefix(2).map(\.objectID)).isSubset(of: ids))
      try #expect(titles() == ["b3", "b4", "n"])
      try #expect(context.execute(NSBatchDeleteRequest(objectIDs: [])) is NSBatchDeleteResult)
    }
  }

  @Test func `results are status IDs or count`() throws {
    #expect(NSBatchDeleteRequestResultType(rawValue: 1) == .resultTypeObjectIDs)
    #expect(NSBatchDeleteRequestResultType(rawValue: 2) == .resultTypeCount)
    try context.performAndWait {
      let request = NSBatchDeleteRequest(fetchRequest: request("Chapter"))
      #expect(request.resultType == .resultTypeStatusOnly)
      try #expect((context.execute(request) as! NSBatchDeleteResult).result as? Bool == true)
    }
  }

  @Test(.ofFiles) func `cascade deletes members and nullify clears references`() throws {
    try context.performAndWait {
      // Ada, two books and their chapters.
      try #expect(delete(request("Author", "name == 'Ada'")) == 5)
      try stack.fresh { fresh in
        try #expect(fresh.all("Book", by: "title").map { $0.text("title") } == ["b3", "b4", "n"])
        try #expect(fresh.count("Chapter") == 2)
        try #expect(fresh.author(named: "Bob")?.object("mentor") == nil)
        try #expect(fresh.all("Tag")[0].objects("books").count == 2)
      }
    }
    try #expect(Tracked.rows("SELECT Z_OPT, typeof(ZMENTOR) FROM ZAUTHOR", stack) == [["2", "null"]])
  }

  @Test func `rules reach all of many rows, of which more are deleted than are looked at in one go`() throws {
    try context.performAndWait {
      let many = context.insert("Author", ["name": "Many"])
      for number in 0..<10_500 {
        let book = context.insert("Book", ["title": "m\(number)", "author": many])
        if number % 3 == 0 { context.insert("Chapter", ["heading": "m", "book": book]) }
      }
      try context.save()
      try #expect(delete(request("Author", "name == 'Many'")) == 1 + 10_500 + 3_500)
      try stack.fresh { fresh in
        try #expect(fresh.count("Book") == 5)
        try #expect(fresh.count("Chapter") == 4)
      }
    }
  }

  @Test(.ofFiles) func `the rule Deny is validation, which a batch deletion skips`() throws {
    let model = LibraryModel.make()
    model.entitiesByName["Author"]!.relationshipsByName["books"]!.deleteRule = .denyDeleteRule
    let stack = try TestStack(.sqlite, model: model)
    try Self.fill(stack.context)
    try stack.context.performAndWait {
      try stack.context.execute(
        NSBatchDeleteRequest(fetchRequest: NSFetchRequest<NSManagedObject>(entityName: "Author")))
      try #expect(stack.context.count("Author") == 0)
    }
    try #expect(Tracked.rows("SELECT COUNT(*) FROM ZPUBLICATION WHERE ZAUTHOR IS NOT NULL", stack) == [["0"]])
  }

  @Test func `counts of relationships are not looked at`() throws {
    let model = LibraryModel.make()
    let books = model.entitiesByName["Author"]!.relationshipsByName["books"]!
    books.minCount = 1
    books.isOptional = false
    model.entitiesByName["Book"]!.relationshipsByName["author"]!.isOptional = false
    let stack = try TestStack(.sqlite, model: model)
    try stack.context.performAndWait {
      let ada = stack.context.insert("Author", ["name": "Ada"])
      let bob = stack.context.insert("Author", ["name": "Bob"])
      stack.context.insert("Book", ["title": "b", "author": ada])
      let second = stack.context.insert("Book", ["title": "c", "author": bob])
      try stack.context.save()
      try stack.context.execute(NSBatchDeleteRequest(objectIDs: [second.objectID]))
    }
    try stack.fresh { try #expect($0.author(named: "Bob")?.objects("books").isEmpty == true) }
  }

  /// Deletes all authors of a model with mandatory inverses; returns the error and the number of authors
  /// left.
  private func deleteAuthors(_ change: (NSManagedObjectModel) -> Void) throws -> (NSError?, Int) {
    let model = LibraryModel.make()
    change(model)
    let stack = try TestStack(.sqlite, model: model)
    try stack.context.performAndWait {
      let bob = stack.context.insert("Author", ["name": "Bob"])
      let ada = stack.context.insert("Author", ["name": "Ada", "mentor": bob])
      stack.context.insert("Book", ["title": "b", "author": ada])
      try stack.context.save()
    }
    var failure: NSError?
    do {
      try stack.context.performAndWait {
        let authors = NSFetchRequest<NSManagedObject>(entityName: "Author")
        authors.predicate = NSPredicate(format: "name == 'Ada'")
        _ = try stack.context.execute(NSBatchDeleteRequest(fetchRequest: authors))
      }
    } catch {
      failure = error as NSError
    }
    return (failure, try stack.fresh { try $0.count("Author") })
  }

  @Test func `a batch deletion that nulls a mandatory inverse fails`() throws {
    let (error, left) = try deleteAuthors { model in
      model.entitiesByName["Author"]!.relationshipsByName["books"]!.deleteRule = .nullifyDeleteRule
      model.entitiesByName["Book"]!.relationshipsByName["author"]!.isOptional = false
    }
    #expect(
      error?.localizedFailureReason
        == "Constraint trigger violation: Batch delete failed due to mandatory OTM nullify inverse on Book/author"
    )
    #expect(left == 2)
  }

  @Test func `a mandatory inverse blocks nullify only if objects remain`() throws {
    for rule in [NSDeleteRule.cascadeDeleteRule, .denyDeleteRule, .noActionDeleteRule] {
      let (error, left) = try deleteAuthors { model in
        model.entitiesByName["Author"]!.relationshipsByName["books"]!.deleteRule = rule
        model.entitiesByName["Book"]!.relationshipsByName["author"]!.isOptional = false
      }
      #expect(error == nil)
      #expect(left == 1)
    }
    let (error, left) = try deleteAuthors { model in
      // Removing a pupil from the mentor is only a count violation.
      model.entitiesByName["Author"]!.relationshipsByName["pupils"]!.isOptional = false
    }
    #expect(error == nil)
    #expect(left == 1)
  }

  @Test func `every kind of mandatory inverse blocks a batch deletion`() throws {
    func kind(_ low: Int, _ high: Int) throws -> String? {
      let model = LibraryModel.make()
      let tags = model.entitiesByName["Book"]!.relationshipsByName["tags"]!
      let books = model.entitiesByName["Tag"]!.relationshipsByName["books"]!
      (tags.maxCount, books.maxCount, books.isOptional) = (low, high, false)
      let stack = try TestStack(.sqlite, model: model)
      return try stack.context.performAndWait {
        let tag = stack.context.insert("Tag", ["name": "t"])
        stack.context.insert("Book", ["tags": low == 1 ? tag as Any : Set([tag])])
        try stack.context.save()
        let books = NSFetchRequest<NSManagedObject>(entityName: "Book")
        do {
          _ = try stack.context.execute(NSBatchDeleteRequest(fetchRequest: books))
          return nil
        } catch {
          return (error as NSError).localizedFailureReason?.components(separatedBy: " ").dropFirst(9).joined(
            separator: " ")
        }
      }
    }
    try #expect(kind(1, 1) == "OTO nullify inverse on Tag/books")
    try #expect(kind(0, 0) == "MTM nullify inverse on Tag/books")
  }

  @Test func `registered objects stay until the deletion is merged`() throws {
    let reader = stack.sibling()
    let chapters = try reader.performAndWait {
      let chapters = try reader.all("Chapter", by: "heading")
      #expect(chapters.map { $0.text("heading") } == ["c1", "c2", "c3", "c4"])
      return chapters
    }
    let ids = try context.performAndWait {
      let request = NSBatchDeleteRequest(fetchRequest: request("Chapter"))
      request.resultType = .resultTypeObjectIDs
      return try #require(
        (try context.execute(request) as! NSBatchDeleteResult).result as? [NSManagedObjectID])
    }
    reader.performAndWait {
      #expect(chapters.allSatisfy { !$0.isDeleted && $0.text("heading") != nil })
    }
    NSManagedObjectContext.mergeChanges(fromRemoteContextSave: [NSDeletedObjectsKey: ids], into: [reader])
    try reader.performAndWait {
      #expect(chapters.allSatisfy { $0.isDeleted })
      try #expect(reader.count("Chapter") == 0)
    }
  }

  @Test(.ofFiles) func `files of large values go with their rows`() throws {
    let model = LibraryModel.make()
    model.entitiesByName["Book"]!.attributesByName["cover"]!.allowsExternalBinaryDataStorage = true
    let stack = try TestStack(.sqlite, model: model)
    let directory = stack.url.deletingLastPathComponent().appendingPathComponent(
      ".Store_SUPPORT/_EXTERNAL_DATA"
    ).path
    try stack.context.performAndWait {
      stack.context.insert("Book", ["title": "t", "cover": Data(repeating: 1, count: 300_000)])
      try stack.context.save()
      try #expect(FileManager.default.contentsOfDirectory(atPath: directory).count == 1)
      try stack.context.execute(
        NSBatchDeleteRequest(fetchRequest: NSFetchRequest<NSManagedObject>(entityName: "Book")))
      try #expect(FileManager.default.contentsOfDirectory(atPath: directory).isEmpty)
    }
  }

  @Test func `rows that nothing hangs on go in one statement`() throws {
    let note = LibraryModel.entity("Note")
    note.properties = [LibraryModel.attribute("text", .stringAttributeType)]
    let memo = LibraryModel.entity("Memo")
    note.subentities = [memo]
    let model = NSManagedObjectModel()
    model.entities = [note, memo]
    let stack = try TestStack(.sqlite, model: model)
    try stack.context.performAndWait {
      for text in ["a", "b", "c"] { stack.context.insert(text == "c" ? "Memo" : "Note", ["text": text]) }
      try stack.context.save()
      let fetch = NSFetchRequest<NSManagedObject>(entityName: "Note")
      fetch.predicate = NSPredicate(format: "text > 'a'")
      let delete = NSBatchDeleteRequest(fetchRequest: fetch)
      delete.resultType = .resultTypeCount
      try #expect((stack.context.execute(delete) as! NSBatchDeleteResult).result as? Int == 2)
      try #expect(stack.context.all("Note").map { $0.text("text") } == ["a"])
    }
  }
}
