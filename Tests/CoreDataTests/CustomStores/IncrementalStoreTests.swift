import CoreData
import Foundation
import Testing

/// Custom stores that load individual objects.
@Suite struct IncrementalStoreTests {
  private let url = URL(fileURLWithPath: "/shelf/\(UUID().uuidString)")
  private var world: ShelfStore.World { ShelfStore.world(at: url) }

  private func coordinator() throws -> NSPersistentStoreCoordinator {
    NSPersistentStoreCoordinator.registerStoreClass(ShelfStore.self, forStoreType: ShelfStore.type)
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: LibraryModel.make())
    try coordinator.addPersistentStore(
      ofType: ShelfStore.type, configurationName: nil, at: url, options: nil)
    return coordinator
  }

  @Test func `a store is made of the class registered for its type`() throws {
    let coordinator = try coordinator()
    let store = try #require(coordinator.persistentStores.first as? ShelfStore)
    #expect(world.calls == ["loadMetadata", "didAdd"])
    #expect(store.identifier == world.identifier)
    #expect(store.type == "Shelf")
    #expect(store.configurationName == "PF_DEFAULT_CONFIGURATION_NAME")
    #expect(NSPersistentStoreCoordinator.registeredStoreTypes["Shelf"] != nil)
    try coordinator.remove(store)
    #expect(world.calls.last == "willRemove")
  }

  @Test func `a type that nothing is registered for is refused`() throws {
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: LibraryModel.make())
    let error = #expect(throws: CocoaError.self) {
      try coordinator.addPersistentStore(ofType: "Nobody's", configurationName: nil, at: url, options: nil)
    }
    #expect(error?.code == .persistentStoreInvalidType)
  }

  @Test func `what loading metadata throws comes out`() throws {
    NSPersistentStoreCoordinator.registerStoreClass(ShelfStore.self, forStoreType: ShelfStore.type)
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: LibraryModel.make())
    let error = #expect(throws: CocoaError.self) {
      try coordinator.addPersistentStore(
        ofType: ShelfStore.type, configurationName: nil, at: URL(fileURLWithPath: "/shelf/unusable"))
    }
    #expect(error?.code == .fileReadNoPermission)
    #expect(coordinator.persistentStores.isEmpty)
  }

  @Test func `a save obtains IDs then saves then tells what is registered`() throws {
    let context = try coordinator().newContext()
    try context.performAndWait {
      let author = context.insert("Author", ["name": "Ann"])
      context.insert("Book", ["title": "First", "author": author])
      world.calls = []
      try context.save()
      #expect(world.calls == ["obtain 2", "save +2 ~0 -0", "register 2"])
      #expect(!author.objectID.isTemporaryID)
    }
  }

  @Test func `the save request holds the contexts objects`() throws {
    let context = try coordinator().newContext()
    try context.performAndWait {
      let book = context.insert("Book", ["title": "Old"])
      try context.save()
      book.setValue("New", forKey: "title")
      world.calls = []
      try context.save()
      #expect(world.calls == ["save +0 ~1 -0"])
      #expect(world.entries.values.first?.values["title"] as? String == "New")
      context.delete(book)
      try context.save()
      #expect(world.entries.isEmpty)
    }
  }

  @Test func `a save without changes reaches the store too`() throws {
    let coordinator = try coordinator()
    let context = coordinator.newContext()
    try context.performAndWait {
      coordinator.setMetadata(["mark": 1], for: coordinator.persistentStores[0])
      world.calls = []
      try context.save()
      #expect(world.calls == ["save +0 ~0 -0"])
      #expect(world.metadata["mark"] as? Int == 1)
    }
  }

  @Test(arguments: [false, true])
  func `what was saved is read by another coordinator`(_ tellsMembers: Bool) throws {
    let first = try coordinator().newContext()
    try first.performAndWait {
      let author = first.insert("Author", ["name": "Ann", "age": 40])
      let tags = ["red", "blue"].map { first.insert("Tag", ["name": $0]) }
      for title in ["B", "A"] {
        let novel = first.insert("Novel", ["title": title, "pages": 10, "genre": "crime", "author": author])
        novel.setValue(Set(tags), forKey: "tags")
        novel.setValue(
          NSOrderedSet(array: (1...3).map { first.insert("Chapter", ["heading": "\(title)\($0)"]) }),
          forKey: "chapters")
      }
      try first.save()
    }
    world.tellsMembers = tellsMembers
    let context = try coordinator().newContext()
    try context.performAndWait {
      let books = try context.all("Publication", by: "title")
      #expect(books.map { $0.text("title") } == ["A", "B"])
      #expect(books.map { $0.entity.name } == ["Novel", "Novel"])
      #expect(books[0].object("author")?.text("name") == "Ann")
      #expect(books[0].object("author")?.value(forKey: "age") as? Int == 40)
      #expect(books[0].object("author")?.objects("books") == Set(books))
      #expect(Set(books[0].objects("tags").compactMap { $0.text("name") }) == ["red", "blue"])
      let chapters = try #require(books[1].value(forKey: "chapters") as? NSOrderedSet)
      #expect(chapters.array.compactMap { ($0 as? NSManagedObject)?.text("heading") } == ["B1", "B2", "B3"])
    }
  }

  @Test func `values are read when an object is used`() throws {
    let first = try coordinator().newContext()
    try first.performAndWait {
      first.insert("Tag", ["name": "red"])
      try first.save()
    }
    let context = try coordinator().newContext()
    try context.performAndWait {
      world.calls = []
      let tag = try #require(try context.all("Tag").first)
      #expect(tag.isFault)
      #expect(world.calls == ["fetch all", "register 1"])
      #expect(tag.text("name") == "red")
      #expect(world.calls == ["fetch all", "register 1", "values tag 1"])
    }
  }

  @Test func `predicate order and extent are the stores affair`() throws {
    let context = try coordinator().newContext()
    try context.performAndWait {
      for pages in 1...5 { context.insert("Book", ["title": "b\(pages)", "pages": pages]) }
      try context.save()
      let request = NSFetchRequest<NSManagedObject>(entityName: "Book")
      request.predicate = NSPredicate(format: "pages > 1")
      request.sortDescriptors = [NSSortDescriptor(key: "pages", ascending: false)]
      request.fetchOffset = 1
      request.fetchLimit = 2
      #expect(try context.fetch(request).map { $0.text("title") } == ["b4", "b3"])
      #expect(world.calls.contains("fetch pages > 1"))
      #expect(try context.count(for: NSFetchRequest<NSManagedObject>(entityName: "Book")) == 5)
    }
  }

  @Test func `unsaved changes are laid over what the store finds`() throws {
    let context = try coordinator().newContext()
    try context.performAndWait {
      for pages in [1, 3] { context.insert("Book", ["title": "b\(pages)", "pages": pages]) }
      try context.save()
      context.reset()
      context.insert("Book", ["title": "b2", "pages": 2])
      #expect(try context.all("Book", by: "pages").map { $0.text("title") } == ["b1", "b2", "b3"])
    }
  }

  @Test func `dictionaries are computed from the stores objects`() throws {
    let context = try coordinator().newContext()
    try context.performAndWait {
      for pages in 1...4 { context.insert("Book", ["pages": pages]) }
      try context.save()
      let sum = NSExpressionDescription()
      sum.name = "sum"
      sum.expression = NSExpression(format: "@sum.pages")
      sum.expressionResultType = .integer64AttributeType
      let request = NSFetchRequest<NSDictionary>(entityName: "Book")
      request.resultType = .dictionaryResultType
      request.propertiesToFetch = [sum]
      #expect(try context.fetch(request).first?["sum"] as? Int == 10)
    }
  }

  @Test func `an object ID is made of its reference`() throws {
    let coordinator = try coordinator()
    let store = try #require(coordinator.persistentStores.first as? ShelfStore)
    let tag = try #require(coordinator.managedObjectModel.entitiesByName["Tag"])
    let number = store.newObjectID(for: tag, referenceObject: NSNumber(value: 42))
    #expect(number.uriRepresentation().absoluteString == "x-coredata://\(world.identifier)/Tag/p42")
    #expect(store.referenceObject(for: number) as? NSNumber == 42)
    #expect(coordinator.managedObjectID(forURIRepresentation: number.uriRepresentation()) == number)
    let text = store.newObjectID(for: tag, referenceObject: "key with/slash")
    #expect(text.uriRepresentation().absoluteString.hasSuffix("/Tag/pkey%20with/slash"))
    let back = try #require(coordinator.managedObjectID(forURIRepresentation: text.uriRepresentation()))
    #expect(store.referenceObject(for: back) as? String == "key%20with/slash", "as in Core Data")
  }

  @Test func `a new store is given a UUID`() {
    let identifier = NSIncrementalStore.identifierForNewStore(at: url) as? String
    #expect(identifier.flatMap(UUID.init(uuidString:)) != nil)
  }

  @Test func `a fetch from it and another store is sorted anew`() throws {
    let coordinator = try coordinator()
    let memory = try coordinator.addPersistentStore(
      ofType: NSInMemoryStoreType, configurationName: nil, at: nil)
    let context = coordinator.newContext()
    try context.performAndWait {
      for (name, store) in [("c", memory), ("b", coordinator.persistentStores[0]), ("a", memory)] {
        context.assign(context.insert("Tag", ["name": name]), to: store)
      }
      try context.save()
      context.reset()
      #expect(try context.all("Tag", by: "name").map { $0.text("name") } == ["a", "b", "c"])
    }
    #expect(world.entries.count == 1)
  }

  @Test func `an object that is gone cannot be found`() throws {
    let coordinator = try coordinator()
    let store = try #require(coordinator.persistentStores.first as? ShelfStore)
    let id = store.newObjectID(
      for: coordinator.managedObjectModel.entitiesByName["Tag"]!, referenceObject: "nobody")
    let context = coordinator.newContext()
    context.performAndWait {
      _ = #expect(throws: CocoaError.self) { try context.existingObject(with: id) }
    }
  }

  @Test func `a save on an old version is a conflict`() throws {
    let coordinator = try coordinator()
    let (one, two) = (coordinator.newContext(), coordinator.newContext())
    let id = try one.performAndWait {
      let tag = one.insert("Tag", ["name": "first"])
      try one.save()
      return tag.objectID
    }
    two.performAndWait { two.object(with: id).setValue("second", forKey: "name") }
    try one.performAndWait {
      one.object(with: id).setValue("third", forKey: "name")
      try one.save()
    }
    try two.performAndWait {
      let error = #expect(throws: CocoaError.self) { try two.save() }
      #expect(error?.code.rawValue == NSManagedObjectMergeError)
      two.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
      try two.save()
    }
    #expect(world.entries.values.first?.values["name"] as? String == "second")
  }

  @Test func `what the store throws comes out of the save`() throws {
    let context = try coordinator().newContext()
    try context.performAndWait {
      let tag = context.insert("Tag", ["name": "x"])
      world.isFull = true
      let error = #expect(throws: CocoaError.self) { try context.save() }
      #expect(error?.code == .fileWriteOutOfSpace)
      #expect(tag.isInserted)
      #expect(!tag.objectID.isTemporaryID, "as in Core Data, which asks for IDs first")
      world.isFull = false
      try context.save()
      #expect(!tag.hasChanges)
    }
  }

  @Test func `what the store throws comes out of a fetch as it is`() throws {
    let context = try coordinator().newContext()
    context.performAndWait {
      world.trouble = NSError(domain: "Shelf", code: 7)
      let error = #expect(throws: (any Error).self) { try context.all("Tag") }
      #expect((error as NSError?)?.domain == "Shelf")
    }
  }

  @Test func `a childs changes reach the store through its parent`() throws {
    let parent = try coordinator().newContext()
    let child = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    child.parent = parent
    try child.performAndWait {
      child.insert("Book", ["title": "from below"])
      try child.save()
    }
    try parent.performAndWait { try parent.save() }
    #expect(world.entries.values.first?.values["title"] as? String == "from below")
    try child.performAndWait { try #expect(child.all("Book").first?.text("title") == "from below") }
  }

  @Test func `a context that is reset tells which objects it forgets`() throws {
    let context = try coordinator().newContext()
    try context.performAndWait {
      context.insert("Tag", ["name": "x"])
      try context.save()
      world.calls = []
      context.reset()
      #expect(world.calls == ["unregister 1"])
    }
  }

  @Test func `a batch request that the store does not know is refused`() throws {
    let context = try coordinator().newContext()
    context.performAndWait {
      let error = #expect(throws: CocoaError.self) {
        try context.execute(NSBatchInsertRequest(entityName: "Tag", objects: [["name": "x"]]))
      }
      #expect(error?.code == .persistentStoreUnsupportedRequestType)
    }
  }
}
