import CoreData
import Foundation
import Testing

/// Changes of a child based on values that its parent discarded, while another context stored others.
@Suite struct UnstoredBaseTests {
  /// Stores an author; a child changes it twice, its parent discards the first change, and another context
  /// saves an age in between. The stored row has the version of the discarded one.
  private func saved(_ stack: TestStack) throws -> NSManagedObjectID {
    let id = try stack.stored("Author", ["name": "Ada", "age": 1]).objectID
    let parent = stack.root
    let child = stack.child(of: parent)
    try child.performAndWait {
      child.object(with: id).setValue("Dropped", forKey: "name")
      try child.save()
      child.object(with: id).setValue("Countess", forKey: "name")
    }
    parent.performAndWait { parent.rollback() }
    let other = stack.sibling()
    try other.performAndWait {
      other.object(with: id).setValue(99, forKey: "age")
      try other.save()
    }
    try child.performAndWait { try child.save() }
    try parent.performAndWait { try parent.save() }
    return id
  }

  @Test(arguments: Setting.direct)
  func `both changes are stored`(_ setting: Setting) throws {
    let stack = try TestStack(setting)
    let id = try saved(stack)
    let context = stack.sibling()
    try context.performAndWait {
      let ada = try context.existingObject(with: id)
      #expect(ada.value(forKey: "name") as? String == "Countess")
      #expect(ada.value(forKey: "age") as? Int == 99)
    }
  }

  @Test(arguments: Setting.direct)
  func `the parent shows what is stored`(_ setting: Setting) throws {
    let stack = try TestStack(setting)
    let id = try saved(stack)
    stack.root.performAndWait {
      #expect(stack.root.object(with: id).value(forKey: "age") as? Int == 99)
    }
  }
}
