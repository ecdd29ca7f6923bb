import CoreData
import Foundation
import Testing

/// Undo and redo of links among objects that were never saved.
@Suite struct UndoLinksTests {
  private func stack(_ setting: Setting) throws -> TestStack {
    let stack = try TestStack(setting)
    stack.context.undoManager = UndoManager()
    stack.context.undoManager?.groupsByEvent = false
    return stack
  }

  /// Returns an unsaved book with a chapter, both deleted and restored by undo.
  private func bookBroughtBack(_ stack: TestStack, withPermanentIDs: Bool) throws -> (
    book: NSManagedObject, chapter: NSManagedObject
  ) {
    let book = stack.context.insert("Book", ["title": "Notes"])
    let chapter = stack.context.insert("Chapter", ["heading": "One", "book": book])
    stack.context.processPendingChanges()
    if withPermanentIDs { try stack.context.obtainPermanentIDs(for: [book, chapter]) }
    stack.context.delete(book)
    stack.context.processPendingChanges()
    stack.context.undo()
    return (book, chapter)
  }

  @Test(arguments: Setting.allCases, [false, true])
  func `an unsaved deletion undone gives the same objects`(_ setting: Setting, _ withPermanentIDs: Bool)
    throws
  {
    let stack = try stack(setting)
    try stack.context.performAndWait {
      let (book, chapter) = try bookBroughtBack(stack, withPermanentIDs: withPermanentIDs)
      #expect(chapter.object("book") === book)
      #expect((book.value(forKey: "chapters") as? NSOrderedSet)?.array as? [NSManagedObject] == [chapter])
      #expect(stack.context.registeredObject(for: book.objectID) === book)
    }
  }

  @Test(arguments: Setting.direct)
  func `undo makes no member of an object whose own end a child has cut`(_ setting: Setting) throws {
    let stack = try TestStack(setting)
    let (main, child) = (stack.root, stack.child(of: stack.root))
    let (one, two) = try (stack.stored("Author", ["name": "1"]), stack.stored("Author", ["name": "2"]))
    let book = try stack.stored("Book", ["author": one])
    let undoManager = UndoManager()
    undoManager.groupsByEvent = false
    try child.performAndWait {
      let own = child.object(with: book.objectID)
      #expect(own.object("author")?.text("name") == "1")
      try main.performAndWait {
        main.undoManager = undoManager
        #expect(two.objects("books").isEmpty)
        book.setValue(two, forKey: "author")
        try main.save()
      }
      own.setValue(nil, forKey: "author")
      try child.save()
    }
    try main.performAndWait {
      try main.save()
      main.undo()
      #expect(two.objects("books").contains(book) == (book.object("author") === two))
      #expect(one.objects("books").contains(book) == (book.object("author") === one))
    }
  }

  @Test(arguments: Setting.allCases, [false, true])
  func `an unsaved deletion undone is saved whole`(_ setting: Setting, _ withPermanentIDs: Bool) throws {
    let stack = try stack(setting)
    try stack.context.performAndWait {
      let (_, chapter) = try bookBroughtBack(stack, withPermanentIDs: withPermanentIDs)
      chapter.object("book")?.setValue("Letters", forKey: "title")
    }
    try stack.save()
    try stack.fresh { context in
      let books = try context.all("Book")
      #expect(books.map { $0.text("title") } == ["Letters"])
      let chapters = try context.all("Chapter")
      #expect(chapters.map { $0.object("book") } == books)
    }
  }
}
