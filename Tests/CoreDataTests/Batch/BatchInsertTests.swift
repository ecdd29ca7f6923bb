import CoreData
import CoreDataSQLiteBinding
import Foundation
import Testing

/// Insertions of many objects without a context.
struct BatchInsertTests {
  private let stack: TestStack
  private let context: NSManagedObjectContext

  init() throws {
    stack = try TestStack(.sqlite, model: Self.model())
    context = stack.context
  }

  /// The library with unique tag names, mandatory chapter headings and derived initials.
  private static func model() -> NSManagedObjectModel {
    let model = LibraryModel.make()
    model.entitiesByName["Tag"]!.uniquenessConstraints = [["name"]]
    model.entitiesByName["Chapter"]!.attributesByName["heading"]!.isOptional = false
    return model
  }

  private func run(_ request: NSBatchInsertRequest) throws -> NSBatchInsertResult {
    try context.execute(request) as! NSBatchInsertResult
  }

  @Test func `dictionaries are inserted by entity or its name`() throws {
    try context.performAndWait {
      let entity = try #require(NSEntityDescription.entity(forEntityName: "Author", in: context))
      let byEntity = NSBatchInsertRequest(
        entity: entity, objects: [["name": "a"], ["name": "b", "age": 40]])
      #expect(byEntity.entity === entity)
      #expect(byEntity.entityName == "Author")
      try #expect(run(byEntity).result as? Bool == true)
      try #expect(
        run(NSBatchInsertRequest(entityName: "Author", objects: [["name": "c"]])).result as? Bool == true)
      let authors = try context.all("Author", by: "name")
      #expect(authors.map { $0.text("name") } == ["a", "b", "c"])
      #expect(authors.map { $0.value(forKey: "age") as? Int } == [18, 40, 18])
    }
  }

  @Test func `handlers are called until they return true`() throws {
    try context.performAndWait {
      var calls = 0
      var wasEmpty = true
      let request = NSBatchInsertRequest(entityName: "Author") { (dictionary: NSMutableDictionary) in
        wasEmpty = wasEmpty && dictionary.count == 0
        dictionary["name"] = "n\(calls)"
        calls += 1
        return calls == 4
      }
      request.resultType = .count
      try #expect(run(request).result as? Int == 3)
      #expect(wasEmpty)
      try #expect(context.all("Author", by: "name").map { $0.text("name") } == ["n0", "n1", "n2"])
    }
  }

  @Test func `managed objects are filled in but stay out of the context`() throws {
    let stack = try TestStack(.sqlite, model: HookedAuthor.model())
    let context = stack.context
    try context.performAndWait {
      var made: [HookedAuthor] = []
      let entity = try #require(NSEntityDescription.entity(forEntityName: "Author", in: context))
      let request = NSBatchInsertRequest(entity: entity) { (object: NSManagedObject) in
        guard made.count < 3, let author = object as? HookedAuthor else { return true }
        author.setValue("a\(made.count)", forKey: "name")
        made.append(author)
        return false
      }
      let result = try context.execute(request) as! NSBatchInsertResult
      #expect(result.result as? Bool == true)
      #expect(made.count == 3)
      #expect(Set(made.map { ObjectIdentifier($0) }).count == 3)
      #expect(made.allSatisfy { $0.managedObjectContext == nil && $0.events.isEmpty })
      #expect(!context.hasChanges)
      #expect(context.registeredObjects.isEmpty)
      try #expect(context.count("Author") == 3)
    }
  }

  @Test func `results are status IDs or count`() throws {
    #expect(NSBatchInsertRequestResultType(rawValue: 1) == .objectIDs)
    #expect(NSBatchInsertRequestResultType(rawValue: 2) == .count)
    try context.performAndWait {
      let request = NSBatchInsertRequest(entityName: "Tag", objects: [["name": "a"], ["name": "b"]])
      #expect(request.resultType == .statusOnly)
      request.resultType = .objectIDs
      let ids = try #require(try run(request).result as? [NSManagedObjectID])
      #expect(ids.allSatisfy { !$0.isTemporaryID })
      try #expect(ids.map { try context.existingObject(with: $0).text("name") } == ["a", "b"])
    }
  }

  @Test func `no context hears of it`() throws {
    let names: [NSNotification.Name] = [
      .NSManagedObjectContextObjectsDidChange, .NSManagedObjectContextWillSave,
      .NSManagedObjectContextDidSave,
    ]
    let posted = names.map { Posted($0, by: context) }
    try context.performAndWait {
      _ = try run(NSBatchInsertRequest(entityName: "Tag", objects: [["name": "a"]]))
      #expect(!context.hasChanges)
    }
    #expect(posted.allSatisfy { $0.userInfos.isEmpty })
  }

  @Test func `a missing mandatory attribute fails the whole request`() throws {
    try context.performAndWait {
      let request = NSBatchInsertRequest(entityName: "Chapter", objects: [["heading": "a"], [:]])
      #expect { try run(request) } throws: {
        ($0 as? CocoaError)?.code.rawValue == NSValidationMissingMandatoryPropertyError
      }
      try #expect(context.count("Chapter") == 0)
    }
  }

  @Test func `an unknown key or a wrong value fails the whole request`() throws {
    try context.performAndWait {
      for bad: [String: Any] in [["nam": "b"], ["name": 7], ["books": Set<NSManagedObject>()]] {
        let request = NSBatchInsertRequest(entityName: "Author", objects: [["name": "a"], bad])
        #expect(throws: CocoaError.self) { try run(request) }
      }
      try #expect(context.count("Author") == 0)
    }
  }

  @Test func `duplicates fail under the error policy`() throws {
    try context.performAndWait {
      try context.saveTags("a")
      for names in [["b", "b"], ["c", "a"]] {
        let request = NSBatchInsertRequest(entityName: "Tag", objects: names.map { ["name": $0] })
        #expect { try run(request) } throws: {
          ($0 as? CocoaError)?.code.rawValue == NSManagedObjectConstraintMergeError
        }
      }
      try #expect(context.count("Tag") == 1)
    }
  }

  @Test(.ofFiles) func `a trump policy overwrites the stored row with all values`() throws {
    let model = LibraryModel.make()
    model.entitiesByName["Author"]!.uniquenessConstraints = [["name"]]
    let stack = try TestStack(.sqlite, model: model)
    let context = stack.context
    try context.performAndWait {
      let ada = context.insert("Author", ["name": "Ada", "age": 36])
      context.insert("Book", ["title": "Notes", "author": ada])
      try context.save()
      context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
      let request = NSBatchInsertRequest(entityName: "Author", objects: [["name": "Ada"], ["name": "Bob"]])
      request.resultType = .objectIDs
      let result = try context.execute(request) as! NSBatchInsertResult
      let ids = try #require(result.result as? [NSManagedObjectID])
      #expect(ids.count == 2)
      #expect(ids[0] == ada.objectID)
    }
    try stack.fresh { fresh in
      let authors = try fresh.all("Author", by: "name")
      #expect(authors.map { $0.value(forKey: "age") as? Int } == [18, 18])
      #expect(authors[0].objects("books").count == 1)
    }
    try #expect(Tracked.rows("SELECT Z_OPT FROM ZAUTHOR ORDER BY ZNAME", stack) == [["2"], ["1"]])
  }

  @Test func `under a store trump policy the row is left out`() throws {
    try context.performAndWait {
      try context.saveTags("a")
      context.mergePolicy = NSMergePolicy.mergeByPropertyStoreTrump
      let request = NSBatchInsertRequest(entityName: "Tag", objects: [["name": "a"], ["name": "b"]])
      request.resultType = .count
      try #expect(run(request).result as? Int == 1)
      try #expect(context.all("Tag", by: "name").map { $0.text("name") } == ["a", "b"])
    }
  }

  @Test func `subentities share the table and abstract ones are refused`() throws {
    try context.performAndWait {
      _ = try run(
        NSBatchInsertRequest(entityName: "Novel", objects: (0..<5).map { ["title": "t\($0)", "genre": "g"] }))
      try #expect(context.count("Book") == 5)
      try #expect(context.count("Novel") == 5)
      #expect(throws: CocoaError.self) {
        try run(NSBatchInsertRequest(entityName: "Publication", objects: [[:]]))
      }
    }
  }

  @Test(.ofFiles) func `keys go on where they were`() throws {
    try context.performAndWait {
      try context.saveTags("a")
      _ = try run(NSBatchInsertRequest(entityName: "Tag", objects: (0..<600).map { ["name": "t\($0)"] }))
      try context.saveTags("z")
    }
    try #expect(Tracked.rows("SELECT MAX(Z_PK), COUNT(*) FROM ZTAG", stack) == [["602", "602"]])
    try #expect(Tracked.rows("SELECT Z_MAX FROM Z_PRIMARYKEY WHERE Z_NAME = 'Tag'", stack) == [["602"]])
  }

  @Test func `every type of value comes back as it was`() throws {
    let large = Data(repeating: 7, count: 300_000)
    let values: [String: Any] = [
      "title": "t", "pages": 7, "copies": Int64.max, "price": 1.5, "weight": Float(0.25),
      "cost": Decimal(string: "10.11")!,
      "published": Date(timeIntervalSinceReferenceDate: 10), "inPrint": false, "cover": large, "isbn": UUID(),
      "page": URL(string: "https://example.org")!, "extra": ["a", "b"] as NSArray,
    ]
    let model = LibraryModel.make()
    model.entitiesByName["Book"]!.attributesByName["cover"]!.allowsExternalBinaryDataStorage = true
    let stack = try TestStack(.sqlite, model: model)
    let context = stack.context
    try context.performAndWait {
      _ = try context.execute(NSBatchInsertRequest(entityName: "Book", objects: [values]))
      let book = try context.all("Book")[0]
      for (key, value) in values {
        #expect(
          (book.value(forKey: key) as? NSObject)?.isEqual(value as? NSObject ?? value as AnyObject) ?? false
            || "\(book.value(forKey: key)!)" == "\(value)", "\(key)")
      }
    }
  }

  @Test func `a database in memory takes them too`() throws {
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: LibraryModel.make())
    try coordinator.addPersistentStore(
      ofType: NSSQLiteStoreType, configurationName: nil, at: URL(fileURLWithPath: "/dev/null"))
    let context = coordinator.newContext()
    try context.performAndWait {
      try context.saveTags("old")
      var count = 0
      // A handler that reads from the store being written.
      let request = NSBatchInsertRequest(entityName: "Tag") { (dictionary: NSMutableDictionary) in
        dictionary["name"] = "\((try? context.count("Tag")) ?? -1)"
        count += 1
        return count > 2
      }
      _ = try context.execute(request)
      try #expect(context.all("Tag", by: "name").map { $0.text("name") } == ["1", "1", "old"])
    }
  }

  @Test func `of rows with the same unique values under a trump policy the last one stays`() throws {
    try context.performAndWait {
      context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
      let request = NSBatchInsertRequest(entityName: "Tag", objects: ["a", "b", "a"].map { ["name": $0] })
      request.resultType = .objectIDs
      let ids = try #require(run(request).result as? [NSManagedObjectID])
      let tags = try context.all("Tag", by: "name")
      #expect(tags.map { $0.text("name") } == ["a", "b"])
      #expect(ids.map { $0 == tags[0].objectID } == [true, false, true])
    }
  }
}
