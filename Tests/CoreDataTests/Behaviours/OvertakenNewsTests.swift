import CoreData
import Foundation
import Testing

/// A link that a child has moved on top of its parent's unsaved change, and meanwhile a sibling of the parent
/// too.
@Suite struct OvertakenNewsTests {
  @Test(arguments: Setting.direct)
  func `the siblings target loses the link`(_ setting: Setting) throws {
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
