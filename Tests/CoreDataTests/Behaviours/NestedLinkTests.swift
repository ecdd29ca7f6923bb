import CoreData
import Foundation
import Testing

/// Links that a grandchild and its grandparent both move: the one saved last wins, and at every level both ends know.
@Suite struct NestedLinkTests {
  /// A chapter of the book "First" among books "Second" and "Third", saved.
  private func chapter(_ stack: TestStack) throws -> NSManagedObjectID {
    try stack.root.performAndWait {
      let first = stack.root.insert("Book", ["title": "First"])
      stack.root.insert("Book", ["title": "Second"])
      stack.root.insert("Book", ["title": "Third"])
      let chapter = stack.root.insert("Chapter", ["heading": "One", "book": first])
      try stack.root.save()
      return chapter.objectID
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
  func aLinkMovedBelowAndAboveAContextThatNeverSawItHasTwoEnds(_ setting: Setting) throws {
    let stack = try TestStack(setting)
    let id = try chapter(stack)
    let top = stack.root
    let middle = stack.context
    let bottom = stack.child(of: middle)
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
  func aLinkMovedBackBelowAContextThatMissedItsMoveHasTwoEnds(_ setting: Setting) throws {
    let stack = try TestStack(setting)
    let id = try chapter(stack)
    let top = stack.root
    let middle = stack.context
    let bottom = stack.child(of: middle)
    // The middle one goes on showing the link as it was.
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
}
