import CoreData
import Foundation
import Testing

/// Merging saves whose objects no longer exist.
@Suite struct GoneMeanwhileTests {
  /// Returns a context between the reader and the stores, or none.
  private func reader(_ stack: TestStack) -> NSManagedObjectContext {
    stack.setting.isNested ? stack.child(of: stack.context) : stack.sibling()
  }

  @Test(arguments: Setting.allCases)
  func `an insertion is not shown that was deleted since`(_ setting: Setting) throws {
    let stack = try TestStack(setting)
    let writer = stack.root
    let insertion = try writer.saved { writer.insert("Author", ["name": "Ada"]) }
    let id = try #require(try writer.performAndWait { try writer.all("Author").first?.objectID })
    _ = try writer.saved { writer.delete(writer.object(with: id)) }
    let reader = reader(stack)
    reader.performAndWait {
      reader.retainsRegisteredObjects = true
      reader.mergeChanges(fromContextDidSave: insertion)
      #expect(reader.registeredObjects.isEmpty)
    }
  }

  /// The parent has deleted it since, or rolled back.
  @Test(arguments: Setting.nested, [true, false])
  func `a sibling's insertion that the parent undid is not shown`(_ setting: Setting, isDeleted: Bool)
    throws
  {
    let stack = try TestStack(setting)
    let parent = stack.context
    let sibling = stack.child(of: parent), reader = stack.child(of: parent)
    let insertion = try sibling.saved { sibling.insert("Author", ["name": "Ada"]) }
    try parent.performAndWait {
      if isDeleted { try parent.all("Author").forEach(parent.delete) } else { parent.rollback() }
    }
    reader.performAndWait {
      reader.retainsRegisteredObjects = true
      reader.mergeChanges(fromContextDidSave: insertion)
      #expect(reader.registeredObjects.isEmpty)
    }
  }

  /// It has its permanent ID by then, so that the store would accept the link.
  @Test(arguments: Setting.direct)
  func `a discarded object gets no links from children`(_ setting: Setting) throws {
    let stack = try TestStack(setting)
    let root = stack.root
    let deleter = stack.child(of: root), linker = stack.child(of: root)
    let tag = try stack.stored("Tag").objectID
    let book = try deleter.performAndWait {
      let book = deleter.insert("Book")
      try deleter.save()
      return book
    }
    try root.performAndWait { try root.obtainPermanentIDs(for: root.all("Book")) }
    let linked = try linker.performAndWait { try #require(try linker.all("Book").first) }
    // An observer may retain the posted objects.
    let posted = Posted(.NSManagedObjectContextObjectsDidChange, by: root)
    try root.performAndWait {
      try root.all("Book").forEach(root.delete)
      root.processPendingChanges()
    }
    try deleter.performAndWait {
      deleter.delete(book)
      try deleter.save()
    }
    try linker.performAndWait {
      linker.object(with: tag).setValue(Set([linked]), forKey: "books")
      try linker.save()
    }
    try root.performAndWait { try root.save() }
    stack.fresh { #expect($0.object(with: tag).objects("books").isEmpty) }
    withExtendedLifetime(posted) {}
  }

  /// The context deletes the author, which would cut the link if the book still existed.
  @Test(arguments: Setting.allCases)
  func `a link of what is gone is not looked for`(_ setting: Setting) throws {
    let stack = try TestStack(setting)
    let writer = stack.sibling()
    let author = try stack.stored("Author").objectID, book = try stack.stored("Book").objectID
    let link = try writer.saved {
      writer.object(with: book).setValue(writer.object(with: author), forKey: "author")
    }
    _ = try writer.saved { writer.delete(writer.object(with: book)) }
    let reader = reader(stack)
    reader.performAndWait {
      let gone = reader.object(with: author)
      reader.delete(gone)
      reader.processPendingChanges()
      reader.mergeChanges(fromContextDidSave: link)
      #expect(reader.deletedObjects == [gone])
    }
  }
}
