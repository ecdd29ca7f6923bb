import CoreData
import Foundation
import Testing

/// The state after a save that resolved conflicts in the store, and after one that failed.
@Suite struct SettledSaveTests {
  // MARK: Deletions

  /// The deleting context: the saving context itself, under a policy by which its changes win, or a child of
  /// it.
  enum Deleter: CaseIterable {
    case root
    case child
  }

  /// Stores two authors and a book. The first author is deleted; before that is saved, a sibling makes the
  /// second author its pupil and gives it the book.
  private func deleteOverNewLinks(_ stack: TestStack, by deleter: Deleter) throws {
    let ids = try stack.root.performAndWait {
      let objects = [
        stack.root.insert("Author", ["name": "Gone"]), stack.root.insert("Author", ["name": "Pupil"]),
        stack.root.insert("Book", ["title": "Book"]),
      ]
      try stack.root.save()
      if deleter == .root {
        stack.root.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
        stack.root.delete(objects[0])
        stack.root.processPendingChanges()
      }
      return objects.map(\.objectID)
    }
    if deleter == .child {
      let child = stack.child(of: stack.root)
      try child.performAndWait {
        child.delete(child.object(with: ids[0]))
        try child.save()
      }
    }
    let sibling = stack.sibling()
    try sibling.performAndWait {
      sibling.object(with: ids[1]).setValue(sibling.object(with: ids[0]), forKey: "mentor")
      sibling.object(with: ids[2]).setValue(sibling.object(with: ids[0]), forKey: "author")
      try sibling.save()
    }
    try stack.root.performAndWait { try stack.root.save() }
  }

  @Test(arguments: Setting.direct, Deleter.allCases)
  func `a deletion cuts links that others made meanwhile`(_ setting: Setting, _ deleter: Deleter) throws {
    let stack = try TestStack(setting)
    try deleteOverNewLinks(stack, by: deleter)
    try stack.fresh { context in
      let authors = try context.all("Author")
      #expect(authors.map { $0.text("name") } == ["Pupil"])
      #expect(authors.first?.object("mentor") == nil)
    }
  }

  @Test(arguments: Setting.direct, Deleter.allCases)
  func `a deletion cascades to what others linked meanwhile`(_ setting: Setting, _ deleter: Deleter) throws {
    let stack = try TestStack(setting)
    try deleteOverNewLinks(stack, by: deleter)
    let books = try stack.fresh { try $0.count("Book") }
    #expect(books == 0)
  }

  /// The parent has saved links to the object that its child deletes, after the child read them, and keeps
  /// changing it.
  @Test(arguments: Setting.direct)
  func `a child's deletion reaches what its parent saved meanwhile`(_ setting: Setting) throws {
    let stack = try TestStack(setting)
    let root = stack.root
    let id = try stack.stored("Author", ["name": "Gone"]).objectID
    let child = stack.child(of: root)
    let author = child.performAndWait {
      let author = child.object(with: id)
      #expect(author.objects("books").isEmpty && author.objects("pupils").isEmpty)
      return author
    }
    let held = try root.performAndWait {
      root.reset()
      let author = root.object(with: id)
      root.insert("Book", ["author": author])
      root.insert("Author", ["name": "Pupil", "mentor": author])
      try root.save()
      author.setValue(2, forKey: "age")
      return author
    }
    try child.performAndWait {
      child.delete(author)
      try child.save()
    }
    try root.performAndWait { try root.save() }
    try stack.fresh { context in
      #expect(try context.all("Book").isEmpty)
      let authors = try context.all("Author")
      #expect(authors.map { $0.text("name") } == ["Pupil"])
      #expect(authors.first?.object("mentor") == nil)
    }
    withExtendedLifetime(held) {}
  }

  /// The parent has changed the object that its child deletes, and merges the link before it saves: there is
  /// no conflict to resolve.
  @Test(arguments: Setting.direct)
  func `a childs deletion cuts links that its parent merges`(_ setting: Setting) throws {
    let stack = try TestStack(setting)
    let root = stack.root
    let ids = try ["Gone", "Pupil"].map { try stack.stored("Author", ["name": $0]).objectID }
    root.performAndWait { root.object(with: ids[0]).setValue(2, forKey: "age") }
    let child = stack.child(of: root)
    try child.performAndWait {
      child.delete(child.object(with: ids[0]))
      try child.save()
    }
    let sibling = stack.sibling()
    let link = try sibling.saved {
      sibling.object(with: ids[1]).setValue(sibling.object(with: ids[0]), forKey: "mentor")
    }
    try root.performAndWait {
      root.mergeChanges(fromContextDidSave: link)
      try root.save()
    }
    try stack.fresh { context in
      let authors = try context.all("Author")
      #expect(authors.map { $0.text("name") } == ["Pupil"])
      #expect(authors.first?.object("mentor") == nil)
    }
  }

  /// A child's change to the book is rebased on the row that a sibling has stored, without repeating the
  /// sibling's tag as a change.
  @Test(arguments: Setting.direct)
  func `a child's change restores no link to a deleted object`(_ setting: Setting) throws {
    let stack = try TestStack(setting)
    let root = stack.root
    let tag = try stack.stored("Tag").objectID, book = try stack.stored("Book").objectID
    root.performAndWait { root.reset() }
    let child = stack.child(of: root)
    try child.performAndWait {
      child.object(with: book).setValue(7, forKey: "pages")
      try child.save()
    }
    root.performAndWait {
      root.delete(root.object(with: tag))
      root.processPendingChanges()
    }
    let sibling = stack.sibling()
    let link = try sibling.saved {
      sibling.object(with: book).setValue(Set([sibling.object(with: tag)]), forKey: "tags")
    }
    try root.performAndWait {
      root.mergeChanges(fromContextDidSave: link)
      try root.save()
    }
    try stack.fresh { context in
      let book = try #require(try context.all("Book").first)
      #expect(book.value(forKey: "pages") as? Int == 7)
      #expect(book.objects("tags").isEmpty)
    }
  }

  // MARK: Versions

  /// A child has tagged a book that another context has deleted when the parent saves: the tag is saved
  /// without it.
  @Test(arguments: Setting.direct)
  func `what loses a link while it is saved shows what was saved`(_ setting: Setting) throws {
    let stack = try TestStack(setting)
    let root = stack.root
    let (tag, book) = try root.performAndWait {
      let (tag, book) = (root.insert("Tag", ["name": "Tag"]), root.insert("Book", ["title": "Book"]))
      try root.save()
      return (tag, book)
    }
    let child = stack.child(of: root)
    try child.performAndWait {
      child.object(with: tag.objectID).setValue(
        Set([child.object(with: book.objectID)]), forKey: "books")
      try child.save()
    }
    let sibling = stack.sibling()
    try sibling.performAndWait {
      sibling.delete(sibling.object(with: book.objectID))
      try sibling.save()
    }
    try root.performAndWait {
      try root.save()
      #expect(tag.objects("books").isEmpty)
      tag.setValue("Renamed", forKey: "name")
      #expect(throws: Never.self, "the tag is as it is stored") { try root.save() }
    }
  }

  /// After a save that failed and was rolled back, an object that is set to its current value.
  @Test(arguments: Setting.direct)
  func `a failed save leaves nothing to the next`(_ setting: Setting) throws {
    let stack = try TestStack(setting)
    let root = stack.root
    let ada = try stack.stored("Author", ["name": "Ada", "age": 1])
    let sibling = stack.sibling()
    try sibling.performAndWait {
      sibling.object(with: ada.objectID).setValue(2, forKey: "age")
      try sibling.save()
    }
    try root.performAndWait {
      ada.setValue("Lost", forKey: "name")
      #expect(throws: CocoaError.self) { try root.save() }
      root.rollback()
      root.refresh(ada, mergeChanges: false)
      ada.setValue("Other", forKey: "name")
      ada.setValue("Ada", forKey: "name")
      try root.save()
      ada.setValue("Countess", forKey: "name")
      #expect(throws: Never.self, "it has not changed since") { try root.save() }
    }
  }
}
