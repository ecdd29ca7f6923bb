@testable import CoreData
import Foundation
import Testing

@Suite struct PendingChangesTests {
  @Test(arguments: Setting.allCases)
  func `each change is announced once`(_ setting: Setting) throws {
    let stack = try TestStack(setting)
    let log = NotificationLog(stack.context)
    stack.context.performAndWait {
      stack.context.insert("Author")
      stack.context.processPendingChanges()
      stack.context.processPendingChanges()
    }
    #expect(log.changes == ["inserted 1"])
  }

  @Test(arguments: Setting.allCases)
  func `what a handler changes while a rollback announces is rolled back and not announced again`(
    _ setting: Setting
  ) throws {
    let stack = try TestStack(setting)
    try stack.context.performAndWait {
      let ada = stack.context.insert("Author", ["name": "Ada"])
      nonisolated(unsafe) let bob = stack.context.insert("Author", ["name": "Bob"])
      nonisolated(unsafe) var isChanged = false
      try stack.context.save()
      ada.setValue("Augusta", forKey: "name")
      let handler = Posted(.NSManagedObjectContextObjectsDidChange, by: stack.context) {
        if !isChanged { bob.setValue("Robert", forKey: "name") }
        isChanged = true
      }
      stack.context.rollback()
      withExtendedLifetime(handler) {}
    }
    let log = NotificationLog(stack.context)
    stack.context.performAndWait { stack.context.processPendingChanges() }
    #expect(log.changes == [])
    try stack.context.performAndWait {
      let names = try stack.context.all("Author").map { $0.value(forKey: "name") as? String ?? "-" }
      #expect(names.sorted() == ["Ada", "Bob"])
    }
  }

  @Test(arguments: Setting.allCases)
  func `an insertion that is rolled back keeps its values and members`(_ setting: Setting) throws {
    let stack = try TestStack(setting)
    stack.context.performAndWait {
      let ada = stack.context.insert("Author", ["name": "Ada"])
      stack.context.insert("Book", ["title": "One", "author": ada])
      stack.context.rollback()
      #expect(ada.managedObjectContext == nil)
      #expect(ada.value(forKey: "name") as? String == "Ada")
      #expect((ada.value(forKey: "books") as? Set<NSManagedObject>)?.count == 1)
    }
  }

  @Test func `a main context announces a turns changes together`() async throws {
    let stack = try TestStack(.memory)
    let main = NSManagedObjectContext(.mainQueue)
    main.persistentStoreCoordinator = stack.coordinator
    let log = NotificationLog(main)
    await MainActor.run {
      main.insert("Author")
      main.insert("Author")
      #expect(log.changes.isEmpty)
    }
    await withCheckedContinuation { continuation in DispatchQueue.main.async { continuation.resume() } }
    #expect(log.changes == ["inserted 2"])
  }

  @Test(arguments: Setting.allCases)
  func `saving announces changes then will save then did save`(_ setting: Setting) throws {
    let stack = try TestStack(setting)
    let order = Order()
    let tokens = [
      Posted(.NSManagedObjectContextObjectsDidChange, by: stack.context) { order.add("change") },
      Posted(.NSManagedObjectContextWillSave, by: stack.context) { order.add("will") },
      Posted(.NSManagedObjectContextDidSave, by: stack.context) { order.add("did") },
      Posted(.NSManagedObjectContextDidSaveObjectIDs, by: stack.context) { order.add("ids") },
    ]
    try stack.context.performAndWait {
      stack.context.insert("Author")
      try stack.context.save()
    }
    #expect(order.words == ["change", "will", "did", "ids"])
    withExtendedLifetime(tokens) {}
  }

  @Test(arguments: Setting.allCases)
  func `announcements hold exactly the sets that are not empty`(_ setting: Setting) throws {
    let stack = try TestStack(setting)
    let posted = Posted(.NSManagedObjectContextObjectsDidChange, by: stack.context)
    func keys() -> Set<String> {
      Set(posted.userInfos.last?.keys.compactMap { $0.base as? String } ?? []).subtracting([
        "managedObjectContext"
      ])
    }
    try stack.context.performAndWait {
      let context = stack.context
      let ada = context.insert("Author"), bob = context.insert("Author")
      context.processPendingChanges()
      #expect(keys() == ["inserted"])
      try context.save()
      ada.setValue("Ada", forKey: "name")
      context.delete(bob)
      context.processPendingChanges()
      #expect(keys() == ["updated", "deleted"])
      try context.save()
      context.refresh(ada, mergeChanges: false)
      #expect(keys() == ["refreshed"])
    }
  }

  @Test func `names and keys are Apple's`() {
    #expect(NSManagedObjectContext.didChangeObjectsNotification == .NSManagedObjectContextObjectsDidChange)
    #expect(NSManagedObjectContext.willSaveObjectsNotification == .NSManagedObjectContextWillSave)
    #expect(NSManagedObjectContext.didSaveObjectsNotification == .NSManagedObjectContextDidSave)
    #expect(NSManagedObjectContext.didSaveObjectIDsNotification == .NSManagedObjectContextDidSaveObjectIDs)
    #expect(
      NSManagedObjectContext.didMergeChangesObjectIDsNotification
        == .NSManagedObjectContextDidMergeChangesObjectIDs)
    typealias Key = NSManagedObjectContext.NotificationKey
    let keys: [(Key, String)] = [
      (.insertedObjects, "inserted"), (.updatedObjects, "updated"), (.deletedObjects, "deleted"),
      (.refreshedObjects, "refreshed"), (.invalidatedObjects, "invalidated"),
      (.invalidatedAllObjects, "invalidatedAll"),
      (.insertedObjectIDs, NSInsertedObjectIDsKey), (.updatedObjectIDs, NSUpdatedObjectIDsKey),
      (.deletedObjectIDs, NSDeletedObjectIDsKey), (.refreshedObjectIDs, NSRefreshedObjectIDsKey),
      (.invalidatedObjectIDs, NSInvalidatedObjectIDsKey),
    ]
    for (key, text) in keys { #expect(key.rawValue == text) }
    #expect(Key.queryGeneration.rawValue == NSManagedObjectContextQueryGenerationKey)
  }

  @Test func `the context is the notifications object and in its user info`() throws {
    let stack = try TestStack(.memory)
    nonisolated(unsafe) var seen: Notification?
    let token = NotificationCenter.default.addObserver(
      forName: .NSManagedObjectContextObjectsDidChange, object: stack.context, queue: nil
    ) { seen = $0 }
    stack.context.performAndWait {
      stack.context.insert("Author")
      stack.context.processPendingChanges()
    }
    NotificationCenter.default.removeObserver(token)
    #expect(seen?.object as AnyObject === stack.context)
    #expect(seen?.userInfo?["managedObjectContext"] != nil)
  }

  @Test(arguments: Setting.allCases)
  func `a link announces both its ends`(_ setting: Setting) throws {
    let stack = try TestStack(setting)
    let posted = Posted(.NSManagedObjectContextObjectsDidChange, by: stack.context)
    try stack.context.performAndWait {
      let ada = stack.context.insert("Author"), book = stack.context.insert("Book")
      try stack.context.save()
      book.setValue(ada, forKey: "author")
      stack.context.processPendingChanges()
      #expect(posted.userInfos.last?[NSUpdatedObjectsKey] as? Set<NSManagedObject> == [ada, book])
    }
  }

  @Test(arguments: Setting.direct)
  func `what is merged is announced as refreshed`(_ setting: Setting) throws {
    let stack = try TestStack(setting)
    let other = stack.sibling()
    other.automaticallyMergesChangesFromParent = true
    let ids = try stack.root.performAndWait {
      let one = stack.root.insert("Author"), two = stack.root.insert("Author")
      try stack.root.save()
      return (one.objectID, two.objectID)
    }
    other.performAndWait {}
    let held = other.performAndWait {
      let held = [other.object(with: ids.0), other.object(with: ids.1)]
      for object in held { object.willAccessValue(forKey: nil) }
      return held
    }
    let log = NotificationLog(other)
    try stack.root.performAndWait {
      stack.root.insert("Author")
      stack.root.object(with: ids.0).setValue("Ada", forKey: "name")
      stack.root.delete(stack.root.object(with: ids.1))
      try stack.root.save()
    }
    other.performAndWait {}
    #expect(log.changes == ["inserted 1, deleted 1, refreshed 1"])
    withExtendedLifetime(held) {}
  }
}
