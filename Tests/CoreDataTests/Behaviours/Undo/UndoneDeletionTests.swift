import CoreData
import Foundation
import Testing

/// Deletions by a rule that were saved, undone, and made again.
@Suite struct UndoneDeletionTests {
  enum Between: CaseIterable, Sendable {
    case nothing, refreshAll, parentSaves, parentSavesAndRefreshAll
  }

  @Test(arguments: Setting.direct)
  func `an object that reappears keeps no link to one that others have deleted`(_ setting: Setting) throws {
    let stack = try TestStack(setting)
    let (main, child) = (stack.root, stack.child(of: stack.root))
    main.mergePolicy = NSMergePolicy.mergeByPropertyStoreTrump
    child.undoManager = UndoManager()
    let mentor = try stack.stored("Author", ["name": "Ada"])
    let pupil = try stack.stored("Author", ["name": "Eve", "mentor": mentor])
    try child.performAndWait {
      child.delete(child.object(with: pupil.objectID))
      try child.save()
    }
    try main.performAndWait {
      try main.save()
      main.delete(mentor)
      try main.save()
    }
    try child.performAndWait {
      child.undo()
      try child.save()
    }
    try main.performAndWait { try main.save() }
    try stack.fresh { context in
      let authors = try context.all("Author")
      #expect(authors.map { $0.text("name") } == ["Eve"])
      #expect(authors.first?.objectIDs(forRelationshipNamed: "mentor") == [])
    }
  }

  @Test(arguments: Setting.direct, [false, true])
  func `an object that a child has linked to itself refers to itself again`(
    _ setting: Setting, _ hasMet: Bool
  ) throws {
    let stack = try TestStack(setting)
    let (parent, id) = (stack.sibling(), try stack.stored("Author", ["name": "Ada"]).objectID)
    parent.undoManager = UndoManager()
    let known = try parent.performAndWait { hasMet ? try parent.existingObject(with: id) : nil }
    let child = stack.child(of: parent)
    try child.performAndWait {
      let own = try child.existingObject(with: id)
      own.setValue(own, forKey: "mentor")
      try child.save()
    }
    try parent.performAndWait {
      let ada = try parent.existingObject(with: id)
      #expect(known == nil || known === ada)
      parent.delete(ada)
      parent.undo()
      #expect(ada.object("mentor") === ada)
      #expect(ada.objects("pupils") == [ada])
      try parent.save()
      #expect(ada.objects("pupils") == [ada])
    }
    #expect(try stack.fresh { try $0.all("Author").first?.objects("pupils").count } == 1)
  }

  @Test(arguments: Setting.direct)
  func `undo of a link does not bring back the former target, which others have deleted`(
    _ setting: Setting
  ) throws {
    let stack = try TestStack(setting)
    let (main, child, other) = (stack.root, stack.child(of: stack.root), stack.sibling())
    main.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
    let undoManager = UndoManager()
    undoManager.groupsByEvent = false
    let mentor = try stack.stored("Author", ["name": "Ada"])
    let former = mentor.objectID
    let next = try stack.stored("Author", ["name": "Mary"]).objectID
    let pupil = try stack.stored("Author", ["name": "Eve", "mentor": mentor]).objectID
    main.performAndWait { main.reset() }
    try child.performAndWait {
      child.undoManager = undoManager
      let own = child.object(with: pupil)
      own.willAccessValue(forKey: nil)
      let deletion = try other.saved { other.delete(other.object(with: former)) }
      own.setValue(child.object(with: next), forKey: "mentor")
      try child.save()
      child.mergeChanges(fromContextDidSave: deletion)
      child.undo()
      try child.save()
    }
    try main.performAndWait { try main.save() }
    try stack.fresh { context in
      try #expect(Set(context.all("Author").compactMap { $0.text("name") }) == ["Mary", "Eve"])
      try #expect(context.all("Author").count == 2)
    }
  }

  @Test(arguments: [Setting.sqlite, .memory], Between.allCases)
  func `no member of an object that is deleted again stays behind`(
    _ setting: Setting, _ between: Between
  ) throws {
    let stack = try TestStack(setting)
    let child = stack.child(of: stack.root)
    child.automaticallyMergesChangesFromParent = true
    child.undoManager = UndoManager()
    child.undoManager?.groupsByEvent = false
    let author = try stack.stored("Author", ["name": "Ada"])
    let book = try stack.stored("Book", ["title": "Notes"])
    try stack.root.performAndWait {
      book.setValue(author, forKey: "author")
      try stack.root.save()
    }
    try child.performAndWait {
      let own = child.object(with: author.objectID)
      #expect(own.text("name") == "Ada")
      child.delete(own)
      child.processPendingChanges()
      #expect(child.deletedObjects.count == 2)
      try child.save()
      if between == .parentSaves || between == .parentSavesAndRefreshAll {
        try stack.root.performAndWait { try stack.root.save() }
      }
      if between == .refreshAll || between == .parentSavesAndRefreshAll { child.refreshAllObjects() }
      child.undo()
      #expect(child.insertedObjects.count == 2)
      let again = try #require(child.insertedObjects.first { $0.entity.name == "Author" })
      #expect(again.objects("books").map { $0.text("title") } == ["Notes"])
      child.delete(again)
      child.processPendingChanges()
      #expect(child.insertedObjects.count == 0)
      try child.save()
    }
    try stack.root.performAndWait { try stack.root.save() }
    try stack.fresh { context in
      try #expect(context.all("Author").isEmpty)
      try #expect(context.all("Book").isEmpty)
    }
  }

  @Test(arguments: Setting.allCases)
  func `a deletion that was saved is undone with its members`(_ setting: Setting) throws {
    let stack = try TestStack(setting)
    let context = stack.context
    context.undoManager = UndoManager()
    context.undoManager?.groupsByEvent = false
    context.performAndWait {
      let author = context.insert("Author", ["name": "Ada"])
      for title in ["First", "Second"] {
        let book = context.insert("Book", ["title": title, "author": author])
        book.setValue(NSSet(object: context.insert("Tag", ["name": title])), forKey: "tags")
        context.insert("Chapter", ["heading": title, "book": book])
      }
    }
    try stack.save()
    try context.performAndWait {
      context.delete(try context.all("Author")[0])
      context.processPendingChanges()
    }
    try stack.save()
    context.performAndWait { context.undo() }
    try stack.save()
    try stack.fresh { context in
      let authors = try context.all("Author")
      #expect(authors.map { $0.objects("books").count } == [2])
      for book in try context.all("Book", by: "title") {
        #expect(book.object("author") == authors[0])
        #expect(book.objects("tags").map { $0.text("name") } == [book.text("title")])
        let chapters = (book.value(forKey: "chapters") as? NSOrderedSet)?.array as? [NSManagedObject]
        #expect(chapters?.map { $0.text("heading") } == [book.text("title")])
      }
    }
  }
}

/// Undoing the change of a to-one that a child has changed since.
@Suite struct UndoUnderChildTests {
  @Test(arguments: [Setting.sqlite, .memory])
  func `both ends follow`(_ setting: Setting) throws {
    let stack = try TestStack(setting)
    let parent = stack.root
    parent.undoManager = UndoManager()
    parent.undoManager?.groupsByEvent = false
    let child = stack.child(of: parent)
    let (ada, charles) = (
      try stack.stored("Author", ["name": "Ada"]), try stack.stored("Author", ["name": "Charles"])
    )
    parent.performAndWait {
      ada.setValue(charles, forKey: "mentor")
      parent.processPendingChanges()
    }
    try child.performAndWait {
      let own = child.object(with: ada.objectID)
      own.setValue(own, forKey: "mentor")
      try child.save()
    }
    try parent.performAndWait {
      #expect(ada.object("mentor") === ada)
      try parent.save()
      // The child's change is the last one.
      parent.undo()
      #expect(ada.object("mentor") === charles)
      #expect(ada.objects("pupils") == [])
      #expect(charles.objects("pupils") == [ada])
      try parent.save()
    }
    try stack.fresh { context in
      let (ada, charles) = (
        try context.all("Author", by: "name")[0], try context.all("Author", by: "name")[1]
      )
      #expect(ada.object("mentor") == charles)
      #expect(ada.objects("pupils") == [])
      #expect(charles.object("mentor") == nil)
      #expect(charles.objects("pupils") == [ada])
    }
  }
}
