import Foundation
import TestSupport
import Testing

@testable import CoreData

/// An object that is deleted, or whose row is gone, stays in no list: a results controller, and a mirror
/// built only from change notifications, agree with the store.
@Suite struct GhostTests {
  @Test(
    arguments: Setting.direct,
    [
      NSMergePolicyType.errorMergePolicyType, .rollbackMergePolicyType,
      .mergeByPropertyStoreTrumpMergePolicyType,
      .mergeByPropertyObjectTrumpMergePolicyType, .overwriteMergePolicyType,
    ])
  func `a child's change of a row that others deleted, saved before the deletion is merged`(
    _ setting: Setting, _ policy: NSMergePolicyType
  ) throws {
    let screen = try Screen(TestStack(setting), policy: policy)
    let id = try screen.id("Ada")
    try screen.changeInChild(id) { $0.setValue("Augusta", forKey: "name") }
    let deletion = try screen.deleteElsewhere(id)
    try screen.expectStore(["Eve"], savingBefore: deletion)
  }

  @Test(arguments: Setting.direct)
  func `a child's deletion of a row that others deleted`(_ setting: Setting) throws {
    let screen = try Screen(TestStack(setting))
    let id = try screen.id("Ada")
    try screen.changeInChild(id) { $0.managedObjectContext?.delete($0) }
    let deletion = try screen.deleteElsewhere(id)
    try screen.expectStore(["Eve"], savingBefore: deletion)
  }

  @Test(arguments: Setting.direct)
  func `an insertion that is merged after the object was deleted`(_ setting: Setting) throws {
    let screen = try Screen(TestStack(setting))
    let other = screen.stack.sibling()
    let insertion = try other.saved { other.insert("Author", ["name": "Bob", "age": 1]) }
    let id = try #require((insertion.userInfo?[NSInsertedObjectsKey] as? Set<NSManagedObject>)?.first)
      .objectID
    screen.context.performAndWait {
      screen.context.delete(screen.context.object(with: id))
      screen.context.processPendingChanges()
      screen.context.mergeChanges(fromContextDidSave: insertion)
    }
    #expect(screen.names == ["Ada", "Eve"])
    try screen.context.performAndWait { try screen.context.save() }
    try screen.expectStore(["Ada", "Eve"])
  }

  @Test(arguments: Setting.direct)
  func `an update that is merged after this context deleted its row`(_ setting: Setting) throws {
    let screen = try Screen(TestStack(setting), policy: .mergeByPropertyObjectTrumpMergePolicyType)
    let id = try screen.id("Ada")
    let other = screen.stack.sibling()
    let update = try other.saved { try other.existingObject(with: id).setValue("Augusta", forKey: "name") }
    screen.context.performAndWait { screen.context.delete(screen.context.object(with: id)) }
    try screen.expectStore(["Eve"], savingBefore: update)
  }

  @Test(arguments: Setting.direct)
  func `an update that is merged after a child's deletion of its row was saved`(_ setting: Setting) throws {
    let screen = try Screen(TestStack(setting), policy: .mergeByPropertyObjectTrumpMergePolicyType)
    let id = try screen.id("Ada")
    let other = screen.stack.sibling()
    let update = try other.saved { try other.existingObject(with: id).setValue("Augusta", forKey: "name") }
    try screen.changeInChild(id) { $0.managedObjectContext?.delete($0) }
    try screen.expectStore(["Eve"], savingBefore: update)
  }

  @Test(arguments: Setting.direct, [NSInsertedObjectIDsKey, NSUpdatedObjectIDsKey])
  func `a change that is merged by ID after its row was deleted`(_ setting: Setting, _ key: String) throws {
    let screen = try Screen(TestStack(setting))
    let id = try screen.id("Ada")
    _ = try screen.deleteElsewhere(id)
    NSManagedObjectContext.mergeChanges(fromRemoteContextSave: [key: [id]], into: [screen.context])
    try screen.context.performAndWait { try screen.context.save() }
    try screen.expectStore(["Eve"])
  }

  @Test(arguments: Setting.direct)
  func `an insertion that is merged by ID after its row was deleted, of an unregistered object`(
    _ setting: Setting
  ) throws {
    let screen = try Screen(TestStack(setting))
    let other = screen.stack.sibling()
    let insertion = try other.saved { other.insert("Author", ["name": "Bob", "age": 1]) }
    let id = try #require((insertion.userInfo?[NSInsertedObjectsKey] as? Set<NSManagedObject>)?.first)
      .objectID
    _ = try screen.deleteElsewhere(id)
    NSManagedObjectContext.mergeChanges(
      fromRemoteContextSave: [NSInsertedObjectIDsKey: [id]], into: [screen.context])
    try screen.expectStore(["Ada", "Eve"])
  }

  @Test(arguments: Setting.direct)
  func `an update of a row that others deleted is merged by ID into an object with changes`(
    _ setting: Setting
  ) throws {
    let screen = try Screen(TestStack(setting), policy: .mergeByPropertyObjectTrumpMergePolicyType)
    let id = try screen.id("Ada")
    _ = try screen.deleteElsewhere(id)
    try screen.context.performAndWait {
      screen.context.object(with: id).setValue("Augusta", forKey: "name")
      NSManagedObjectContext.mergeChanges(
        fromRemoteContextSave: [NSUpdatedObjectIDsKey: [id]], into: [screen.context])
      // The merge policy decides: the change wins, and the object is inserted anew.
      try screen.context.save()
    }
    try screen.expectStore(["Augusta", "Eve"])
  }

  // MARK: Rollback and undo

  @Test(arguments: Setting.direct, [false, true])
  func `a deletion by others stays when the context is rolled back`(
    _ setting: Setting, deletedHereToo: Bool
  ) throws {
    let screen = try Screen(TestStack(setting))
    let id = try screen.id("Ada")
    if deletedHereToo {
      screen.context.performAndWait {
        screen.context.delete(screen.context.object(with: id))
        screen.context.processPendingChanges()
      }
    }
    let deletion = try screen.deleteElsewhere(id)
    screen.context.performAndWait {
      screen.context.mergeChanges(fromContextDidSave: deletion)
      screen.context.rollback()
    }
    try screen.expectStore(["Eve"])
  }

  @Test(arguments: Setting.direct)
  func `a deletion by others that is merged by ID stays when the context is rolled back`(
    _ setting: Setting
  ) throws {
    let screen = try Screen(TestStack(setting))
    let id = try screen.id("Ada")
    _ = try screen.deleteElsewhere(id)
    screen.context.performAndWait {
      NSManagedObjectContext.mergeChanges(
        fromRemoteContextSave: [NSDeletedObjectIDsKey: [id]], into: [screen.context])
      screen.context.rollback()
    }
    try screen.expectStore(["Eve"])
  }

  @Test(arguments: Setting.direct)
  func `a row that is missing when its object is read stays away when the context is rolled back`(
    _ setting: Setting
  ) throws {
    let screen = try Screen(TestStack(setting))
    let id = try screen.id("Ada")
    _ = try screen.deleteElsewhere(id)
    screen.context.performAndWait {
      let ada = screen.context.object(with: id)
      screen.context.refresh(ada, mergeChanges: false)
      #expect(ada.text("name") == nil)
      screen.context.rollback()
    }
    try screen.expectStore(["Eve"])
  }

  @Test(arguments: Setting.direct)
  func `a deletion that is undone after others deleted the row inserts the object anew`(
    _ setting: Setting
  ) throws {
    let screen = try Screen(TestStack(setting))
    screen.context.undoManager = UndoManager()
    let id = try screen.id("Ada")
    screen.context.performAndWait {
      screen.context.delete(screen.context.object(with: id))
      screen.context.processPendingChanges()
    }
    let deletion = try screen.deleteElsewhere(id)
    try screen.context.performAndWait {
      screen.context.mergeChanges(fromContextDidSave: deletion)
      screen.context.undo()
      try screen.context.save()
    }
    #expect(screen.names == ["Ada", "Eve"])
    let stored = try screen.stack.fresh { try $0.all("Author", by: "name").map { $0.text("name") } }
    #expect(stored == ["Ada", "Eve"])
  }

  // MARK: Late saves

  @Test(arguments: Setting.direct)
  func `an update that is merged after the deletion of its object`(_ setting: Setting) throws {
    let screen = try Screen(TestStack(setting))
    let id = try screen.id("Ada")
    let other = screen.stack.sibling()
    let update = try other.saved { try other.existingObject(with: id).setValue("Augusta", forKey: "name") }
    let deletion = try screen.deleteElsewhere(id)
    try screen.context.performAndWait {
      screen.context.mergeChanges(fromContextDidSave: deletion)
      try screen.context.save()
      screen.context.mergeChanges(fromContextDidSave: update)
    }
    try screen.expectStore(["Eve"])
  }

  @Test(.ofFiles) func `another coordinator's update that is merged after the deletion of its object`() throws
  {
    let screen = try Screen(TestStack(.sqlite))
    let id = try screen.id("Ada")
    let foreign = try screen.stack.otherCoordinator().newContext()
    let update = try foreign.saved {
      let ada = try #require(try foreign.all("Author", where: NSPredicate(format: "name == 'Ada'")).first)
      ada.setValue("Augusta", forKey: "name")
    }
    let deletion = try screen.deleteElsewhere(id)
    try screen.context.performAndWait {
      screen.context.mergeChanges(fromContextDidSave: deletion)
      try screen.context.save()
      screen.context.mergeChanges(fromContextDidSave: update)
    }
    try screen.expectStore(["Eve"])
  }

  @Test func `another coordinator's insertion that is merged after the deletion of its object`() throws {
    let screen = try Screen(TestStack(.sqlite))
    let foreign = try screen.stack.otherCoordinator().newContext()
    let insertion = try foreign.saved { foreign.insert("Author", ["name": "Bob", "age": 1]) }
    try screen.stack.fresh { other in
      other.delete(try #require(try other.all("Author", where: NSPredicate(format: "name == 'Bob'")).first))
      try other.save()
    }
    screen.context.performAndWait { screen.context.mergeChanges(fromContextDidSave: insertion) }
    try screen.expectStore(["Ada", "Eve"])
  }

  // MARK: Inserted again

  @Test(arguments: Setting.direct, [false, true])
  func `a row that is inserted again after its deletion was merged`(_ setting: Setting, saved: Bool) throws {
    let screen = try Screen(TestStack(setting))
    let (deletion, insertion) = try screen.insertAgain(deleting: screen.deleteElsewhere)
    try screen.context.performAndWait {
      screen.context.mergeChanges(fromContextDidSave: deletion)
      if saved { try screen.context.save() }
      screen.context.mergeChanges(fromContextDidSave: insertion)
    }
    try screen.expectStore(["Augusta", "Eve"])
  }

  @Test(arguments: Setting.direct)
  func `a row that is inserted again after it was deleted here too`(_ setting: Setting) throws {
    let screen = try Screen(TestStack(setting), policy: .overwriteMergePolicyType)
    let id = try screen.id("Ada")
    screen.context.performAndWait { screen.context.delete(screen.context.object(with: id)) }
    let (deletion, insertion) = try screen.insertAgain(deleting: screen.deleteElsewhere)
    try screen.context.performAndWait {
      screen.context.mergeChanges(fromContextDidSave: deletion)
      screen.context.mergeChanges(fromContextDidSave: insertion)
      try screen.context.save()
    }
    try screen.expectStore(["Eve"])
  }

  @Test(arguments: Setting.direct)
  func `a parent's deletion that a grandparent rolls back`(_ setting: Setting) throws {
    let stack = try TestStack(setting)
    let id = try stack.stored("Author", ["name": "Ada"]).objectID
    let parent = stack.child(of: stack.root), child = stack.child(of: parent)
    child.automaticallyMergesChangesFromParent = true
    let ada = try child.performAndWait { try child.existingObject(with: id) }
    try parent.performAndWait {
      parent.delete(try parent.existingObject(with: id))
      try parent.save()
    }
    child.performAndWait { #expect(ada.isDeleted) }
    stack.root.performAndWait { stack.root.rollback() }
    parent.performAndWait {}
    try child.performAndWait {
      #expect(!ada.isDeleted && ada.text("name") == "Ada")
      #expect(!child.hasChanges)
      let authors = try child.all("Author")
      #expect(authors == [ada])
    }
  }

  /// Who deletes an object that a context has read before it merges the insertion.
  enum Deleter: CaseIterable, Sendable {
    case sibling, otherCoordinator
    /// Known by its ID only, as of another process.
    case otherProcess
  }

  @Test(arguments: [Setting.sqlite], Deleter.allCases)
  func `an insertion that is read and changed before it is merged, and that others delete`(
    _ setting: Setting, _ deleter: Deleter
  ) throws {
    let screen = try Screen(TestStack(setting))
    let (stack, context) = (screen.stack, screen.context)
    context.automaticallyMergesChangesFromParent = true
    let inserter = stack.sibling()
    var other = stack.sibling()
    if deleter != .sibling {
      other = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
      other.persistentStoreCoordinator = try stack.otherCoordinator()
    }
    // The merge of the insertion waits for the end of this block.
    try context.performAndWait {
      _ = try inserter.saved { inserter.insert("Author", ["name": "Bob", "age": 1]) }
      let bob = try #require(try context.all("Author").first { $0.text("name") == "Bob" })
      bob.setValue(2, forKey: "age")
      context.processPendingChanges()
      let id = bob.objectID
      let deletion = try other.saved { try other.delete(other.existingObject(with: id)) }
      #expect(throws: (any Error).self) { try context.save() }
      context.rollback()
      switch deleter {
      case .sibling: break
      case .otherCoordinator: context.mergeChanges(fromContextDidSave: deletion)
      case .otherProcess:
        NSManagedObjectContext.mergeChanges(
          fromRemoteContextSave: [NSInsertedObjectIDsKey: [id]], into: [context])
      }
    }
    try context.performAndWait { try context.save() }
    try screen.expectStore(["Ada", "Eve"])
  }
}
