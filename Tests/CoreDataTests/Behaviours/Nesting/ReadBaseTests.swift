import Foundation
import Testing

@testable import CoreData

/// Changes of a child to rows that it has read from a store, whose rows have left the cache when its parent saves.
@Suite struct ReadBaseTests {
  /// Stores an author, and lets a child change the name to "Countess" and save into the root context.
  private func changed(_ stack: TestStack) throws -> NSManagedObjectID {
    let id = try stack.stored("Author", ["name": "Ada", "age": 1]).objectID
    stack.root.performAndWait { stack.root.reset() }
    stack.coordinator.rowCache.removeAll()
    let child = stack.child(of: stack.root)
    try child.performAndWait {
      child.object(with: id).setValue("Countess", forKey: "name")
      try child.save()
    }
    stack.coordinator.rowCache.removeAll()
    return id
  }

  /// Saves a change by a sibling of the root context, then the root context. The row is not in the cache.
  private func save(_ stack: TestStack, after change: (NSManagedObjectContext) -> Void) throws {
    let other = stack.sibling()
    try other.performAndWait {
      change(other)
      try other.save()
    }
    stack.coordinator.rowCache.removeAll()
    try stack.root.performAndWait { try stack.root.save() }
  }

  @Test func `a change on a row as read is saved without reading it again`() throws {
    let stack = try TestStack(.sqlite)
    let id = try changed(stack)
    let reads = stack.coordinator.rowReads.load(ordering: .relaxed)
    try stack.root.performAndWait { try stack.root.save() }
    #expect(stack.coordinator.rowReads.load(ordering: .relaxed) == reads)
    let name = try stack.fresh { try $0.existingObject(with: id).text("name") }
    #expect(name == "Countess")
  }

  @Test(arguments: Setting.direct)
  func `a change on a row that others have changed joins theirs`(_ setting: Setting) throws {
    let stack = try TestStack(setting)
    let id = try changed(stack)
    try save(stack) { $0.object(with: id).setValue(99, forKey: "age") }
    stack.root.performAndWait {
      #expect(stack.root.object(with: id).value(forKey: "age") as? Int == 99)
    }
    try stack.fresh {
      let ada = try $0.existingObject(with: id)
      #expect(ada.text("name") == "Countess")
      #expect(ada.value(forKey: "age") as? Int == 99)
    }
  }

  @Test(arguments: Setting.direct)
  func `a change to a row that others have deleted is dropped`(_ setting: Setting) throws {
    let stack = try TestStack(setting)
    let id = try changed(stack)
    try save(stack) { $0.delete($0.object(with: id)) }
    let left = try stack.fresh { try $0.count("Author") }
    #expect(left == 0)
  }
}
