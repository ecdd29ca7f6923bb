import Foundation
import Testing

@testable import CoreData

/// A child's changes to objects that its parent has not registered when it merges other contexts' saves of
/// them.
@Suite struct UnheldChangeTests {
  /// Stores an author, lets a child rename or delete it, and a sibling change its age, which the parent
  /// merges.
  private func merged(_ stack: TestStack, deleting isDeletion: Bool = false) throws -> NSManagedObjectID {
    let id = try stack.stored("Author", ["name": "Ada", "age": 1]).objectID
    let child = stack.child(of: stack.root)
    try child.performAndWait {
      let ada = child.object(with: id)
      if isDeletion { child.delete(ada) } else { ada.setValue("Countess", forKey: "name") }
      try child.save()
    }
    let sibling = stack.sibling()
    let change = try sibling.saved { sibling.object(with: id).setValue(99, forKey: "age") }
    stack.root.performAndWait {
      stack.root.registry.sweep()
      stack.root.mergeChanges(fromContextDidSave: change)
    }
    return id
  }

  @Test(arguments: Setting.direct)
  func `a change on top of a child's does not conflict with a merge`(_ setting: Setting) throws {
    let stack = try TestStack(setting)
    let id = try merged(stack)
    stack.root.performAndWait {
      let ada = stack.root.object(with: id)
      #expect(ada.value(forKey: "age") as? Int == 99)
      ada.setValue("Lovelace", forKey: "name")
      #expect(throws: Never.self) { try stack.root.save() }
    }
    stack.fresh { context in
      let ada = context.object(with: id)
      #expect(ada.text("name") == "Lovelace")
      #expect(ada.value(forKey: "age") as? Int == 99)
    }
  }

  @Test(arguments: Setting.direct, [false, true])
  func `a rollback goes back to what was merged`(_ setting: Setting, isDeletion: Bool) throws {
    let stack = try TestStack(setting)
    let id = try merged(stack, deleting: isDeletion)
    stack.root.performAndWait {
      stack.root.retainsRegisteredObjects = true
      stack.root.rollback()
      let ada = stack.root.object(with: id)
      #expect(ada.text("name") == "Ada")
      #expect(ada.value(forKey: "age") as? Int == 99)
      ada.setValue(2, forKey: "age")
      #expect(throws: Never.self) { try stack.root.save() }
    }
  }

  /// The child has read an object inserted by a sibling before the parent merges the insertion.
  @Test(arguments: Setting.direct)
  func `an insertion merged late does not hide the childs change`(_ setting: Setting) throws {
    let stack = try TestStack(setting)
    let sibling = stack.sibling()
    let insertion = try sibling.saved { sibling.insert("Author", ["name": "Ada", "age": 1]) }
    let child = stack.child(of: stack.root)
    let id = try child.performAndWait {
      let ada = try #require(try child.all("Author").first)
      ada.setValue("Countess", forKey: "name")
      try child.save()
      return ada.objectID
    }
    try stack.root.performAndWait {
      stack.root.registry.sweep()
      stack.root.retainsRegisteredObjects = true
      stack.root.mergeChanges(fromContextDidSave: insertion)
      let ada = stack.root.object(with: id)
      #expect(ada.text("name") == "Countess")
      try stack.root.save()
      ada.setValue(2, forKey: "age")
      #expect(throws: Never.self) { try stack.root.save() }
    }
  }
}
