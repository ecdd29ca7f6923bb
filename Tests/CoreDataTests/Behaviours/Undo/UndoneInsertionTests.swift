import Testing

@testable import CoreData

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

  @Test(arguments: Setting.direct, [1, 2, 3])
  func `an insertion that a child deleted and its parent saved so can be undone`(
    _ setting: Setting, _ undos: Int
  ) throws {
    let stack = try TestStack(setting)
    let main = stack.root
    let (list, form) = (stack.child(of: main), stack.child(of: main))
    let detail = stack.child(of: list)
    try form.performAndWait {
      form.insert("Tag", ["name": "Math"])
      try form.save()
    }
    list.undoManager = UndoManager()
    try list.performAndWait {
      let book = list.insert("Book", ["title": "Notes"])
      list.processPendingChanges()
      try detail.performAndWait { detail.delete(try #require(try detail.all("Book").first)) }
      book.setValue(Set(try list.all("Tag")), forKey: "tags")
      list.processPendingChanges()
    }
    try detail.performAndWait { try detail.save() }
    for context in [list, main] { try context.performAndWait { try context.save() } }
    for context in [list, main] {
      try context.performAndWait {
        if context === list { for _ in 0..<undos where list.undoManager?.canUndo ?? false { list.undo() } }
        try context.save()
        #expect(context.inconsistencies.isEmpty)
        #expect(context.registeredObjects.filter(\.isDeleted).isEmpty)
      }
    }
  }

  @Test(arguments: Setting.allCases)
  func `a deletion of an object that was never stored can be undone after a save`(_ setting: Setting) throws {
    let stack = try TestStack(setting)
    let context = stack.context
    context.undoManager = UndoManager()
    try context.performAndWait {
      let object = context.insert("Author", ["name": "Eve"])
      context.processPendingChanges()
      context.undoManager?.removeAllActions()
      context.delete(object)
      context.processPendingChanges()
      try context.save()
      context.undo()
      #expect(object.isInserted && object.managedObjectContext === context)
      try context.save()
      #expect(try context.all("Author").map { $0.text("name") } == ["Eve"])
    }
    try stack.root.performAndWait { try stack.root.save() }
    try stack.fresh { fresh in try #expect(fresh.all("Author").map { $0.text("name") } == ["Eve"]) }
  }
}
