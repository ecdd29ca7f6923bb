import CoreData
import Foundation
import Testing

/// Links that a grandchild and its grandparent both move: the last save wins, and both ends agree at every
/// level.
@Suite struct NestedLinkTests {
  /// Three contexts, each the parent of the next.
  private struct Family {
    let top: NSManagedObjectContext
    let middle: NSManagedObjectContext
    let bottom: NSManagedObjectContext
    /// A saved chapter of the book "First"; the other books are "Second" and "Third".
    let chapter: NSManagedObjectID
    private let _stack: TestStack

    init(_ setting: Setting) throws {
      _stack = try TestStack(setting)
      (top, middle, bottom) = (_stack.root, _stack.context, _stack.child(of: _stack.context))
      chapter = try top.performAndWait { [top] in
        let first = top.insert("Book", ["title": "First"])
        top.insert("Book", ["title": "Second"])
        top.insert("Book", ["title": "Third"])
        let chapter = top.insert("Chapter", ["heading": "One", "book": first])
        try top.save()
        return chapter.objectID
      }
    }
  }

  private func book(_ title: String, _ context: NSManagedObjectContext) throws -> NSManagedObject {
    try #require(context.all("Book", where: NSPredicate(format: "title == %@", title)).first)
  }

  private func headings(_ title: String, _ context: NSManagedObjectContext) throws -> [String?] {
    let chapters = try book(title, context).value(forKey: "chapters") as? NSOrderedSet
    return (chapters?.array as? [NSManagedObject] ?? []).map { $0.text("heading") }
  }

  @Test(arguments: Setting.nested)
  func `a link moved below and above an unaware context has two ends`(_ setting: Setting) throws {
    let family = try Family(setting)
    let (top, middle, bottom, id) = (family.top, family.middle, family.bottom, family.chapter)
    try bottom.performAndWait { try bottom.object(with: id).setValue(book("Third", bottom), forKey: "book") }
    try top.performAndWait {
      try top.object(with: id).setValue(book("Second", top), forKey: "book")
      #expect(try headings("Second", top) == ["One"])
    }
    try bottom.performAndWait { try bottom.save() }
    try middle.performAndWait { try middle.save() }
    try top.performAndWait {
      #expect(top.object(with: id).object("book")?.text("title") == "Third")
      try #expect(headings("First", top) == [])
      try #expect(headings("Second", top) == [])
      try #expect(headings("Third", top) == ["One"])
    }
  }

  @Test(arguments: Setting.nested)
  func `a link moved back below an unaware context has two ends`(_ setting: Setting) throws {
    let family = try Family(setting)
    let (top, middle, bottom, id) = (family.top, family.middle, family.bottom, family.chapter)
    // The middle context still shows the old link.
    let held = middle.performAndWait { middle.object(with: id) }
    middle.performAndWait { #expect(held.object("book")?.text("title") == "First") }
    try top.performAndWait { try top.object(with: id).setValue(book("Second", top), forKey: "book") }
    try bottom.performAndWait {
      #expect(bottom.object(with: id).object("book")?.text("title") == "Second")
      try bottom.object(with: id).setValue(book("First", bottom), forKey: "book")
      try bottom.save()
    }
    try middle.performAndWait { try middle.save() }
    try top.performAndWait {
      #expect(top.object(with: id).object("book")?.text("title") == "First")
      try #expect(headings("First", top) == ["One"])
      try #expect(headings("Second", top) == [])
    }
    middle.performAndWait { #expect(held.object("book")?.text("title") == "First") }
  }

  /// The context in between has changed the author itself, and does not have the book registered.
  @Test(arguments: Setting.direct)
  func `a link to the root's unsaved object is cut from the bottom`(setting: Setting) throws {
    let stack = try TestStack(setting)
    let top = stack.root, middle = stack.child(of: top), bottom = stack.child(of: middle)
    let author = try stack.stored("Author", ["name": "Ada"]).objectID
    let book = top.performAndWait { top.insert("Book", ["title": "B", "author": top.object(with: author)]) }
    middle.performAndWait { middle.object(with: author).setValue(36, forKey: "age") }
    try bottom.performAndWait {
      try #require(bottom.all("Book").first).setValue(nil, forKey: "author")
      try bottom.save()
    }
    middle.performAndWait { #expect(middle.object(with: author).objects("books").isEmpty) }
    try middle.performAndWait { try middle.save() }
    try top.performAndWait {
      #expect(book.object("author") == nil)
      #expect(top.object(with: author).objects("books").isEmpty)
      try top.save()
      #expect(top.object(with: author).objects("books").isEmpty)
    }
  }

  @Test(arguments: Setting.direct)
  func `a new object of the parent loses the link that the child has moved`(_ setting: Setting) throws {
    let stack = try TestStack(setting)
    let parent = stack.child(of: stack.root)
    let child = stack.child(of: parent)
    let chapter = try stack.stored("Chapter", ["heading": "One"]).objectID
    let second = try stack.stored("Book", ["title": "Second"]).objectID
    child.performAndWait {
      child.object(with: chapter).setValue(child.object(with: second), forKey: "book")
    }
    let saved = try parent.saved {
      parent.insert("Book", ["title": "New"])
        .setValue(NSOrderedSet(object: parent.object(with: chapter)), forKey: "chapters")
    }
    try child.performAndWait {
      child.mergeChanges(fromContextDidSave: saved)
      try child.save()
    }
    try parent.performAndWait { try parent.save() }
    try stack.root.performAndWait {
      let new = try #require(
        try stack.root.all("Book", where: NSPredicate(format: "title == 'New'")).first)
      try stack.root.save()
      #expect((new.value(forKey: "chapters") as? NSOrderedSet)?.count == 0)
      #expect(stack.root.object(with: chapter).object("book")?.objectID == second)
    }
  }

  @Test(arguments: Setting.direct)
  func `the target of a sibling's save loses the link that a child has moved`(_ setting: Setting) throws {
    let stack = try TestStack(setting)
    let parent = stack.child(of: stack.root)
    let sibling = stack.child(of: stack.root)
    let child = stack.child(of: parent)
    let ids = try ["Pupil", "Mine", "Theirs"].map { try stack.stored("Author", ["name": $0]).objectID }
    let theirs = stack.root.performAndWait { stack.root.object(with: ids[2]) }
    stack.root.performAndWait { #expect(theirs.objects("pupils").isEmpty) }
    parent.performAndWait { parent.object(with: ids[0]).setValue(27, forKey: "age") }
    child.performAndWait {
      child.object(with: ids[0]).setValue(child.object(with: ids[1]), forKey: "mentor")
    }
    try sibling.performAndWait {
      sibling.object(with: ids[0]).setValue(sibling.object(with: ids[2]), forKey: "mentor")
      try sibling.save()
    }
    for context in [child, parent, stack.root] { try context.performAndWait { try context.save() } }
    stack.root.performAndWait {
      let authors = ids.map { stack.root.object(with: $0) }
      #expect(authors[0].object("mentor") === authors[1])
      #expect(authors[1].objects("pupils") == [authors[0]])
      #expect(theirs.objects("pupils").isEmpty)
    }
  }
}
