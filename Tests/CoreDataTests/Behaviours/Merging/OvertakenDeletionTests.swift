import CoreData
import Foundation
import Testing

/// Deletions that a merge, a merge policy or an undo overtakes: what is there again is shown again, with
/// links to what is there.
@Suite struct OvertakenDeletionTests {
  @Test(arguments: Setting.direct)
  func `a deletion that is merged after the row was inserted again`(_ setting: Setting) throws {
    let screen = try Screen(TestStack(setting))
    let (deletion, insertion) = try screen.insertAgain(deleting: screen.deleteElsewhere)
    screen.context.performAndWait {
      screen.context.mergeChanges(fromContextDidSave: insertion)
      screen.context.mergeChanges(fromContextDidSave: deletion)
    }
    try screen.expectStore(["Augusta", "Eve"])
  }

  @Test func `another coordinator's deletion that is merged after the row was inserted again`() throws {
    let screen = try Screen(TestStack(.sqlite))
    let foreign = try screen.stack.otherCoordinator().newContext()
    let (deletion, insertion) = try screen.insertAgain { _ in
      try foreign.saved {
        foreign.delete(
          try #require(try foreign.all("Author", where: NSPredicate(format: "name == 'Ada'")).first))
      }
    }
    screen.context.performAndWait {
      screen.context.mergeChanges(fromContextDidSave: insertion)
      screen.context.mergeChanges(fromContextDidSave: deletion)
    }
    try screen.expectStore(["Augusta", "Eve"])
  }

  @Test(arguments: Setting.direct)
  func `a save that reports an object which it has not written, and others have deleted`(
    _ setting: Setting
  ) throws {
    let screen = try Screen(TestStack(setting))
    let id = try screen.id("Ada")
    let other = screen.stack.sibling()
    try other.performAndWait { try other.existingObject(with: id).setValue("Ada", forKey: "name") }
    let deletion = try screen.deleteElsewhere(id)
    try screen.context.performAndWait {
      screen.context.mergeChanges(fromContextDidSave: deletion)
      try screen.context.save()
    }
    screen.context.automaticallyMergesChangesFromParent = true
    try other.performAndWait { try other.save() }
    try screen.expectStore(["Eve"])
  }

  @Test(arguments: Setting.direct)
  func `a deletion that the merge policy rolls back`(_ setting: Setting) throws {
    let screen = try Screen(TestStack(setting), policy: .rollbackMergePolicyType)
    let id = try screen.id("Ada")
    let book = try screen.context.performAndWait {
      let book = screen.context.insert("Book", ["title": "Notes", "author": screen.context.object(with: id)])
      try screen.context.save()
      return book
    }
    try screen.context.performAndWait {
      let author = screen.context.object(with: id)
      #expect(author.objects("books") == [book])
      screen.context.delete(book)
      screen.context.delete(author)
      screen.context.processPendingChanges()
      try screen.stack.fresh { other in
        try other.existingObject(with: id).setValue("Augusta", forKey: "name")
        try other.existingObject(with: book.objectID).setValue("Letters", forKey: "title")
        try other.save()
      }
      try screen.context.save()
      #expect(author.objects("books") == [book])
    }
    try screen.expectStore(["Augusta", "Eve"])
  }

  @Test(arguments: Setting.direct)
  func `a row that was deleted with its owner is inserted again without a link to it`(_ setting: Setting)
    throws
  {
    let stack = try TestStack(setting)
    let (author, tag) = (
      try stack.stored("Author", ["name": "Ada"]), try stack.stored("Tag", ["name": "maths"])
    )
    let book = try stack.root.performAndWait {
      let book = stack.root.insert("Book", ["title": "Notes", "author": author, "tags": Set([tag])])
      try stack.root.save()
      #expect(tag.objects("books") == [book])
      book.setValue("Letters", forKey: "title")
      return book
    }
    stack.root.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
    try stack.fresh { other in
      other.delete(try other.existingObject(with: author.objectID))
      try other.save()
    }
    try stack.root.performAndWait {
      try stack.root.save()
      #expect(book.object("author") == nil && book.objects("tags").isEmpty)
      #expect(tag.objects("books").isEmpty)
    }
    try stack.fresh { fresh in
      let books = try fresh.all("Book")
      #expect(books.count == 1 && books[0].object("author") == nil)
    }
  }

  @Test(arguments: Setting.direct)
  func `deletions of linked objects that are undone after the save link the new objects`(_ setting: Setting)
    throws
  {
    let stack = try TestStack(setting)
    stack.root.undoManager = UndoManager()
    try stack.root.performAndWait {
      let author = stack.root.insert("Author", ["name": "Ada"])
      let book = stack.root.insert("Book", ["title": "Notes", "author": author])
      author.setValue(author, forKey: "mentor")
      try stack.root.save()
      stack.root.undoManager?.removeAllActions()
      stack.root.delete(author)
      try stack.root.save()
      stack.root.undo()
      try stack.root.save()
      #expect(book.object("author") === author && author.object("mentor") === author)
    }
    try stack.fresh { fresh in
      let (author, book) = (
        try #require(try fresh.all("Author").first), try #require(try fresh.all("Book").first)
      )
      #expect(book.object("author") === author && author.object("mentor") === author)
    }
  }

  @Test(arguments: Setting.direct)
  func `an undone deletion restores no link to an object that others have deleted`(_ setting: Setting) throws
  {
    let stack = try TestStack(setting)
    stack.root.undoManager = UndoManager()
    let author = try stack.stored("Author", ["name": "Ada"])
    try stack.root.performAndWait {
      let book = stack.root.insert("Book", ["title": "Notes", "author": author])
      try stack.root.save()
      stack.root.undoManager?.removeAllActions()
      stack.root.delete(book)
      try stack.root.save()
      try stack.fresh { other in
        other.delete(try other.existingObject(with: author.objectID))
        try other.save()
      }
      stack.root.refresh(author, mergeChanges: false)
      stack.root.undo()
      try stack.root.save()
      #expect(book.object("author") == nil)
    }
    try stack.fresh { fresh in
      let books = try fresh.all("Book")
      #expect(books.count == 1 && books[0].object("author") == nil)
    }
  }
}
