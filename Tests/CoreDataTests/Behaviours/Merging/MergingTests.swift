import CoreData
import Foundation
import Testing

@Suite struct MergingTests {
  /// Returns two contexts on one coordinator, and an author saved by the first.
  private func siblings(_ setting: Setting) throws -> (
    TestStack, NSManagedObjectContext, NSManagedObjectContext
  ) {
    let stack = try TestStack(setting)
    let other = stack.sibling()
    try stack.root.performAndWait {
      stack.root.insert("Author", ["name": "Ada", "age": 36])
      try stack.root.save()
    }
    return (stack, stack.root, other)
  }

  @Test(arguments: Setting.direct)
  func `updates reach realised objects`(_ setting: Setting) throws {
    let (_, one, two) = try siblings(setting)
    let mine = try two.performAndWait {
      let mine = try #require(try two.all("Author").first)
      mine.fireForTest()
      return mine
    }
    let log = NotificationLog(two)
    let notification = try one.saved { try one.all("Author").first?.setValue("Grace", forKey: "name") }
    two.performAndWait {
      #expect(mine.text("name") == "Ada")
      two.mergeChanges(fromContextDidSave: notification)
      #expect(mine.text("name") == "Grace")
      #expect(!two.hasChanges)
    }
    #expect(log.changes == ["refreshed 1"])
  }

  @Test(arguments: Setting.direct)
  func `unsaved changes win over merged ones`(_ setting: Setting) throws {
    let (stack, one, two) = try siblings(setting)
    let mine = try two.performAndWait {
      let mine = try #require(try two.all("Author").first)
      mine.setValue("Mine", forKey: "name")
      return mine
    }
    let notification = try one.saved {
      let theirs = try #require(try one.all("Author").first)
      theirs.setValue("Theirs", forKey: "name")
      theirs.setValue(40, forKey: "age")
    }
    try two.performAndWait {
      two.mergeChanges(fromContextDidSave: notification)
      #expect(mine.text("name") == "Mine")
      #expect(mine.value(forKey: "age") as? Int == 40)
      // The version was updated too, so this is no conflict.
      try two.save()
    }
    try stack.fresh { context in
      try #expect(context.all("Author").first?.text("name") == "Mine")
      try #expect(context.all("Author").first?.value(forKey: "age") as? Int == 40)
    }
  }

  @Test(arguments: Setting.direct)
  func `inserts are registered and announced then forgotten`(_ setting: Setting) throws {
    let (_, one, two) = try siblings(setting)
    let log = NotificationLog(two)
    let notification = try one.saved { one.insert("Author", ["name": "New"]) }
    two.performAndWait { two.mergeChanges(fromContextDidSave: notification) }
    #expect(log.changes == ["inserted 1"])
    two.performAndWait {
      #expect(!two.hasChanges)
      #expect(two.insertedObjects.isEmpty)
      #expect(two.registeredObjects.isEmpty)
    }
  }

  @Test(arguments: Setting.direct)
  func `deletes mark registered objects`(_ setting: Setting) throws {
    let (_, one, two) = try siblings(setting)
    let mine = try two.performAndWait {
      let mine = try #require(try two.all("Author").first)
      mine.fireForTest()
      return mine
    }
    let notification = try one.saved { one.delete(try #require(try one.all("Author").first)) }
    try two.performAndWait {
      two.mergeChanges(fromContextDidSave: notification)
      #expect(mine.isDeleted)
      #expect(mine.text("name") == "Ada")
      #expect(two.deletedObjects == [mine])
      try #expect(two.count("Author") == 0)
      try two.save()
    }
  }

  @Test func `automatic merging reaches siblings`() throws {
    let (_, one, two) = try siblings(.sqlite)
    two.automaticallyMergesChangesFromParent = true
    let mine = try two.performAndWait {
      let mine = try #require(try two.all("Author").first)
      mine.fireForTest()
      return mine
    }
    _ = try one.saved { try one.all("Author").first?.setValue("Grace", forKey: "name") }
    two.performAndWait {}
    two.performAndWait { #expect(mine.text("name") == "Grace") }
  }

  @Test func `contexts of two coordinators on one file merge`() throws {
    let (stack, one, _) = try siblings(.sqlite)
    let other = NSPersistentStoreCoordinator(managedObjectModel: LibraryModel.make())
    try other.addPersistentStore(ofType: TestDatabase.type, configurationName: nil, at: stack.url)
    let two = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    two.persistentStoreCoordinator = other
    let mine = try two.performAndWait {
      let mine = try #require(try two.all("Author").first)
      mine.fireForTest()
      return mine
    }
    let notification = try one.saved {
      try one.all("Author").first?.setValue("Grace", forKey: "name")
      one.insert("Author", ["name": "New"])
    }
    try two.performAndWait {
      two.mergeChanges(fromContextDidSave: notification)
      #expect(mine.text("name") == "Grace")
      try #expect(two.count("Author") == 2)
      mine.setValue(1, forKey: "age")
      try two.save()
    }
    one.performAndWait {
      let id = mine.objectID
      #expect(
        (try? one.existingObject(with: id))?.entity
          === one.persistentStoreCoordinator?.managedObjectModel.entitiesByName["Author"])
    }
  }

  @Test(arguments: Setting.direct)
  func `a stale save is a conflict`(_ setting: Setting) throws {
    let (_, one, two) = try siblings(setting)
    let mine = try two.performAndWait {
      let mine = try #require(try two.all("Author").first)
      mine.setValue("Mine", forKey: "name")
      return mine
    }
    _ = try one.saved { try one.all("Author").first?.setValue("Theirs", forKey: "name") }
    try two.performAndWait {
      let error = #expect(throws: CocoaError.self) { try two.save() }
      #expect(error?.code.rawValue == NSManagedObjectMergeError)
      let conflicts = error?.userInfo[NSPersistentStoreSaveConflictsErrorKey] as? [NSMergeConflict]
      #expect(conflicts?.count == 1)
      #expect(conflicts?.first?.sourceObject === mine)
      #expect(two.hasChanges)
      #expect(mine.text("name") == "Mine")
      two.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
      try two.save()
    }
    try one.performAndWait {
      one.reset()
      try #expect(one.all("Author").first?.text("name") == "Mine")
    }
  }

  @Test(
    arguments: Setting.direct,
    [
      (NSMergePolicyType.mergeByPropertyStoreTrumpMergePolicyType, "Theirs", 1, 40),
      (.mergeByPropertyObjectTrumpMergePolicyType, "Mine", 1, 40),
      (.overwriteMergePolicyType, "Mine", 1, 36),
      (.rollbackMergePolicyType, "Theirs", 0, 40),
    ])
  func `merge policies settle property by property`(
    _ setting: Setting, _ expected: (policy: NSMergePolicyType, name: String, pages: Int, age: Int)
  ) throws {
    let (stack, one, two) = try siblings(setting)
    try one.performAndWait {
      let ada = try #require(try one.all("Author").first)
      one.insert("Author", ["name": "Mentor"])
      _ = ada
      try one.save()
    }
    try two.performAndWait {
      let mine = try two.author("Ada")
      mine.setValue("Mine", forKey: "name")
      mine.setValue(try two.author("Mentor"), forKey: "mentor")
    }
    try one.performAndWait {
      let theirs = try one.author("Ada")
      theirs.setValue("Theirs", forKey: "name")
      theirs.setValue(40, forKey: "age")
      try one.save()
    }
    try two.performAndWait {
      two.mergePolicy = NSMergePolicy(merge: expected.policy)
      try two.save()
      #expect(!two.hasChanges)
    }
    try stack.fresh { context in
      let ada = try context.author(expected.name)
      #expect(ada.text("name") == expected.name)
      #expect(ada.value(forKey: "age") as? Int == expected.age)
      #expect((ada.object("mentor") == nil ? 0 : 1) == expected.pages)
    }
  }

  /// Merges the other one's save, then that of a third context, which moves the link on.
  @Test(arguments: Setting.direct)
  func `a link that two contexts have made is taken from both by a third that moves it`(_ setting: Setting)
    throws
  {
    let stack = try TestStack(setting)
    let ids = try ["Old", "Same", "New"].map { try stack.stored("Author", ["name": $0]).objectID }
    let book = try stack.root.performAndWait {
      let book = stack.root.insert("Book", ["author": stack.root.object(with: ids[0])])
      try stack.root.save()
      return book.objectID
    }
    let context = stack.sibling(), other = stack.sibling()
    let mine = context.performAndWait {
      let mine = context.object(with: book), authors = ids.map { context.object(with: $0) }
      mine.setValue(authors[1], forKey: "author")
      return (mine, authors)
    }
    func move(to author: Int) throws -> Notification {
      try other.saved { other.object(with: book).setValue(other.object(with: ids[author]), forKey: "author") }
    }
    for save in try [move(to: 1), move(to: 2)] {
      context.performAndWait { context.mergeChanges(fromContextDidSave: save) }
    }
    context.performAndWait {
      let (book, authors) = mine
      #expect(book.object("author") === authors[2])
      #expect(authors.map { $0.objects("books").count } == [0, 0, 1])
    }
  }
}

extension NSManagedObjectContext {
  /// Returns the author of this name.
  fileprivate func author(_ name: String) throws -> NSManagedObject {
    let found = try all("Author").filter { $0.text("name") == name }
    return try #require(found.first)
  }
}

extension NSManagedObject {
  /// Fills the fault.
  func fireForTest() { willAccessValue(forKey: nil) }
}
