import CoreData
import Foundation
import Testing

/// Contexts pinned to one state of the store.
struct QueryGenerationTests {
  private let stack: TestStack
  private let pinned: NSManagedObjectContext
  private let writer: NSManagedObjectContext

  init() throws {
    stack = try TestStack(.sqlite)
    pinned = stack.context
    writer = stack.sibling()
    try writer.performAndWait { [writer] in
      let ada = writer.insert("Author", ["name": "Ada", "age": 1])
      writer.insert("Book", ["title": "b", "author": ada])
      try writer.save()
    }
  }

  private func pin(_ token: NSQueryGenerationToken? = .current) throws {
    try pinned.performAndWait { try pinned.setQueryGenerationFrom(token) }
  }

  /// Changes the author's age and adds a book.
  private func write(age: Int) throws {
    try writer.performAndWait {
      let ada = try #require(try writer.author(named: "Ada"))
      ada.setValue(age, forKey: "age")
      writer.insert("Book", ["title": "of \(age)", "author": ada])
      try writer.save()
    }
  }

  /// Returns the state that the pinned context sees: age, books fetched, books counted, books related.
  private func seen() throws -> [Int] {
    try pinned.performAndWait {
      pinned.refreshAllObjects()
      let ada = try #require(try pinned.author(named: "Ada"))
      return try [
        ada.value(forKey: "age") as! Int, pinned.all("Book").count, pinned.count("Book"),
        ada.objects("books").count,
      ]
    }
  }

  @Test func `a pinned context sees no other saves`() throws {
    try pin()
    try #expect(seen() == [1, 1, 1, 1])
    try write(age: 2)
    try #expect(seen() == [1, 1, 1, 1])
    try pinned.performAndWait {
      let request = NSFetchRequest<NSDictionary>(entityName: "Author")
      request.resultType = .dictionaryResultType
      request.propertiesToFetch = ["age"]
      try #expect(pinned.fetch(request).first?["age"] as? Int == 1)
    }
    try pin(nil)
    try #expect(seen() == [2, 2, 2, 2])
  }

  @Test func `prefetched members are those of the state`() throws {
    try pin()
    try #expect(seen() == [1, 1, 1, 1])
    try write(age: 2)
    try pinned.performAndWait {
      pinned.refreshAllObjects()
      let request = NSFetchRequest<NSManagedObject>(entityName: "Author")
      request.relationshipKeyPathsForPrefetching = ["books"]
      try #expect(pinned.fetch(request).map { $0.objects("books").count } == [1])
    }
  }

  @Test func `the state is that of the first read`() throws {
    try pin()
    try write(age: 2)
    try #expect(seen() == [2, 2, 2, 2])
    try write(age: 3)
    try #expect(seen() == [2, 2, 2, 2])
  }

  @Test func `faults and deleted objects are those of the state`() throws {
    try pin()
    let ada = try pinned.performAndWait { try #require(try pinned.author(named: "Ada")) }
    try write(age: 2)
    try writer.performAndWait {
      writer.delete(try #require(try writer.author(named: "Ada")))
      try writer.save()
    }
    try pinned.performAndWait {
      pinned.refresh(ada, mergeChanges: false)
      #expect(ada.isFault)
      #expect(ada.value(forKey: "age") as? Int == 1)
      try #expect(pinned.existingObject(with: ada.objectID) === ada)
    }
  }

  @Test func `another contexts token shares its state`() throws {
    try pin()
    _ = try seen()
    let token = try pinned.performAndWait { try #require(pinned.queryGenerationToken) }
    try write(age: 2)
    let other = stack.sibling()
    try other.performAndWait {
      try #expect(other.author(named: "Ada")?.value(forKey: "age") as? Int == 2)
      try other.setQueryGenerationFrom(token)
      #expect(other.queryGenerationToken == token)
      other.refreshAllObjects()
      try #expect(other.author(named: "Ada")?.value(forKey: "age") as? Int == 1)
      try #expect(other.count("Book") == 1)
    }
  }

  @Test func `a context is not pinned by default`() throws {
    pinned.performAndWait { #expect(pinned.queryGenerationToken == nil) }
    try pin()
    pinned.performAndWait { #expect(pinned.queryGenerationToken != nil) }
    try pin(nil)
    pinned.performAndWait { #expect(pinned.queryGenerationToken == nil) }
  }

  @Test func `its own save moves it on`() throws {
    try pin()
    _ = try seen()
    try write(age: 2)
    let posted = Posted(.NSManagedObjectContextDidSave, by: pinned)
    try pinned.performAndWait {
      let before = pinned.queryGenerationToken
      pinned.insert("Tag", ["name": "mine"])
      try pinned.save()
      #expect(pinned.queryGenerationToken != before)
      let told = posted.userInfos[0][NSManagedObjectContextQueryGenerationKey] as? NSQueryGenerationToken
      #expect(told == pinned.queryGenerationToken)
    }
    try #expect(seen() == [2, 2, 2, 2])
  }

  @Test func `an unpinned save carries no token`() throws {
    let posted = Posted(.NSManagedObjectContextDidSave, by: writer)
    try write(age: 2)
    #expect(posted.userInfos[0][NSManagedObjectContextQueryGenerationKey] == nil)
  }

  @Test func `saving over a newer row is a conflict`() throws {
    try pin()
    let ada = try pinned.performAndWait { try #require(try pinned.author(named: "Ada")) }
    try write(age: 2)
    pinned.performAndWait {
      ada.setValue(7, forKey: "age")
      #expect { try pinned.save() } throws: {
        ($0 as? CocoaError)?.code.rawValue == NSManagedObjectMergeError
      }
    }
  }

  @Test func `batch requests do not move it on`() throws {
    try pin()
    _ = try seen()
    try pinned.performAndWait {
      let update = NSBatchUpdateRequest(entityName: "Author")
      update.propertiesToUpdate = ["age": 9]
      try pinned.execute(update)
    }
    try #expect(seen()[0] == 1)
  }

  @Test func `merges and reset move it on`() throws {
    try pin()
    _ = try seen()
    let saved = Posted(.NSManagedObjectContextDidSave, by: writer)
    try write(age: 2)
    let note = Notification(
      name: .NSManagedObjectContextDidSave, object: writer, userInfo: saved.userInfos[0])
    pinned.performAndWait { pinned.mergeChanges(fromContextDidSave: note) }
    try #expect(seen() == [2, 2, 2, 2])
    try write(age: 3)
    try #expect(seen() == [2, 2, 2, 2])
    pinned.performAndWait { pinned.reset() }
    try #expect(seen() == [3, 3, 3, 3])
  }

  @Test func `refreshing shows other saves only after unpinning`() throws {
    try pin()
    let ada = try pinned.performAndWait { try #require(try pinned.author(named: "Ada")) }
    #expect(pinned.performAndWait { ada.value(forKey: "age") as? Int } == 1)
    try write(age: 2)
    pinned.performAndWait { pinned.refreshAllObjects() }
    #expect(pinned.performAndWait { ada.value(forKey: "age") as? Int } == 1)
    try pin(nil)
    pinned.performAndWait { pinned.refreshAllObjects() }
    #expect(pinned.performAndWait { ada.value(forKey: "age") as? Int } == 2)
  }

  @Test func `what others read is not mixed in from the cache`() throws {
    try pin()
    _ = try seen()
    try write(age: 2)
    try stack.fresh { fresh in
      try #expect(fresh.author(named: "Ada")?.value(forKey: "age") as? Int == 2)
    }
    let id = try pinned.performAndWait { try #require(try pinned.author(named: "Ada")).objectID }
    pinned.performAndWait { pinned.refreshAllObjects() }
    try pinned.performAndWait {
      try #expect(pinned.existingObject(with: id).value(forKey: "age") as? Int == 1)
    }
    // Nor vice versa.
    try stack.fresh { fresh in
      try #expect(fresh.existingObject(with: id).value(forKey: "age") as? Int == 2)
    }
  }

  @Test func `children follow their parent`() throws {
    let child = stack.child(of: pinned)
    try pin()
    _ = try seen()
    try write(age: 2)
    try child.performAndWait {
      #expect(child.queryGenerationToken == nil)
      try #expect(child.author(named: "Ada")?.value(forKey: "age") as? Int == 1)
      try #expect(child.count("Book") == 1)
    }
  }

  @Test func `a child cannot be pinned`() async throws {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let stack = try TestStack(.nestedOverSQLite)
      try stack.context.performAndWait { try stack.context.setQueryGenerationFrom(.current) }
    }
    let output = try #require(result).standardErrorContent
    #expect(String(decoding: output, as: UTF8.self).contains("is a child"))
  }

  @Test(.ofFiles) func `a store added later is not read until the context moves on`() throws {
    let other = stack.url.deletingLastPathComponent().appendingPathComponent("Other.sqlite")
    let separate = NSPersistentStoreCoordinator(managedObjectModel: stack.coordinator.managedObjectModel)
    try separate.addPersistentStore(ofType: NSSQLiteStoreType, configurationName: nil, at: other)
    let filler = separate.newContext()
    try filler.performAndWait { try filler.saveTags("later") }
    try pin()
    _ = try seen()
    try stack.coordinator.addPersistentStore(ofType: NSSQLiteStoreType, configurationName: nil, at: other)
    try pinned.performAndWait { try #expect(pinned.count("Tag") == 0) }
    try pin()
    try pinned.performAndWait { try #expect(pinned.count("Tag") == 1) }
  }

  @Test(.ofFiles, arguments: ["memory", "journal"]) func `a store without log is read as it is`(
    _ kind: String
  ) throws {
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: LibraryModel.make())
    let url = stack.url.deletingLastPathComponent().appendingPathComponent("Rollback.sqlite")
    try coordinator.addPersistentStore(
      ofType: kind == "memory" ? NSInMemoryStoreType : NSSQLiteStoreType, configurationName: nil, at: url,
      options: [NSSQLitePragmasOption: ["journal_mode": "DELETE"]])
    let (reader, writer) = (coordinator.newContext(), coordinator.newContext())
    try reader.performAndWait {
      try reader.setQueryGenerationFrom(.current)
      #expect(reader.queryGenerationToken == nil)
      try #expect(reader.count("Tag") == 0)
    }
    try writer.performAndWait { try writer.saveTags("a") }
    try reader.performAndWait { try #expect(reader.count("Tag") == 1) }
  }

  @Test func `a token of other stores is refused`() throws {
    let other = try TestStack(.sqlite)
    let token = try other.context.performAndWait {
      try other.context.setQueryGenerationFrom(.current)
      return try #require(other.context.queryGenerationToken)
    }
    #expect(throws: CocoaError.self) { try pin(token) }
  }

  @Test func `tokens are copied compared and archived`() throws {
    try pin()
    let token = try pinned.performAndWait { try #require(pinned.queryGenerationToken) }
    #expect(token.copy() as? NSQueryGenerationToken == token)
    #expect(NSQueryGenerationToken.current == NSQueryGenerationToken.current)
    #expect(NSQueryGenerationToken.current != token)
    for one in [token, .current] {
      let data = try NSKeyedArchiver.archivedData(withRootObject: one, requiringSecureCoding: true)
      try #expect(NSKeyedUnarchiver.unarchivedObject(ofClass: NSQueryGenerationToken.self, from: data) == one)
    }
  }

  @Test(.ofFiles) func `large values of the state outlive their replacement`() throws {
    let model = LibraryModel.make()
    model.entitiesByName["Book"]!.attributesByName["cover"]!.allowsExternalBinaryDataStorage = true
    let stack = try TestStack(.sqlite, model: model)
    let (reader, writer) = (stack.context, stack.sibling())
    let old = Data(repeating: 1, count: 300_000)
    let directory = stack.url.deletingLastPathComponent().appendingPathComponent(
      ".Store_SUPPORT/_EXTERNAL_DATA"
    ).path
    try writer.performAndWait {
      writer.insert("Book", ["title": "b", "cover": old])
      try writer.save()
    }
    try reader.performAndWait {
      try reader.setQueryGenerationFrom(.current)
      try #expect(reader.count("Book") == 1)
    }
    try writer.performAndWait {
      try writer.all("Book")[0].setValue(Data(repeating: 2, count: 300_000), forKey: "cover")
      try writer.save()
    }
    try reader.performAndWait {
      try #expect(reader.all("Book")[0].value(forKey: "cover") as? Data == old)
      try reader.setQueryGenerationFrom(nil)
    }
    try #expect(FileManager.default.contentsOfDirectory(atPath: directory).count == 1)
  }
}
