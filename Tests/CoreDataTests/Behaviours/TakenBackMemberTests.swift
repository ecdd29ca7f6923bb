import CoreData
import Foundation
import Testing

/// Members that a child added, and that its parent removed again before it saved.
@Suite struct TakenBackMemberTests {
  @Test(arguments: Setting.direct)
  func `a member that the parent took back is gone from the child's`(_ setting: Setting) throws {
    let stack = try TestStack(setting)
    let root = stack.root, child = stack.child(of: root)
    let tag = try stack.stored("Tag", ["name": "new"]).objectID
    let book = try stack.stored("Book", ["title": "Notes"]).objectID
    let shown = try child.performAndWait {
      let shown = child.object(with: book)
      shown.setValue(33.0, forKey: "price")
      shown.mutableSetValue(forKey: "tags").add(child.object(with: tag))
      try child.save()
      #expect(shown.objects("tags").count == 1)
      return shown
    }
    // The parent's save reports the price, which the child has, and no change of the tags.
    let save = try root.saved {
      root.object(with: book).mutableSetValue(forKey: "tags").remove(root.object(with: tag))
    }
    child.performAndWait {
      child.mergeChanges(fromContextDidSave: save)
      #expect(shown.objects("tags").isEmpty)
    }
  }
}
