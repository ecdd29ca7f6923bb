import CoreData
import Foundation
import Testing

/// Members that two siblings add and remove, with saves by their parent in between.
@Suite struct SiblingMemberTests {
  /// Each of two siblings that have read a tag before adds a book to it; when the parent has saved that, the
  /// first removes its own again.
  @Test(arguments: Setting.direct)
  func `a siblings member is seen though the row is ones own`(_ setting: Setting) throws {
    let stack = try TestStack(setting)
    let (one, two) = (stack.child(of: stack.root), stack.child(of: stack.root))
    let books = try ["Mine", "Theirs"].map { try stack.stored("Book", ["title": $0]).objectID }
    let id = try stack.stored("Tag", ["name": "Tag"]).objectID
    let theirs = try two.performAndWait { try two.existingObject(with: id) }
    let tag = try one.performAndWait {
      let tag = try one.existingObject(with: id)
      tag.setValue(Set([one.object(with: books[0])]), forKey: "books")
      try one.save()
      return tag
    }
    try two.performAndWait {
      theirs.mutableSetValue(forKey: "books").add(two.object(with: books[1]))
      try two.save()
    }
    let first = try stack.root.saved()
    try one.performAndWait {
      tag.mutableSetValue(forKey: "books").remove(one.object(with: books[0]))
      try one.save()
    }
    let second = try stack.root.saved()
    one.performAndWait {
      one.mergeChanges(fromContextDidSave: first)
      one.mergeChanges(fromContextDidSave: second)
      #expect(tag.objects("books").map { $0.text("title") } == ["Theirs"])
    }
    try stack.fresh { context in
      let tag = try #require(try context.all("Tag").first)
      #expect(tag.objects("books").map { $0.text("title") } == ["Theirs"])
    }
  }
}
