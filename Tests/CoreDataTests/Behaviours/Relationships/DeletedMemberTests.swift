import CoreData
import Foundation
import Testing

/// A to-many that is first read after one of its members was deleted in the same context.
@Suite struct DeletedMemberTests {
  /// Creates a book "Old" with a chapter, and a book "New". The context deletes the chapter, an unaware
  /// sibling moves it to "New", and the context merges that move.
  private func moved(_ stack: TestStack, _ body: (NSManagedObject, NSManagedObject) throws -> Void) throws {
    let context = stack.context
    try context.performAndWait {
      let old = context.insert("Book", ["title": "Old"])
      let new = context.insert("Book", ["title": "New"])
      let chapter = context.insert("Chapter", ["heading": "One", "book": old])
      try context.save()
      context.refreshAllObjects()
      context.undoManager?.removeAllActions()
      context.delete(chapter)
      context.processPendingChanges()
      let sibling = stack.sibling()
      let saved = try sibling.performAndWait {
        let other = sibling.object(with: chapter.objectID)
        other.setValue(sibling.object(with: new.objectID), forKey: "book")
        try sibling.save()
        return other.objectID
      }
      NSManagedObjectContext.mergeChanges(
        fromRemoteContextSave: [NSUpdatedObjectsKey: [saved, new.objectID, old.objectID]], into: [context])
      try body(chapter, new)
    }
  }

  private func headings(_ book: NSManagedObject) -> [String?] {
    ((book.value(forKey: "chapters") as? NSOrderedSet)?.array as? [NSManagedObject] ?? [])
      .map { $0.text("heading") }
  }

  @Test(arguments: Setting.direct)
  func `what is deleted here is no member though others made it one`(_ setting: Setting) throws {
    let stack = try TestStack(setting)
    try moved(stack) { _, new in #expect(headings(new) == []) }
  }

  @Test(arguments: Setting.direct)
  func `when its deletion is undone it is a member again`(_ setting: Setting) throws {
    let stack = try TestStack(setting)
    stack.context.performAndWait { stack.context.undoManager = UndoManager() }
    try moved(stack) { chapter, new in
      #expect(headings(new) == [])
      stack.context.undo()
      #expect(!chapter.isDeleted)
      let book = chapter.object("book")
      #expect(book.map { headings($0) } == ["One"])
    }
  }
}
