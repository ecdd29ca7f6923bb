import CoreData
import Foundation
import Testing

@Suite struct MergedChangesTests {
  /// Returns two authors saved by one context, and another context that has not read anything yet.
  private func siblings(_ setting: Setting) throws -> (
    stack: TestStack, one: NSManagedObjectContext, two: NSManagedObjectContext, ids: [NSManagedObjectID]
  ) {
    let stack = try TestStack(setting)
    let ids = try stack.root.performAndWait {
      let authors = ["Ada", "Eve"].map { stack.root.insert("Author", ["name": $0]) }
      try stack.root.save()
      return authors.map(\.objectID)
    }
    return (stack, stack.root, stack.sibling(), ids)
  }

  @Test(arguments: Setting.direct)
  func `a registered fault is skipped silently`(_ setting: Setting) throws {
    let (_, one, two, ids) = try siblings(setting)
    let fault = two.performAndWait { two.object(with: ids[0]) }
    let log = NotificationLog(two)
    let notification = try one.saved { one.object(with: ids[0]).setValue("New", forKey: "name") }
    two.performAndWait {
      two.mergeChanges(fromContextDidSave: notification)
      #expect(fault.isFault)
      #expect(log.changes.isEmpty)
      #expect(fault.text("name") == "New", "and yet it shows what is there now")
    }
  }

  @Test(arguments: Setting.direct)
  func `both ends of a pair are reread though the save's policy has rolled back one`(_ setting: Setting)
    throws
  {
    let stack = try TestStack(setting)
    let (main, other) = (stack.root, stack.sibling())
    other.mergePolicy = NSMergePolicy.rollback
    let tag = try stack.stored("Tag", ["name": "old"])
    let book = try stack.stored("Book", ["title": "Notes"])
    other.performAndWait {
      for id in [book.objectID, tag.objectID] { other.object(with: id).willAccessValue(forKey: nil) }
      other.object(with: book.objectID).mutableSetValue(forKey: "tags").add(other.object(with: tag.objectID))
      other.processPendingChanges()
    }
    try main.performAndWait {
      #expect(tag.objects("books").isEmpty && book.objects("tags").isEmpty)
      tag.setValue("new", forKey: "name")
      try main.save()
    }
    let save = try other.saved {}
    main.performAndWait {
      main.mergeChanges(fromContextDidSave: save)
      #expect(book.objects("tags") == [tag])
      #expect(tag.objects("books") == [book])
    }
    try stack.fresh { context in
      let stored = try #require(try context.all("Book").first)
      let shown = main.performAndWait { book.objects("tags").count }
      #expect(stored.objects("tags").count == shown)
    }
  }

  @Test(arguments: Setting.direct)
  func `IDs merge like objects`(_ setting: Setting) throws {
    let (_, one, two, ids) = try siblings(setting)
    let mine = two.performAndWait { () -> [NSManagedObject] in
      let mine = ids.map { two.object(with: $0) }
      for object in mine { object.willAccessValue(forKey: nil) }
      return mine
    }
    let notification = try one.saved(.NSManagedObjectContextDidSaveObjectIDs) {
      one.object(with: ids[0]).setValue("New", forKey: "name")
      one.delete(one.object(with: ids[1]))
      one.insert("Author", ["name": "Third"])
    }
    two.performAndWait {
      two.mergeChanges(fromContextDidSave: notification)
      #expect(mine[0].text("name") == "New")
      #expect(mine[1].isDeleted)
    }
  }

  @Test(arguments: Setting.direct)
  func `remote changes use IDs or URIs and reach several contexts`(_ setting: Setting) throws {
    let (stack, one, two, ids) = try siblings(setting)
    let child = stack.child(of: two)
    let (inParent, inChild) = (
      two.performAndWait { two.object(with: ids[0]) }, child.performAndWait { child.object(with: ids[0]) }
    )
    two.performAndWait { inParent.willAccessValue(forKey: nil) }
    child.performAndWait { inChild.willAccessValue(forKey: nil) }
    try one.performAndWait {
      one.object(with: ids[0]).setValue("New", forKey: "name")
      try one.save()
    }
    NSManagedObjectContext.mergeChanges(
      fromRemoteContextSave: [NSUpdatedObjectsKey: [ids[0].uriRepresentation()]], into: [child, two])
    two.performAndWait { #expect(inParent.text("name") == "New") }
    child.performAndWait { #expect(inChild.text("name") == "New") }
    try one.performAndWait {
      one.delete(one.object(with: ids[1]))
      try one.save()
    }
    let gone = two.performAndWait { two.object(with: ids[1]) }
    NSManagedObjectContext.mergeChanges(fromRemoteContextSave: [NSDeletedObjectsKey: [ids[1]]], into: [two])
    two.performAndWait { #expect(gone.isDeleted) }
  }

  @Test(arguments: Setting.direct)
  func `merged inserts and updates leave nothing to save`(_ setting: Setting) throws {
    let (_, one, two, ids) = try siblings(setting)
    two.performAndWait { two.object(with: ids[0]).willAccessValue(forKey: nil) }
    let notification = try one.saved {
      one.object(with: ids[0]).setValue("New", forKey: "name")
      one.insert("Author", ["name": "Third"])
    }
    two.performAndWait {
      two.mergeChanges(fromContextDidSave: notification)
      #expect(!two.hasChanges)
      #expect(two.insertedObjects.isEmpty && two.updatedObjects.isEmpty)
    }
  }

  @Test(arguments: Setting.direct)
  func `merging refreshes the cache for later faults`(_ setting: Setting) throws {
    let (stack, one, two, ids) = try siblings(setting)
    two.performAndWait { two.object(with: ids[0]).willAccessValue(forKey: nil) }
    let notification = try one.saved { one.object(with: ids[0]).setValue("New", forKey: "name") }
    two.performAndWait { two.mergeChanges(fromContextDidSave: notification) }
    stack.fresh { context in #expect(context.object(with: ids[0]).text("name") == "New") }
  }

  @Test func `merging by itself happens on the receivers queue`() throws {
    let (_, one, two, ids) = try siblings(.sqlite)
    two.performAndWait { two.automaticallyMergesChangesFromParent = true }
    let mine = two.performAndWait { two.object(with: ids[0]) }
    two.performAndWait { mine.willAccessValue(forKey: nil) }
    nonisolated(unsafe) var isOffMain = false
    let token = NotificationCenter.default.addObserver(
      forName: .NSManagedObjectContextObjectsDidChange, object: two, queue: nil
    ) { _ in isOffMain = !Thread.isMainThread }
    defer { NotificationCenter.default.removeObserver(token) }
    try one.performAndWait {
      one.object(with: ids[0]).setValue("New", forKey: "name")
      try one.save()
    }
    // Enqueued behind the merge.
    two.performAndWait {}
    two.performAndWait { #expect(mine.text("name") == "New") }
    #expect(isOffMain)
  }

  @Test(arguments: Setting.direct)
  func `dirty properties stay and the rest moves along`(_ setting: Setting) throws {
    let (_, one, two, ids) = try siblings(setting)
    let mine = two.performAndWait { two.object(with: ids[0]) }
    two.performAndWait { mine.setValue("Mine", forKey: "name") }
    let notification = try one.saved {
      one.object(with: ids[0]).setValue("Theirs", forKey: "name")
      one.object(with: ids[0]).setValue(77, forKey: "age")
    }
    try two.performAndWait {
      two.mergeChanges(fromContextDidSave: notification)
      #expect(mine.text("name") == "Mine")
      #expect(mine.value(forKey: "age") as? Int == 77)
      #expect(mine.committedValues(forKeys: ["name"])["name"] as? String == "Theirs")
      try two.save()
    }
  }

  @Test(arguments: Setting.direct)
  func `an object filled between save and merge is still announced`(_ setting: Setting) throws {
    let (_, one, two, ids) = try siblings(setting)
    let fault = two.performAndWait { two.object(with: ids[0]) }
    let notification = try one.saved { one.object(with: ids[0]).setValue("New", forKey: "name") }
    let posted = Posted(.NSManagedObjectContextObjectsDidChange, by: two)
    two.performAndWait {
      // Makes a merge report objects that are faults.
      fault.willAccessValue(forKey: nil)
      two.mergeChanges(fromContextDidSave: notification)
      #expect(posted.count(NSRefreshedObjectsKey) == 1)
      #expect(fault.text("name") == "New")
    }
  }
}
