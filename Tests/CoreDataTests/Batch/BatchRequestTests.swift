import CoreData
import Foundation
import Testing

/// Behaviour common to all batch requests.
struct BatchRequestTests {
  private func requests() -> [NSPersistentStoreRequest] {
    let update = NSBatchUpdateRequest(entityName: "Tag")
    update.propertiesToUpdate = ["name": "new"]
    return [
      NSBatchInsertRequest(entityName: "Tag", objects: [["name": "inserted"]]), update,
      NSBatchDeleteRequest(fetchRequest: NSFetchRequest<NSManagedObject>(entityName: "Tag")),
    ]
  }

  @Test func `request types have Apple's numbers`() throws {
    #expect(requests().map(\.requestType.rawValue) == [5, 6, 7])
    #expect(NSFetchRequest<NSManagedObject>(entityName: "Tag").requestType.rawValue == 1)
    let copies = requests().map { $0.copy() as! NSPersistentStoreRequest }
    #expect(
      copies.map(\.requestType) == [
        .batchInsertRequestType, .batchUpdateRequestType, .batchDeleteRequestType,
      ])
    #expect((copies[0] as! NSBatchInsertRequest).objectsToInsert?.count == 1)
    #expect((copies[1] as! NSBatchUpdateRequest).propertiesToUpdate?.count == 1)
    #expect((copies[2] as! NSBatchDeleteRequest).fetchRequest.entityName == "Tag")
  }

  @Test(.ofFiles) func `nothing becomes of them in a context`() throws {
    let stack = try TestStack(.sqlite)
    let context = stack.context
    try context.performAndWait {
      try context.saveTags("a")
      let tag = try context.all("Tag")[0]
      #expect(tag.text("name") == "a")
      let changes = Posted(.NSManagedObjectContextObjectsDidChange, by: context)
      let saves = Posted(.NSManagedObjectContextDidSave, by: context)
      for request in requests() { try context.execute(request) }
      #expect(tag.text("name") == "a")
      #expect(!context.hasChanges)
      #expect(!tag.isDeleted)
      #expect(changes.userInfos.isEmpty)
      #expect(saves.userInfos.isEmpty)
    }
    try #expect(Tracked.rows("SELECT COUNT(*) FROM ZTAG", stack) == [["0"]])
  }

  @Test func `a store in memory refuses them`() throws {
    let stack = try TestStack(.memory)
    stack.context.performAndWait {
      for request in requests() {
        #expect { try stack.context.execute(request) } throws: {
          ($0 as? CocoaError)?.code.rawValue == NSPersistentStoreUnsupportedRequestTypeError
        }
      }
    }
  }

  @Test(.ofFiles) func `a childs requests go to the store past its parent`() throws {
    let stack = try TestStack(.nestedOverSQLite)
    try stack.root.performAndWait {
      try stack.root.saveTags("a")
      stack.root.insert("Tag", ["name": "unsaved"])
    }
    try stack.context.performAndWait {
      try stack.context.execute(requests()[1])
      try #expect(stack.context.execute(requests()[0]) is NSBatchInsertResult)
    }
    try #expect(Tracked.rows("SELECT ZNAME FROM ZTAG ORDER BY Z_PK", stack) == [["new"], ["inserted"]])
    try stack.root.performAndWait {
      try stack.root.save()
      try #expect(stack.root.count("Tag") == 3)
    }
  }

  @Test func `each request is one transaction with the context's name`() throws {
    let stack = try Tracked.stack()
    let context = stack.context
    try context.performAndWait {
      context.name = "batches"
      context.transactionAuthor = "me"
      try context.execute(NSBatchInsertRequest(entityName: "Tag", objects: [["name": "a"], ["name": "b"]]))
      for request in requests().dropFirst() { try context.execute(request) }
      let history = try context.allHistory()
      #expect(history.map(\.contextName) == ["batches", "batches", "batches"])
      #expect(history.map(\.author) == ["me", "me", "me"])
      let kinds = history.map { $0.changes?.map(\.changeType) }
      #expect(kinds == [[.insert, .insert], [.update, .update], [.delete, .delete]])
      #expect(history[1].changes?.allSatisfy { $0.updatedProperties?.map(\.name) == ["name"] } == true)
      #expect(history[2].changes?.allSatisfy { $0.tombstone?["name"] as? String == "new" } == true)
    }
  }

  @Test func `cascaded deletions and cleared references are in the history`() throws {
    let stack = try Tracked.stack()
    let context = stack.context
    try context.performAndWait {
      let ada = context.insert("Author", ["name": "Ada"])
      context.insert("Author", ["name": "Bob", "mentor": ada])
      context.insert("Book", ["title": "b", "author": ada])
      try context.save()
      let fetch = NSFetchRequest<NSManagedObject>(entityName: "Author")
      fetch.predicate = NSPredicate(format: "name == 'Ada'")
      try context.execute(NSBatchDeleteRequest(fetchRequest: fetch))
      let changes = try #require(try context.allHistory()[1].changes)
      let summary = changes.map { "\($0.changeType.rawValue) \($0.changedObjectID.entity.name!)" }
      #expect(summary == ["1 Author", "2 Author", "2 Book"])
      #expect(changes[0].updatedProperties?.map(\.name) == ["mentor"])
    }
  }

  @Test func `a failed request leaves no transaction`() throws {
    let stack = try Tracked.stack()
    try stack.context.performAndWait {
      #expect(throws: CocoaError.self) {
        try stack.context.execute(
          NSBatchInsertRequest(entityName: "Tag", objects: [["name": "a"], ["nam": "b"]]))
      }
      try #expect(stack.context.allHistory().isEmpty)
    }
  }

  @Test func `contexts learn of them by merging`() throws {
    let stack = try TestStack(.sqlite)
    let context = stack.context
    let child = stack.child(of: context)
    let tag = try context.performAndWait {
      try context.saveTags("a")
      let tag = try context.all("Tag")[0]
      #expect(tag.text("name") == "a")
      return tag
    }
    let mine = try child.performAndWait {
      let mine = try child.all("Tag")[0]
      #expect(mine.text("name") == "a")
      return mine
    }
    try context.performAndWait {
      let update = requests()[1] as! NSBatchUpdateRequest
      update.resultType = .updatedObjectIDsResultType
      let ids = try #require(
        (try context.execute(update) as! NSBatchUpdateResult).result as? [NSManagedObjectID])
      NSManagedObjectContext.mergeChanges(
        fromRemoteContextSave: [NSUpdatedObjectsKey: ids], into: [child, context])
      #expect(tag.text("name") == "new")
    }
    child.performAndWait { #expect(mine.text("name") == "new") }
  }

  @Test func `only the stores named are concerned or else all`() throws {
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: LibraryModel.make())
    let directory = FileManager.default.temporaryDirectory.appendingPathComponent(
      "batch-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: directory) }
    let stores = try ["One", "Two"].map {
      try coordinator.addPersistentStore(
        ofType: TestDatabase.type, configurationName: nil,
        at: TestDatabase.place(directory.appendingPathComponent("\($0).sqlite")))
    }
    let context = coordinator.newContext()
    try context.performAndWait {
      for store in stores {
        let insert = NSBatchInsertRequest(entityName: "Tag", objects: [["name": "a"]])
        insert.affectedStores = [store]
        try context.execute(insert)
      }
      func count(in store: NSPersistentStore) throws -> Int {
        let fetch = NSFetchRequest<NSManagedObject>(entityName: "Tag")
        fetch.affectedStores = [store]
        return try context.count(for: fetch)
      }
      try #expect(stores.map(count) == [1, 1])
      let update = requests()[1] as! NSBatchUpdateRequest
      update.resultType = .updatedObjectsCountResultType
      try #expect((context.execute(update) as! NSBatchUpdateResult).result as? Int == 2)
      let delete = requests()[2]
      delete.affectedStores = [stores[1]]
      try context.execute(delete)
      try #expect(stores.map(count) == [1, 0])
    }
  }

  @Test func `a save request is rejected`() throws {
    let stack = try TestStack(.sqlite)
    try stack.context.performAndWait {
      let tag = stack.context.insert("Tag", ["name": "a"])
      let request = NSSaveChangesRequest(inserted: [tag], updated: nil, deleted: nil, locked: nil)
      #expect(request.requestType.rawValue == 2)
      #expect(request.insertedObjects == [tag])
      #expect(throws: CocoaError.self) { try stack.context.execute(request) }
      try #expect(stack.fresh { try $0.count("Tag") } == 0)
      #expect(tag.isInserted)
    }
  }

  @Test func `a coordinator executes on behalf of a context`() throws {
    let stack = try TestStack(.sqlite)
    try stack.context.performAndWait {
      try #expect(stack.coordinator.execute(requests()[0], with: stack.context) is NSBatchInsertResult)
      let fetch = NSFetchRequest<NSManagedObject>(entityName: "Tag")
      try #expect((stack.coordinator.execute(fetch, with: stack.context) as? [NSManagedObject])?.count == 1)
    }
  }

  @Test func `a controller shows a batch insertion only once it is merged`() throws {
    let stack = try TestStack(.sqlite)
    let context = stack.context
    try context.performAndWait {
      context.automaticallyMergesChangesFromParent = true
      let fetch = NSFetchRequest<NSManagedObject>(entityName: "Tag")
      fetch.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
      let controller = NSFetchedResultsController(
        fetchRequest: fetch, managedObjectContext: context, sectionNameKeyPath: nil, cacheName: nil)
      let delegate = RecordingDelegate()
      controller.delegate = delegate
      try controller.performFetch()
      let insert = NSBatchInsertRequest(
        entityName: "Tag", objects: [["name": "a"], ["name": "b"], ["name": "c"]])
      insert.resultType = .objectIDs
      let ids = try #require(
        (try context.execute(insert) as! NSBatchInsertResult).result as? [NSManagedObjectID])
      context.processPendingChanges()
      #expect(delegate.calls.isEmpty)
      NSManagedObjectContext.mergeChanges(fromRemoteContextSave: [NSInsertedObjectsKey: ids], into: [context])
      #expect(delegate.calls.count(where: { $0.contains("insert") }) == 3)
      #expect(controller.fetchedObjects?.map { $0.text("name") } == ["a", "b", "c"])
    }
  }

  @Test func `a child's batch request records the root context's author`() throws {
    let stack = try Tracked.stack()
    stack.root.transactionAuthor = "root"
    let child = stack.child(of: stack.root)
    child.transactionAuthor = "child"
    _ = try child.performAndWait {
      try child.execute(NSBatchInsertRequest(entityName: "Tag", objects: [["name": "a"]]))
    }
    let authors = try stack.root.performAndWait { try stack.root.allHistory().map(\.author) }
    #expect(authors == ["root"])
  }
}
