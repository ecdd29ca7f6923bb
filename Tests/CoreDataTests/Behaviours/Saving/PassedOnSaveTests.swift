import CoreData
import Foundation
import Testing

/// What a context tells when it saves on what a child has saved into it.
@Suite struct PassedOnSaveTests {
  /// What happens in the context between the child's save and its own.
  enum Event: CaseIterable, Sendable {
    case nothing, fetched, refreshed, changedThere, insertedThere, deletedThere, savedByAnotherChild,
      rolledBackLater
  }

  private final class Levels {
    let stack: TestStack
    let middle: NSManagedObjectContext
    let child: NSManagedObjectContext
    let objects: Posted
    let ids: Posted

    init() throws {
      stack = try TestStack(.sqlite)
      middle = stack.child(of: stack.root)
      child = stack.child(of: middle)
      objects = Posted(.NSManagedObjectContextDidSave, by: middle)
      ids = Posted(.NSManagedObjectContextDidSaveObjectIDs, by: middle)
    }

    /// The names of a kind of saved objects, and whether their IDs are those that were told.
    func told(_ objectsKey: String, _ idsKey: String) -> Set<String> {
      let told = objects.userInfos.last?[objectsKey] as? Set<NSManagedObject> ?? []
      #expect(ids.userInfos.last?[idsKey] as? Set<NSManagedObjectID> == Set(told.map(\.objectID)))
      #expect(
        told.allSatisfy {
          $0.managedObjectContext === middle || $0.isDeleted || objectsKey == NSDeletedObjectsKey
        })
      return Set(told.map { $0.text("name") ?? "none" })
    }
  }

  @Test(arguments: Event.allCases)
  func `it names all objects, by kind, and their IDs`(_ event: Event) throws {
    let levels = try Levels()
    let (middle, child) = (levels.middle, levels.child)
    let changed = try levels.stack.stored("Author", ["name": "changed"]).objectID
    let deleted = try levels.stack.stored("Author", ["name": "deleted"]).objectID
    let other = try levels.stack.stored("Author", ["name": "other"]).objectID
    var (inserted, updated, gone): (Set<String>, Set<String>, Set<String>) = (
      ["new"], ["changed again"], ["deleted"]
    )
    let new = try child.performAndWait {
      let new = child.insert("Author", ["name": "new"])
      child.object(with: changed).setValue("changed again", forKey: "name")
      child.delete(child.object(with: deleted))
      try child.save()
      return new.objectID
    }
    try middle.performAndWait {
      switch event {
      case .nothing, .rolledBackLater: break
      case .fetched: #expect(try middle.all("Author").count == 3)
      case .refreshed: middle.refreshAllObjects()
      case .changedThere:
        middle.object(with: changed).setValue("changed there", forKey: "name")
        updated = ["changed there"]
      case .insertedThere:
        middle.insert("Author", ["name": "there"])
        inserted = ["new", "there"]
      case .deletedThere:
        middle.delete(middle.object(with: changed))
        (updated, gone) = ([], ["deleted", "changed again"])
      case .savedByAnotherChild:
        let another = levels.stack.child(of: middle)
        try another.performAndWait {
          another.object(with: new).setValue("newer", forKey: "name")
          another.object(with: other).setValue("other again", forKey: "name")
          try another.save()
        }
        (inserted, updated) = (["newer"], ["changed again", "other again"])
      }
      try middle.save()
      #expect(levels.told(NSInsertedObjectsKey, NSInsertedObjectIDsKey) == inserted)
      #expect(levels.told(NSUpdatedObjectsKey, NSUpdatedObjectIDsKey) == updated)
      #expect(levels.told(NSDeletedObjectsKey, NSDeletedObjectIDsKey).count == gone.count)
      #expect(!middle.hasChanges)
      if event == .rolledBackLater { middle.rollback() }
      #expect(
        Set(try middle.all("Author").map { $0.text("name") ?? "none" }).isSuperset(
          of: inserted.union(updated)))
    }
    try levels.stack.root.performAndWait { try levels.stack.root.save() }
    let stored = try levels.stack.fresh { Set(try $0.all("Author").map { $0.text("name") ?? "none" }) }
    #expect(stored.isSuperset(of: inserted.union(updated)) && stored.isDisjoint(with: gone))
  }

  @Test(arguments: [1, 2]) func `it names what many saves have brought, whatever was released meanwhile`(
    _ children: Int
  ) throws {
    let levels = try Levels()
    let middle = levels.middle
    let all = Posted(.NSManagedObjectContextDidSave, by: levels.stack.root)
    for _ in 0..<children {
      let child = levels.stack.child(of: middle)
      try child.performAndWait {
        for _ in 0..<700 { child.insert("Author") }
        try child.save()
      }
      // Turns in which objects without another reference are released.
      for _ in 0..<3 { middle.performAndWait {} }
    }
    try middle.performAndWait { try middle.save() }
    #expect(levels.objects.count(NSInsertedObjectsKey) == 700 * children)
    #expect(levels.ids.count(NSInsertedObjectIDsKey) == 700 * children)
    for _ in 0..<3 { levels.stack.root.performAndWait {} }
    try levels.stack.root.performAndWait { try levels.stack.root.save() }
    #expect(all.count(NSInsertedObjectsKey) == 700 * children)
  }

  @Test func `an object that the root has stored meanwhile is told under the context's own ID`() throws {
    let levels = try Levels()
    let (middle, child) = (levels.middle, levels.child)
    let new = try child.performAndWait {
      let new = child.insert("Author", ["name": "new"])
      try child.save()
      return new
    }
    let own = try middle.performAndWait {
      try middle.save()
      return try #require(try middle.all("Author").first)
    }
    try levels.stack.root.performAndWait { try levels.stack.root.save() }
    try child.performAndWait {
      new.setValue("newer", forKey: "name")
      try child.save()
    }
    try middle.performAndWait {
      try middle.save()
      #expect(levels.told(NSUpdatedObjectsKey, NSUpdatedObjectIDsKey) == ["newer"])
      #expect(own.text("name") == "newer")
    }
  }
}
