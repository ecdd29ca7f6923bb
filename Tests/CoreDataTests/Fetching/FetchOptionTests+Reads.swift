import Foundation
import Testing

@testable import CoreData

/// What is read from the store, and when.
extension FetchOptionTests {
  private func _byAge<T>(_ type: T.Type = T.self) -> NSFetchRequest<T> {
    let request = NSFetchRequest<T>(entityName: "Author")
    request.sortDescriptors = [NSSortDescriptor(key: "age", ascending: true)]
    return request
  }

  private func _selects(_ lines: [String]) -> [String] {
    lines.filter { $0.hasPrefix("CoreData: sql: SELECT") }.map {
      String($0.dropFirst("CoreData: sql: ".count))
    }
  }

  // MARK: Some of the properties

  @Test(.ofFiles) func `only propertiesToFetch are read until another key is used`() throws {
    let stack = try authors(.sqlite, 3)
    let request = _byAge(NSManagedObject.self)
    request.propertiesToFetch = ["name"]
    let lines = try statements(stack) { context in
      context.persistentStoreCoordinator!.rowCache.removeAll()
      let found = try context.fetch(request)
      #expect(found.map { $0.text("name") } == ["n0", "n1", "n2"])
      #expect(found.map { $0.primitiveValue(forKey: "name") as? String } == ["n0", "n1", "n2"])
      #expect(found.filter(\.isFault).count == 3)
      #expect(found[1].value(forKey: "age") as? Int == 1)
      #expect(!found[1].isFault)
    }
    let selects = _selects(lines)
    #expect(selects.count == 2)
    #expect(selects[0] == "SELECT t0.Z_PK, t0.Z_OPT, t0.ZNAME FROM ZAUTHOR t0 ORDER BY t0.ZAGE")
    #expect(selects[1].contains("t0.ZAGE") && selects[1].contains("WHERE t0.Z_PK"))
  }

  @Test(.ofFiles) func `filling one of them fills its neighbours`() throws {
    let stack = try authors(.sqlite, 20)
    let request = _byAge(NSManagedObject.self)
    request.propertiesToFetch = ["name"]
    let lines = try statements(stack) { context in
      context.persistentStoreCoordinator!.rowCache.removeAll()
      for author in try context.fetch(request) { #expect(author.value(forKey: "age") != nil) }
    }
    #expect(_selects(lines).count == 2)
  }

  @Test(arguments: Setting.direct) func `a to-one among the properties is followed`(_ setting: Setting) throws
  {
    let stack = try authors(setting, 2)
    let book = stack.coordinator.managedObjectModel.entitiesByName["Book"]!
    let request = NSFetchRequest<NSManagedObject>(entityName: "Book")
    request.propertiesToFetch = [book.relationshipsByName["author"]!, "objectID"]
    request.sortDescriptors = [NSSortDescriptor(key: "title", ascending: true)]
    try stack.fresh { context in
      let books = try context.fetch(request)
      let author = books[0].object("author")
      #expect(books[0].isFault == setting.isSQLite && author?.text("name") == "n0")
      #expect(books[0].text("title") == "b0.0" && books[0].object("author") === author)
    }
  }

  @Test(arguments: Setting.direct) func `what was read in part is none of the objects unsaved state`(
    _ setting: Setting
  )
    throws
  {
    let stack = try authors(setting, 2)
    let request = _byAge(NSManagedObject.self)
    request.propertiesToFetch = ["name"]
    try stack.fresh { context in
      let found = try context.fetch(request)
      found[0].setValue("new", forKey: "name")
      #expect(found[0].value(forKey: "age") as? Int == 0)
      #expect(found[0].changedValues().keys.sorted() == ["name"])
      try context.save()
      #expect(!found[1].hasChanges && found[1].isFault)
    }
    try stack.fresh { context in
      try #expect(context.fetch(_byAge(NSManagedObject.self)).map { $0.text("name") } == ["new", "n1"])
    }
  }

  @Test func `registered objects keep their values, faults get the subset`() throws {
    let stack = try authors(.sqlite, 2)
    let request = _byAge(NSManagedObject.self)
    try stack.fresh { context in
      let found = try context.fetch(request)
      _ = found[0].text("name")
      context.refresh(found[1], mergeChanges: false)
      request.propertiesToFetch = ["name"]
      let again = try context.fetch(request)
      #expect(again[0] === found[0] && !again[0].isFault)
      #expect(again[1] === found[1] && again[1].isFault && again[1]._row == nil)
      #expect(again[1].text("name") == "n1" && again[1].isFault)
      context.refresh(again[1], mergeChanges: false)
      #expect(again[1].text("name") == "n1" && !again[1].isFault)
    }
  }

  @Test func `unsaved changes are sorted by keys that were not requested`() throws {
    let stack = try authors(.sqlite, 3)
    let request = _byAge(NSManagedObject.self)
    request.propertiesToFetch = ["name"]
    try stack.fresh { context in
      context.insert("Author", ["name": "x", "age": 1])
      try context.all("Author").first { $0.text("name") == "n0" }!.setValue(9, forKey: "age")
      try #expect(context.fetch(request).map { $0.text("name") } == ["n1", "x", "n2", "n0"])
    }
  }

  @Test(.ofFiles) func `the statement of a partial fetch is shown`() throws {
    let stack = try authors(.sqlite, 1)
    let request = _byAge(NSManagedObject.self)
    request.propertiesToFetch = ["name"]
    let sql = try stack.context.performAndWait { try stack.context.sqlStatements(for: request)[0].sql }
    #expect(sql == "SELECT t0.Z_PK, t0.Z_OPT, t0.ZNAME FROM ZAUTHOR t0 ORDER BY t0.ZAGE")
  }

  // MARK: No values

  @Test(.ofFiles) func `without property values the first fault fills its batch`() throws {
    let stack = try authors(.sqlite, 4)
    let request = _byAge(NSManagedObject.self)
    request.includesPropertyValues = false
    let lines = try statements(stack) { context in
      context.persistentStoreCoordinator!.rowCache.removeAll()
      let found = try context.fetch(request)
      #expect(found.allSatisfy { $0.isFault && $0._row == nil })
      #expect(found[2].text("name") == "n2" && found[3].isFault)
      #expect(found[0].text("name") == "n0")
    }
    let selects = _selects(lines)
    #expect(selects.count == 2)
    #expect(selects.first == "SELECT t0.Z_PK FROM ZAUTHOR t0 ORDER BY t0.ZAGE")
  }

  @Test(.ofFiles) func `counting loads nothing`() throws {
    let stack = try authors(.sqlite, 4)
    let request = _byAge(NSManagedObject.self)
    request.predicate = NSPredicate(format: "age > 1")
    let lines = try statements(stack) { context in
      try #expect(context.count(for: request) == 2)
      #expect(context.registeredObjects.isEmpty)
    }
    #expect(_selects(lines) == ["SELECT COUNT(*) FROM ZAUTHOR t0 WHERE t0.ZAGE > ?"])
  }

  @Test func `an asynchronous fetch of some properties reads those only`() async throws {
    let stack = try authors(.sqlite, 3)
    let request = _byAge(NSManagedObject.self)
    request.propertiesToFetch = ["name"]
    let context = stack.sibling()
    let found: [Bool] = try await withCheckedThrowingContinuation { continuation in
      let asynchronous = NSAsynchronousFetchRequest(fetchRequest: request) { result in
        let authors = result.finalResult ?? []
        continuation.resume(returning: authors.map { $0.text("name") != nil && $0.isFault && $0._row == nil })
      }
      context.performAndWait {
        context.persistentStoreCoordinator!.rowCache.removeAll()
        do { try context.execute(asynchronous) } catch { continuation.resume(throwing: error) }
      }
    }
    #expect(found == [true, true, true])
  }

  @Test func `cancelling the progress cancels the fetch`() throws {
    let stack = try authors(.sqlite, 3)
    let parent = Progress(totalUnitCount: 1)
    let request = NSAsynchronousFetchRequest(fetchRequest: _byAge(NSManagedObject.self)) { _ in
      Issue.record("a cancelled fetch is not delivered")
    }
    let result = try stack.context.performAndWait { () -> NSAsynchronousFetchResult<NSManagedObject>? in
      parent.becomeCurrent(withPendingUnitCount: 1)
      defer { parent.resignCurrent() }
      let result = try stack.context.execute(request) as? NSAsynchronousFetchResult<NSManagedObject>
      result?.progress?.cancel()
      return result
    }
    Thread.sleep(forTimeInterval: 0.05)
    stack.context.performAndWait {
      #expect(result?.finalResult == nil && result?.progress?.isCancelled == true)
    }
  }

  // MARK: Dictionaries in batches

  private func _rows(_ properties: [Any]) -> NSFetchRequest<NSDictionary> {
    let request = _byAge(NSDictionary.self)
    request.resultType = .dictionaryResultType
    request.propertiesToFetch = properties
    request.fetchBatchSize = 10
    return request
  }

  @Test(.ofFiles) func `dictionaries that hold their object come batch by batch`() throws {
    let stack = try authors(.sqlite, 30)
    let request = _rows(["name", "objectID"])
    let lines = try statements(stack) { context in
      let rows = try context.fetchBatched(request)
      #expect(rows.count == 30)
      #expect(rows[12]["name"] as? String == "n12")
      #expect(rows[17]["name"] as? String == "n17")
      #expect((rows[17] as? [String: Any])?["objectID"] is NSManagedObjectID)
    }
    #expect(
      _selects(lines) == [
        "SELECT t0.Z_PK FROM ZAUTHOR t0 ORDER BY t0.ZAGE",
        "SELECT t0.ZNAME, t0.Z_PK FROM ZAUTHOR t0 WHERE t0.Z_PK IN (SELECT value FROM Z_VALUES(?))",
      ])
  }

  @Test(.ofFiles, arguments: [["name"], ["name", "objectID"]])
  func `dictionaries without their object come at once`(
    _ properties: [String]
  ) throws {
    let stack = try authors(.sqlite, 30)
    let lines = try statements(stack) { context in
      let names = try context.fetchBatched(_rows(properties)).map { $0["name"] as? String }
      #expect(names == (0..<30).map { "n\($0)" })
    }
    #expect(_selects(lines).count == (properties.contains("objectID") ? 4 : 1))
  }

  @Test(arguments: Setting.direct) func `batched dictionaries are those of the fetch`(_ setting: Setting)
    throws
  {
    let stack = try authors(setting, 25)
    try stack.fresh { context in
      let request = _rows(["name", "age", "mentor", "objectID"])
      let (batched, whole) = (try context.fetchBatched(request), try context.fetch(request))
      #expect(Array(batched) == whole && whole.count == 25)
    }
  }

  @Test func `a row deleted before its batch is read has its object only`() throws {
    let stack = try authors(.sqlite, 3)
    try stack.fresh { context in
      let rows = try context.fetchBatched(_rows(["name", "objectID"]))
      try stack.fresh { other in
        for author in try other.fetch(_byAge(NSManagedObject.self)).prefix(1) { other.delete(author) }
        try other.save()
      }
      #expect(rows[0].allKeys as? [String] == ["objectID"])
      #expect(rows[1]["name"] as? String == "n1")
    }
  }
}
