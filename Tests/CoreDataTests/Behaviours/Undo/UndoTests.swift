import CoreData
import Foundation
import Testing

@Suite struct UndoTests {
  private func stack(_ setting: Setting, model: NSManagedObjectModel = LibraryModel.make()) throws
    -> TestStack
  {
    let stack = try TestStack(setting, model: model)
    stack.context.undoManager = UndoManager()
    stack.context.undoManager?.groupsByEvent = false
    return stack
  }

  @Test func `without an undo manager nothing is undone`() throws {
    let stack = try TestStack(.memory)
    #expect(stack.context.undoManager == nil)
    stack.context.performAndWait {
      stack.context.insert("Author")
      stack.context.undo()
      #expect(stack.context.insertedObjects.count == 1)
      stack.context.redo()
      #expect(stack.context.insertedObjects.count == 1)
    }
  }

  @Test(arguments: Setting.allCases)
  func `an update is undone and redone`(_ setting: Setting) throws {
    let stack = try stack(setting, model: HookedAuthor.model())
    try stack.context.performAndWait {
      let ada = stack.context.hookedAuthor("Ada")
      try stack.context.save()
      stack.context.undoManager?.removeAllActions()
      ada.setValue("Grace", forKey: "name")
      ada.setValue(40, forKey: "age")
      ada.events = []
      stack.context.undo()
      #expect(ada.text("name") == "Ada")
      #expect(ada.value(forKey: "age") as? Int == 18)
      #expect(ada.events == ["snapshot \(NSSnapshotEventType.undoUpdate.rawValue)"])
      stack.context.redo()
      #expect(ada.text("name") == "Grace")
      #expect(ada.value(forKey: "age") as? Int == 40)
    }
  }

  @Test(arguments: Setting.allCases)
  func `an insertion is undone and redone`(_ setting: Setting) throws {
    let stack = try stack(setting, model: HookedAuthor.model())
    try stack.context.performAndWait {
      let ada = stack.context.hookedAuthor("Ada")
      stack.context.processPendingChanges()
      ada.events = []
      stack.context.undo()
      #expect(stack.context.insertedObjects.isEmpty)
      try #expect(stack.context.count("Author") == 0)
      #expect(ada.events == ["snapshot \(NSSnapshotEventType.undoInsertion.rawValue)"])
      stack.context.redo()
      #expect(stack.context.insertedObjects == [ada])
      try #expect(stack.context.all("Author").map { $0.text("name") } == ["Ada"])
    }
    try stack.save()
    try #expect(stack.fresh { try $0.count("Author") } == 1)
  }

  @Test(arguments: Setting.allCases)
  func `a deletion is undone with its links`(_ setting: Setting) throws {
    let stack = try stack(setting, model: HookedAuthor.model())
    try stack.context.performAndWait {
      let ada = stack.context.hookedAuthor("Ada")
      let book = stack.context.insert("Book", ["title": "Notes", "author": ada])
      let pupil = stack.context.hookedAuthor("Pupil")
      pupil.setValue(ada, forKey: "mentor")
      try stack.context.save()
      stack.context.undoManager?.removeAllActions()
      stack.context.delete(ada)
      stack.context.processPendingChanges()
      #expect(book.isDeleted)
      #expect(pupil.object("mentor") == nil)
      ada.events = []
      stack.context.undo()
      #expect(!ada.isDeleted && !book.isDeleted)
      #expect(book.object("author") === ada)
      #expect(ada.objects("books") == [book])
      #expect(pupil.object("mentor") === ada)
      #expect(ada.events == ["snapshot \(NSSnapshotEventType.undoDeletion.rawValue)"])
    }
    try stack.save()
    try stack.fresh { context in
      try #expect(context.author(named: "Ada")?.objects("books").count == 1)
      try #expect(context.author(named: "Ada")?.objects("pupils").count == 1)
    }
  }

  @Test(arguments: Setting.direct)
  func `a saved deletion comes back as a new object`(_ setting: Setting) throws {
    let stack = try stack(setting)
    try stack.context.performAndWait {
      let ada = stack.context.insert("Author", ["name": "Ada"])
      try stack.context.save()
      stack.context.delete(ada)
      try stack.context.save()
      stack.context.undo()
      try #expect(stack.context.all("Author").map { $0.text("name") } == ["Ada"])
      try stack.context.save()
    }
    try #expect(stack.fresh { try $0.all("Author").map { $0.text("name") } } == ["Ada"])
  }

  @Test func `changes are registered together when they are processed`() throws {
    let stack = try stack(.memory)
    stack.context.performAndWait {
      let manager = stack.context.undoManager!
      let ada = stack.context.insert("Author", ["name": "Ada"])
      #expect(!manager.canUndo)
      stack.context.processPendingChanges()
      #expect(manager.canUndo)
      ada.setValue("B", forKey: "name")
      ada.setValue("C", forKey: "name")
      stack.context.processPendingChanges()
      stack.context.undo()
      #expect(ada.text("name") == "Ada")
      #expect(ada.isInserted)
      stack.context.undo()
      #expect(!manager.canUndo)
      #expect(stack.context.insertedObjects.isEmpty)
    }
  }

  @Test func `changes made while registration is off stay`() throws {
    let stack = try stack(.memory)
    stack.context.performAndWait {
      let ada = stack.context.insert("Author", ["name": "Ada"])
      stack.context.processPendingChanges()
      stack.context.undoManager?.disableUndoRegistration()
      ada.setValue(50, forKey: "age")
      stack.context.processPendingChanges()
      stack.context.undoManager?.enableUndoRegistration()
      ada.setValue("Grace", forKey: "name")
      stack.context.undo()
      #expect(ada.text("name") == "Ada")
      #expect(ada.value(forKey: "age") as? Int == 50)
    }
  }

  @Test func `undo through the manager takes what is pending`() throws {
    let stack = try stack(.memory)
    stack.context.performAndWait {
      let ada = stack.context.insert("Author", ["name": "Ada"])
      stack.context.processPendingChanges()
      ada.setValue("Grace", forKey: "name")
      stack.context.undoManager?.undo()
      #expect(ada.text("name") == "Ada")
      #expect(stack.context.undoManager?.canRedo == true)
    }
  }

  @Test func `rollback clears the undo stack`() throws {
    let stack = try stack(.memory)
    try stack.context.performAndWait {
      let ada = stack.context.insert("Author", ["name": "Ada"])
      try stack.context.save()
      ada.setValue("Grace", forKey: "name")
      stack.context.undo()
      stack.context.rollback()
      stack.context.redo()
      #expect(ada.text("name") == "Ada")
      #expect(stack.context.undoManager?.canUndo == false)
    }
  }

  @Test func `what others save is not undone`() throws {
    let stack = try stack(.memory)
    let other = stack.sibling()
    try stack.context.performAndWait {
      let ada = stack.context.insert("Author", ["name": "Ada"])
      try stack.context.save()
      stack.context.undoManager?.removeAllActions()
      let posted = Posted(.NSManagedObjectContextDidSave, by: other)
      try other.performAndWait {
        other.delete(other.object(with: ada.objectID))
        try other.save()
      }
      stack.context.mergeChanges(
        fromContextDidSave: Notification(
          name: .NSManagedObjectContextDidSave, object: other, userInfo: posted.userInfos.last))
      #expect(ada.isDeleted)
      #expect(stack.context.undoManager?.canUndo == false)
    }
  }
}
