import CoreData
import Foundation
import Testing

/// Behaviour between a child and its parents that `NestedContextTests` does not cover.
@Suite struct NestedStackTests {
  @Test(arguments: Setting.direct)
  func `a childs object keeps its temporary ID until the root saves`(_ setting: Setting) throws {
    let stack = try TestStack(setting)
    let child = stack.child(of: stack.root)
    let ada = try child.performAndWait {
      let ada = child.insert("Author")
      try child.save()
      return ada
    }
    #expect(ada.objectID.isTemporaryID)
    stack.root.performAndWait {
      #expect(stack.root.insertedObjects.map(\.objectID) == [ada.objectID])
      #expect(stack.root.registeredObject(for: ada.objectID) != nil)
    }
  }

  @Test(arguments: Setting.direct)
  func `awake from insert runs in every context of the chain`(_ setting: Setting) throws {
    let stack = try TestStack(setting, model: HookedAuthor.model())
    let child = stack.child(of: stack.root)
    let own = try child.performAndWait {
      let ada = child.hookedAuthor("Ada")
      try child.save()
      return ada
    }
    stack.root.performAndWait {
      let parents = stack.root.insertedObjects.first as? HookedAuthor
      #expect(parents !== own)
      #expect(parents?.events.filter { $0.hasPrefix("awakeFromInsert") }.count == 1)
    }
    #expect(own.events.filter { $0.hasPrefix("awakeFromInsert") }.count == 1)
  }

  @Test(arguments: Setting.direct)
  func `merge policies do not apply between child and parent`(_ setting: Setting) throws {
    let stack = try TestStack(setting)
    let ada = try stack.stored("Author", ["name": "Ada"])
    let child = stack.child(of: stack.root)
    child.mergePolicy = NSMergePolicy.error
    let own = child.performAndWait {
      let own = child.object(with: ada.objectID)
      own.setValue("child", forKey: "name")
      return own
    }
    stack.root.performAndWait { ada.setValue("parent", forKey: "name") }
    try child.performAndWait { try child.save() }
    #expect(stack.root.performAndWait { ada.text("name") } == "child")
    withExtendedLifetime(own) {}
  }

  @Test(arguments: Setting.direct)
  func `a transient change alone makes the parent dirty`(_ setting: Setting) throws {
    let stack = try TestStack(setting)
    let book = try stack.stored("Book")
    let child = stack.child(of: stack.root)
    try child.performAndWait {
      child.object(with: book.objectID).setValue("seen", forKey: "mark")
      try child.save()
    }
    stack.root.performAndWait {
      #expect(book.text("mark") == "seen")
      #expect(stack.root.hasChanges)
      #expect(!book.hasPersistentChangedValues)
    }
  }

  @Test(arguments: Setting.direct)
  func `refreshing a childs object reads the parents memory`(_ setting: Setting) throws {
    let stack = try TestStack(setting)
    let ada = try stack.stored("Author", ["name": "Ada"])
    let child = stack.child(of: stack.root)
    try child.performAndWait {
      let own = child.object(with: ada.objectID)
      #expect(own.text("name") == "Ada")
      stack.root.performAndWait { ada.setValue("Grace", forKey: "name") }
      child.refresh(own, mergeChanges: true)
      #expect(own.text("name") == "Grace")
      try #expect(stack.fresh { try $0.all("Author").first?.text("name") } == "Ada")
    }
  }

  @Test(arguments: Setting.direct)
  func `delete rules reach what only the parent linked`(_ setting: Setting) throws {
    let stack = try TestStack(setting)
    let ada = try stack.stored("Author", ["name": "Ada"])
    let child = stack.child(of: stack.root)
    try child.performAndWait { child.delete(try #require(try child.author(named: "Ada"))) }
    let book = stack.root.performAndWait { stack.root.insert("Book", ["author": ada]) }
    try child.performAndWait { try child.save() }
    stack.root.performAndWait {
      stack.root.processPendingChanges()
      #expect(ada.isDeleted)
      #expect(book.isDeleted || book.object("author") == nil)
    }
  }

  @Test(arguments: Setting.direct)
  func `validation runs at every levels save`(_ setting: Setting) throws {
    let model = LibraryModel.make()
    model.entitiesByName["Author"]!.attributesByName["name"]!.isOptional = false
    let stack = try TestStack(setting, model: model)
    let child = stack.child(of: stack.root)
    child.performAndWait {
      child.insert("Author")
      #expect(throws: CocoaError.self) { try child.save() }
      child.rollback()
    }
    try child.performAndWait {
      child.insert("Author", ["name": "Ada"])
      try child.save()
    }
    try stack.root.performAndWait {
      let ada = try #require(stack.root.insertedObjects.first)
      ada.setValue(nil, forKey: "name")
      #expect(throws: CocoaError.self) { try stack.root.save() }
    }
  }

  @Test(arguments: Setting.direct)
  func `a child's limits and sorts include the parent's insertions`(_ setting: Setting) throws {
    let stack = try TestStack(setting)
    try stack.root.performAndWait {
      for name in ["b", "d", "f"] { stack.root.insert("Author", ["name": name]) }
      try stack.root.save()
      for name in ["a", "e"] { stack.root.insert("Author", ["name": name]) }
    }
    let child = stack.child(of: stack.root)
    try child.performAndWait {
      child.insert("Author", ["name": "c"])
      let request = NSFetchRequest<NSManagedObject>(entityName: "Author")
      request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
      try #expect(child.fetch(request).compactMap { $0.text("name") } == ["a", "b", "c", "d", "e", "f"])
      request.fetchLimit = 3
      try #expect(child.fetch(request).count == 3)
    }
  }

  @Test(arguments: Setting.direct)
  func `links to an object that the parent deleted are ignored`(_ setting: Setting) throws {
    let stack = try TestStack(setting)
    try stack.root.performAndWait {
      stack.root.insert("Book", ["title": "Notes"])
      stack.root.insert("Tag", ["name": "maths"])
      try stack.root.save()
    }
    let child = stack.child(of: stack.root)
    try child.performAndWait {
      let tag = try #require(try child.all("Tag").first), book = try #require(try child.all("Book").first)
      book.setValue(Set([tag]), forKey: "tags")
    }
    try stack.root.performAndWait {
      stack.root.delete(try #require(try stack.root.all("Tag").first))
      stack.root.processPendingChanges()
    }
    try child.performAndWait { try child.save() }
    try stack.root.performAndWait { try stack.root.save() }
    try stack.fresh { try #expect($0.all("Book").first?.objects("tags").isEmpty == true) }
  }

  @Test(arguments: Setting.direct)
  func `of two children that move a link the last one wins`(_ setting: Setting) throws {
    let stack = try TestStack(setting)
    try stack.root.performAndWait {
      let old = stack.root.insert("Author", ["name": "old"])
      for name in ["one", "two"] { stack.root.insert("Author", ["name": name]) }
      stack.root.insert("Book", ["author": old])
      try stack.root.save()
    }
    let children = [stack.child(of: stack.root), stack.child(of: stack.root)]
    for (child, name) in zip(children, ["one", "two"]) {
      try child.performAndWait {
        try child.all("Book").first?.setValue(try child.author(named: name), forKey: "author")
      }
    }
    for child in children { try child.performAndWait { try child.save() } }
    try stack.root.performAndWait {
      func books(_ name: String) throws -> Int? { try stack.root.author(named: name)?.objects("books").count }
      try #expect(books("old") == 0)
      try #expect(books("one") == 0)
      try #expect(books("two") == 1)
    }
  }

  @Test(arguments: Setting.direct)
  func `the parent has its own object for each one a child saves`(_ setting: Setting) throws {
    let stack = try TestStack(setting)
    let ids = try stack.root.performAndWait {
      let objects = ["old", "gone"].map { stack.root.insert("Author", ["name": $0]) }
      try stack.root.save()
      return objects.map(\.objectID)
    }
    let child = stack.child(of: stack.root)
    let new = try child.performAndWait {
      let new = child.insert("Book", ["title": "B", "author": child.object(with: ids[0])])
      child.delete(child.object(with: ids[1]))
      try child.save()
      return new
    }
    stack.root.performAndWait {
      // The parent has its own objects, filled and dirty, with their links.
      #expect(stack.root.registeredObjects.count == 3)
      let old = stack.root.registeredObject(for: ids[0])
      #expect(old?.isFault == false)
      #expect(old?.isUpdated == true)
      #expect(old?.objects("books").first?.text("title") == "B")
      #expect(stack.root.registeredObject(for: ids[1])?.isDeleted == true)
      #expect(stack.root.registeredObject(for: new.objectID)?.isInserted == true)
      #expect(stack.root.registeredObject(for: new.objectID) !== new)
      #expect(stack.root.hasChanges, "and has to save it all again")
    }
  }

  /// The three stacks differ in how much a worker's save needs the main queue.
  @Test func `only a worker below main needs the main queue to save`() async throws {
    let stack = try TestStack(.sqlite)
    let main = NSManagedObjectContext(.mainQueue)
    main.persistentStoreCoordinator = stack.coordinator
    main.automaticallyMergesChangesFromParent = true
    let second = NSPersistentStoreCoordinator(managedObjectModel: LibraryModel.make())
    try second.addPersistentStore(ofType: TestDatabase.type, configurationName: nil, at: stack.url)
    let shared = stack.sibling()
    let own = NSManagedObjectContext(.privateQueue)
    own.persistentStoreCoordinator = second
    // The main queue is blocked until the workers beside the main context have saved: they do not wait for
    // it.
    let isSaved = DispatchSemaphore(value: 0)
    await withCheckedContinuation { continuation in
      DispatchQueue.main.async {
        DispatchQueue.global().async {
          for worker in [shared, own] {
            worker.performAndWait {
              worker.insert("Author")
              try? worker.save()
            }
          }
          isSaved.signal()
        }
        isSaved.wait()
        continuation.resume()
      }
    }
    try stack.fresh { try #expect($0.count("Author") == 2) }
    // A child's save makes the main context post its notifications, on the main queue.
    let isMain = DispatchSpecificKey<Bool>()
    DispatchQueue.main.setSpecific(key: isMain, value: true)
    let child = stack.child(of: main)
    let announced = Posted(.NSManagedObjectContextObjectsDidChange, by: main) {
      #expect(DispatchQueue.getSpecific(key: isMain) == true)
    }
    try await child.perform {
      child.insert("Author")
      try child.save()
    }
    await main.perform {}
    #expect(announced.userInfos.contains { ($0[NSInsertedObjectsKey] as? Set<NSManagedObject>)?.count == 1 })
  }

  /// Each of two siblings that have read a tag before adds a book to it; when the parent has saved that, the
  /// first removes its own again.
  @Test(arguments: Setting.direct)
  func `a siblings member is seen though the row is ones own`(_ setting: Setting) throws {
    let stack = try TestStack(setting)
    let (one, two) = (stack.child(of: stack.root), stack.child(of: stack.root))
    let books = try ["Mine", "Theirs"].map { try stack.stored("Book", ["title": $0]).objectID }
    let id = try stack.stored("Tag", ["name": "Tag"]).objectID
    let theirs = try two.performAndWait { try two.existingObject(with: id) }
    let tag = try one.performAndWait {
      let tag = try one.existingObject(with: id)
      tag.setValue(Set([one.object(with: books[0])]), forKey: "books")
      try one.save()
      return tag
    }
    try two.performAndWait {
      theirs.mutableSetValue(forKey: "books").add(two.object(with: books[1]))
      try two.save()
    }
    let first = try stack.root.saved()
    try one.performAndWait {
      tag.mutableSetValue(forKey: "books").remove(one.object(with: books[0]))
      try one.save()
    }
    let second = try stack.root.saved()
    one.performAndWait {
      one.mergeChanges(fromContextDidSave: first)
      one.mergeChanges(fromContextDidSave: second)
      #expect(tag.objects("books").map { $0.text("title") } == ["Theirs"])
    }
    try stack.fresh { context in
      let tag = try #require(try context.all("Tag").first)
      #expect(tag.objects("books").map { $0.text("title") } == ["Theirs"])
    }
  }
}
