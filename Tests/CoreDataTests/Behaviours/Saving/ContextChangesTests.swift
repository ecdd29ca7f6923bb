import CoreData
import Foundation
import Testing

@Suite struct ContextChangesTests {
  private func hooked(_ setting: Setting) throws -> TestStack {
    try TestStack(setting, model: HookedAuthor.model())
  }

  // MARK: Inserting and deleting

  @Test(arguments: Setting.allCases)
  func `inserting awakes once with defaults in place`(_ setting: Setting) throws {
    let stack = try hooked(setting)
    stack.context.performAndWait {
      let ada = stack.context.insert("Author") as! HookedAuthor
      #expect(ada.events == ["awakeFromInsert age 18"])
      #expect(ada.objectID.isTemporaryID && !ada.isFault && ada.isInserted)
    }
  }

  @Test(arguments: Setting.allCases)
  func `an object made alone is inserted later`(_ setting: Setting) throws {
    let stack = try hooked(setting)
    try stack.context.performAndWait {
      let entity = try #require(NSEntityDescription.entity(forEntityName: "Author", in: stack.context))
      let ada = HookedAuthor(entity: entity, insertInto: nil)
      #expect(ada.managedObjectContext == nil)
      #expect(stack.context.registeredObjects.isEmpty)
      stack.context.insert(ada)
      #expect(ada.events.count == 1)
      #expect(stack.context.insertedObjects == [ada])
    }
  }

  @Test(arguments: Setting.allCases)
  func `prepareForDeletion is called before delete rules apply`(_ setting: Setting) throws {
    let stack = try hooked(setting)
    try stack.context.performAndWait {
      let ada = stack.context.hookedAuthor("Ada")
      stack.context.insert("Book", ["author": ada])
      try stack.context.save()
      ada.events = []
      stack.context.delete(ada)
      #expect(ada.isDeleted)
      stack.context.delete(ada)
      #expect(ada.events == ["prepareForDeletion books 1", "prepareForDeletion books 1"])
    }
  }

  @Test(arguments: Setting.allCases, [true, false])
  func `delete rules apply when changes are processed or at save`(_ setting: Setting, _ atEndOfEvent: Bool)
    throws
  {
    let stack = try TestStack(setting)
    try stack.context.performAndWait {
      #expect(stack.context.propagatesDeletesAtEndOfEvent)
      stack.context.propagatesDeletesAtEndOfEvent = atEndOfEvent
      let ada = stack.context.insert("Author")
      let book = stack.context.insert("Book", ["author": ada])
      try stack.context.save()
      stack.context.delete(ada)
      #expect(!book.isDeleted)
      stack.context.processPendingChanges()
      #expect(book.isDeleted == atEndOfEvent)
      try stack.context.save()
      try #expect(stack.context.count("Book") == 0)
    }
  }

  @Test(arguments: Setting.allCases)
  func `a saved deletion leaves an object without context`(_ setting: Setting) throws {
    let stack = try TestStack(setting)
    try stack.context.performAndWait {
      let ada = stack.context.insert("Author")
      try stack.context.save()
      stack.context.delete(ada)
      try stack.context.save()
      #expect(!ada.isDeleted)
      #expect(ada.managedObjectContext == nil)
    }
  }

  // MARK: Refreshing

  @Test(arguments: Setting.allCases)
  func `refreshing without merge drops changes and makes a fault`(_ setting: Setting) throws {
    let stack = try hooked(setting)
    try stack.context.performAndWait {
      let ada = stack.context.hookedAuthor("Ada")
      try stack.context.save()
      ada.setValue("Grace", forKey: "name")
      ada.events = []
      stack.context.refresh(ada, mergeChanges: false)
      #expect(ada.isFault)
      #expect(ada.events == ["willTurnIntoFault", "didTurnIntoFault"])
      #expect(!stack.context.hasChanges)
      #expect(ada.text("name") == "Ada")
    }
  }

  @Test(arguments: Setting.allCases)
  func `refreshing without merge drops transient values`(_ setting: Setting) throws {
    let stack = try TestStack(setting)
    try stack.context.performAndWait {
      let book = stack.context.insert("Book")
      try stack.context.save()
      book.setValue("seen", forKey: "mark")
      stack.context.refresh(book, mergeChanges: false)
      #expect(book.value(forKey: "mark") == nil)
    }
  }

  @Test(arguments: Setting.allCases)
  func `refreshing with merge keeps changes on newer values`(_ setting: Setting) throws {
    let stack = try TestStack(setting)
    let book = try stack.context.performAndWait {
      let book = stack.context.insert("Book", ["title": "old", "pages": 1])
      try stack.context.save()
      return book
    }
    if setting.isNested { try stack.root.performAndWait { try stack.root.save() } }
    let other = stack.sibling()
    try stack.context.performAndWait {
      book.setValue("mine", forKey: "title")
      book.setValue("seen", forKey: "mark")
      let id = book.objectID
      try other.performAndWait {
        let theirs = try #require(try other.all("Book").first)
        theirs.setValue(2, forKey: "pages")
        try other.save()
      }
      _ = id
      stack.context.refresh(book, mergeChanges: true)
      #expect(!book.isFault)
      #expect(book.text("title") == "mine")
      #expect(book.value(forKey: "pages") as? Int == 2)
      #expect(book.text("mark") == "seen")
    }
  }

  @Test(arguments: Setting.allCases)
  func `refreshing an unsaved object lets it fire again`(_ setting: Setting) throws {
    let stack = try TestStack(setting)
    stack.context.performAndWait {
      let ada = stack.context.insert("Author", ["name": "Ada"])
      stack.context.refresh(ada, mergeChanges: false)
      #expect(ada.isFault)
      ada.willAccessValue(forKey: nil)
      #expect(!ada.isFault)
    }
  }

  @Test(arguments: Setting.allCases)
  func `refreshing all makes clean objects faults and announces once`(_ setting: Setting) throws {
    let stack = try TestStack(setting)
    try stack.context.performAndWait {
      let clean = stack.context.insert("Author", ["name": "clean"])
      let dirty = stack.context.insert("Author", ["name": "dirty"])
      try stack.context.save()
      dirty.setValue("changed", forKey: "name")
      stack.context.processPendingChanges()
      let log = NotificationLog(stack.context)
      stack.context.refreshAllObjects()
      #expect(clean.isFault)
      #expect(!dirty.isFault)
      #expect(dirty.text("name") == "changed")
      #expect(log.changes == ["refreshed 2"])
    }
  }

  // A child rereads its parent's memory, which has the value until the parent saves.
  @Test(arguments: Setting.direct)
  func `refreshing all drops transient values of clean objects`(_ setting: Setting) throws {
    let stack = try TestStack(setting)
    try stack.context.performAndWait {
      let book = stack.context.insert("Book", ["mark": "seen"])
      try stack.context.save()
      #expect(book.text("mark") == "seen")
      stack.context.refreshAllObjects()
      #expect(book.value(forKey: "mark") == nil)
    }
  }

  @Test(.ofFiles) func `refreshing uses the row cache until values are stale`() throws {
    let stack = try TestStack(.sqlite)
    #expect(stack.context.stalenessInterval == -1)
    let ada = try stack.context.performAndWait {
      let ada = stack.context.insert("Author", ["name": "Ada"])
      try stack.context.save()
      // The context's first read asks whether others have written; this one is before they do.
      stack.context.refresh(ada, mergeChanges: true)
      #expect(ada.text("name") == "Ada")
      return ada
    }
    // Another coordinator on the file does not update this one's row cache.
    let model = LibraryModel.make()
    let elsewhere = NSPersistentStoreCoordinator(managedObjectModel: model)
    try elsewhere.addPersistentStore(ofType: TestDatabase.type, configurationName: nil, at: stack.url)
    let other = NSManagedObjectContext(.privateQueue)
    other.persistentStoreCoordinator = elsewhere
    try other.performAndWait {
      try other.all("Author").first?.setValue("Grace", forKey: "name")
      try other.save()
    }
    stack.context.performAndWait {
      stack.context.refresh(ada, mergeChanges: true)
      #expect(ada.text("name") == "Ada")
      stack.context.stalenessInterval = 0
      #expect(ada.text("name") == "Ada")
      stack.context.refresh(ada, mergeChanges: true)
      #expect(ada.text("name") == "Grace")
    }
  }

  // MARK: Counting

  @Test func `a fetch from the store may return what a child has changed or deleted`() throws {
    let stack = try TestStack(.sqlite)
    let parent = stack.context
    let child = stack.child(of: parent)
    try parent.performAndWait {
      for name in ["Ada", "Bob", "Cyd"] { parent.insert("Author", ["name": name]) }
      #expect(parent.storedChangeCount == 0)
      try parent.save()
    }
    try child.performAndWait {
      let authors = try child.all("Author", by: "name")
      authors[0].setValue("Ann", forKey: "name")
      child.delete(authors[1])
      #expect(child.storedChangeCount == 2)
      try child.save()
    }
    try parent.performAndWait {
      #expect(parent.storedChangeCount == 2)
      try parent.save()
      #expect(parent.storedChangeCount == 0)
    }
  }

  // MARK: Rollback and reset

  @Test(arguments: Setting.allCases)
  func `rollback goes back to what was saved`(_ setting: Setting) throws {
    let stack = try TestStack(setting)
    try stack.context.performAndWait {
      let context = stack.context
      let updated = context.insert("Author", ["name": "Ada"])
      let deleted = context.insert("Author", ["name": "Bob"])
      try context.save()
      updated.setValue("Grace", forKey: "name")
      context.delete(deleted)
      let inserted = context.insert("Author")
      let temporary = inserted.objectID
      context.rollback()
      #expect(
        context.insertedObjects.isEmpty && context.updatedObjects.isEmpty && context.deletedObjects.isEmpty)
      #expect(!context.hasChanges)
      #expect(updated.text("name") == "Ada")
      #expect(!deleted.isDeleted)
      #expect(deleted.text("name") == "Bob")
      #expect(context.registeredObject(for: temporary) == nil)
      try #expect(context.count("Author") == 2)
    }
  }

  @Test(arguments: Setting.allCases)
  func `reset forgets every object and says so`(_ setting: Setting) throws {
    let stack = try TestStack(setting)
    let posted = Posted(.NSManagedObjectContextObjectsDidChange, by: stack.context)
    try stack.context.performAndWait {
      let ada = stack.context.insert("Author")
      let book = stack.context.insert("Book", ["mark": "seen"])
      try stack.context.save()
      stack.context.reset()
      #expect(stack.context.registeredObjects.isEmpty)
      #expect(ada.managedObjectContext == nil && ada.isFault)
      #expect(book.managedObjectContext == nil && book.isFault)
    }
    let last = try #require(posted.userInfos.last)
    #expect((last[NSInvalidatedAllObjectsKey] as? [NSManagedObjectID])?.count == 2)
    #expect(Set(last.keys).subtracting(["managedObjectContext"]) == [NSInvalidatedAllObjectsKey])
  }

  @Test func `transient values of an orphan read as nil`() throws {
    let stack = try TestStack(.memory)
    try stack.context.performAndWait {
      let book = stack.context.insert("Book", ["mark": "seen"])
      try stack.context.save()
      stack.context.reset()
      #expect(book.value(forKey: "mark") == nil)
    }
  }

  // MARK: Faults without a row

  /// Returns a registered fault whose row another context has deleted.
  private func vanished(_ stack: TestStack, in context: NSManagedObjectContext) throws -> NSManagedObject {
    try stack.root.performAndWait {
      let ada = stack.root.insert("Author", ["name": "Ada"])
      try stack.root.save()
      let id = ada.objectID
      let fault = context.performAndWait { context.object(with: id) }
      stack.root.delete(ada)
      try stack.root.save()
      return fault
    }
  }

  @Test(arguments: Setting.direct)
  func `a fault whose row is gone becomes deleted and empty`(_ setting: Setting) throws {
    let stack = try TestStack(setting)
    let context = stack.sibling()
    #expect(context.shouldDeleteInaccessibleFaults)
    let fault = try vanished(stack, in: context)
    context.performAndWait {
      #expect(fault.value(forKey: "name") == nil)
      #expect(fault.value(forKey: "age") == nil)
      #expect(fault.isDeleted)
    }
  }

  @Test(arguments: Setting.direct)
  func `existingObject does not call the hook for vanished rows`(_ setting: Setting) throws {
    let stack = try TestStack(setting)
    let context = SoakContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = stack.coordinator
    context.shouldDeleteInaccessibleFaults = false
    let fault = try vanished(stack, in: context)
    context.performAndWait {
      #expect(throws: CocoaError.self) { try context.existingObject(with: fault.objectID) }
      #expect(context.dangling.isEmpty)
    }
    let other = SoakContext(concurrencyType: .privateQueueConcurrencyType)
    other.persistentStoreCoordinator = stack.coordinator
    other.shouldDeleteInaccessibleFaults = false
    let second = try vanished(stack, in: other)
    other.performAndWait {
      #expect(second.text("name") == nil)
      #expect(other.dangling.count == 1)
    }
  }

  @Test func `delete rules reach vanished rows without asking`() throws {
    let stack = try TestStack(.memory)
    let context = SoakContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = stack.coordinator
    let fault = try vanished(stack, in: context)
    context.performAndWait {
      context.delete(fault)
      context.processPendingChanges()
      #expect(fault.isDeleted)
      #expect(context.dangling.isEmpty)
    }
  }
}
