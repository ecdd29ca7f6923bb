import CoreData
import Foundation
import Testing

@Suite struct ChangeSetTests {
  @Test(arguments: Setting.allCases)
  func `the three sets are disjoint`(_ setting: Setting) throws {
    let stack = try TestStack(setting)
    try stack.context.performAndWait {
      let context = stack.context
      let updated = context.insert("Author"), deleted = context.insert("Author")
      try context.save()
      let inserted = context.insert("Author")
      inserted.setValue("x", forKey: "name")
      updated.setValue("y", forKey: "name")
      deleted.setValue("z", forKey: "name")
      context.delete(deleted)
      #expect(context.insertedObjects == [inserted])
      #expect(context.updatedObjects == [updated])
      #expect(context.deletedObjects == [deleted])
    }
  }

  @Test(arguments: Setting.allCases)
  func `inserting and deleting before a save leaves nothing`(_ setting: Setting) throws {
    let stack = try TestStack(setting)
    let saved = Posted(.NSManagedObjectContextDidSave, by: stack.context)
    try stack.context.performAndWait {
      let ada = stack.context.insert("Author")
      stack.context.processPendingChanges()
      stack.context.delete(ada)
      try #expect(stack.context.count("Author") == 0)
      #expect(stack.context.insertedObjects.isEmpty)
      #expect(stack.context.deletedObjects.isEmpty)
      try stack.context.save()
    }
    #expect(saved.count(NSDeletedObjectsKey) == 0)
    #expect(saved.count(NSInsertedObjectsKey) == 0)
    try stack.save()
    try #expect(stack.fresh { try $0.count("Author") } == 0)
  }

  @Test(arguments: Setting.allCases, [true, false])
  func `an undone insertion is announced as deleted`(_ setting: Setting, _ isFlushedBetween: Bool) throws {
    let stack = try TestStack(setting)
    let log = NotificationLog(stack.context)
    stack.context.performAndWait {
      let ada = stack.context.insert("Author")
      if isFlushedBetween { stack.context.processPendingChanges() }
      stack.context.delete(ada)
      stack.context.processPendingChanges()
    }
    #expect(log.changes.last == "deleted 1")
    #expect(log.changes.count == (isFlushedBetween ? 2 : 1))
  }

  @Test(arguments: Setting.allCases)
  func `a new object changed after its announcement is an update`(_ setting: Setting) throws {
    let stack = try TestStack(setting)
    let log = NotificationLog(stack.context)
    stack.context.performAndWait {
      let ada = stack.context.insert("Author")
      stack.context.processPendingChanges()
      ada.setValue("Ada", forKey: "name")
      stack.context.processPendingChanges()
      #expect(ada.isInserted)
      #expect(stack.context.updatedObjects.isEmpty)
    }
    #expect(log.changes == ["inserted 1", "updated 1"])
  }

  @Test(arguments: Setting.allCases)
  func `an equal value makes dirty but no persistent change`(_ setting: Setting) throws {
    let stack = try TestStack(setting)
    try stack.context.performAndWait {
      let ada = stack.context.insert("Author", ["name": "Ada"])
      try stack.context.save()
      #expect(!stack.context.hasChanges)
      ada.setValue("Ada", forKey: "name")
      #expect(stack.context.hasChanges)
      #expect(!ada.hasPersistentChangedValues)
    }
  }

  @Test(arguments: Setting.allCases)
  func `a transient change makes dirty but no persistent change`(_ setting: Setting) throws {
    let stack = try TestStack(setting)
    try stack.context.performAndWait {
      let book = stack.context.insert("Book")
      try stack.context.save()
      book.setValue("seen", forKey: "mark")
      #expect(book.hasChanges)
      #expect(!book.hasPersistentChangedValues)
      #expect(stack.context.updatedObjects == [book])
      #expect(stack.context.hasChanges)
    }
  }

  @Test(arguments: Setting.direct)
  func `mutating a value in place is not seen`(_ setting: Setting) throws {
    let stack = try TestStack(setting)
    try stack.context.performAndWait {
      let book = stack.context.insert("Book")
      let list = NSMutableArray(array: ["a"])
      book.setValue(list, forKey: "extra")
      try stack.context.save()
      list.add("b")
      #expect(!stack.context.hasChanges)
    }
  }
}
