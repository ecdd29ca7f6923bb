import CoreData
import Testing

/// Insertions that are undone after others have linked objects to what was inserted.
@Suite struct UndoneInsertionTests {
  @Test(arguments: Setting.direct)
  func `an undone deletion leaves no link to an object whose insertion is undone too`(_ setting: Setting)
    throws
  {
    let stack = try TestStack(setting)
    let (main, child) = (stack.root, stack.child(of: stack.root))
    child.automaticallyMergesChangesFromParent = true
    child.undoManager = UndoManager()
    try child.performAndWait {
      child.insert("Author", ["name": "Ada"])
      try child.save()
    }
    try main.performAndWait {
      main.insert("Book", ["title": "Notes"]).setValue(try main.all("Author").first, forKey: "author")
      try main.save()
    }
    try child.performAndWait {
      child.delete(try #require(try child.all("Book").first))
      try child.save()
      // The deletion and the insertion.
      while child.undoManager?.canUndo ?? false { child.undo() }
      let book = try #require(try child.all("Book").first)
      #expect(book.object("author") == nil)
      try child.save()
    }
    try main.performAndWait { try main.save() }
    try stack.fresh { context in
      try #expect(context.all("Author").isEmpty)
      try #expect(context.all("Book").map { $0.text("title") } == ["Notes"])
    }
  }

  @Test(arguments: Setting.allCases)
  func `an object whose insertion is rolled back has no changes and no context`(_ setting: Setting) throws {
    let stack = try TestStack(setting)
    let context = stack.context
    context.performAndWait {
      let object = context.insert("Author", ["name": "Eve"])
      context.rollback()
      #expect(!object.isInserted && !object.isUpdated && !object.isDeleted && !object.hasChanges)
      #expect(object.managedObjectContext == nil)
    }
  }
}
