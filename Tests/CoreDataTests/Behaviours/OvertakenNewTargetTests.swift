import CoreData
import Foundation
import Testing

/// A link moved by a child, and meanwhile by its parent to an object that it has just inserted.
@Suite struct OvertakenNewTargetTests {
  @Test(arguments: Setting.direct)
  func `the new object loses the link`(_ setting: Setting) throws {
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
}
