@testable import CoreData
import Foundation
import Testing

@Suite struct SavePipelineTests {
  private func hooked(_ setting: Setting) throws -> TestStack {
    try TestStack(setting, model: HookedAuthor.model())
  }

  @Test(arguments: Setting.allCases)
  func `saving nothing succeeds and says so`(_ setting: Setting) throws {
    let stack = try TestStack(setting)
    let posted = Posted(.NSManagedObjectContextDidSave, by: stack.context)
    try stack.context.performAndWait { try stack.context.save() }
    #expect(posted.userInfos.count == 1)
    #expect(posted.count(NSInsertedObjectsKey) ?? 0 == 0)
    #expect(posted.count(NSUpdatedObjectsKey) ?? 0 == 0)
    #expect(posted.count(NSDeletedObjectsKey) ?? 0 == 0)
  }

  @Test func `saving nothing writes changed metadata`() throws {
    let stack = try TestStack(.sqlite)
    let store = try #require(stack.coordinator.persistentStores.first)
    var metadata = stack.coordinator.metadata(for: store)
    metadata["note"] = "kept"
    stack.coordinator.setMetadata(metadata, for: store)
    try stack.context.performAndWait { try stack.context.save() }
    let read = try NSPersistentStoreCoordinator.metadataForPersistentStore(
      ofType: TestDatabase.type, at: stack.url)
    #expect(read["note"] as? String == "kept")
  }

  @Test(arguments: Setting.allCases)
  func `the steps of a save come in order`(_ setting: Setting) throws {
    let stack = try hooked(setting)
    let order = Order()
    let tokens = [
      Posted(.NSManagedObjectContextObjectsDidChange, by: stack.context) { order.add("change") },
      Posted(.NSManagedObjectContextDidSave, by: stack.context) { order.add("did") },
    ]
    try stack.context.performAndWait {
      let ada = stack.context.hookedAuthor("Ada")
      let book = stack.context.insert("Book", ["author": ada])
      try stack.context.save()
      let bob = stack.context.hookedAuthor("Bob")
      bob.inWillSave = {
        order.add("willSave \($0.objectID.isTemporaryID)")
        #expect(book.isDeleted)
      }
      bob.inDidSave = {
        order.add("didSave \($0.objectID.isTemporaryID) \($0.isInserted) \($0.changedValues().count)")
      }
      stack.context.delete(ada)
      try stack.context.save()
    }
    let isNested = setting.isNested
    #expect(order.words.suffix(4) == ["change", "willSave true", "didSave \(isNested) false 0", "did"])
    withExtendedLifetime(tokens) {}
  }

  @Test(arguments: Setting.allCases)
  func `saving while saving is an error`(_ setting: Setting) throws {
    let stack = try hooked(setting)
    try stack.context.performAndWait {
      let ada = stack.context.hookedAuthor("Ada")
      nonisolated(unsafe) var inner: (any Error)?
      ada.inWillSave = { object in
        do { try object.managedObjectContext?.save() } catch { inner = error }
      }
      try stack.context.save()
      let error = try #require(inner as? CocoaError)
      #expect(error.errorCode == 132001)
      #expect((error.errorUserInfo["message"] as? String)?.contains("recursively") == true)
    }
  }

  @Test(arguments: Setting.allCases)
  func `will save runs once unless it changes something`(_ setting: Setting) throws {
    let stack = try hooked(setting)
    try stack.context.performAndWait {
      let ada = stack.context.hookedAuthor("Ada")
      try stack.context.save()
      #expect(ada.events.filter { $0 == "willSave" }.count == 1)
      ada.events = []
      ada.inWillSave = { object in
        if object.value(forKey: "age") as? Int != 50 { object.setValue(50, forKey: "age") }
      }
      ada.setValue("Grace", forKey: "name")
      try stack.context.save()
      #expect(ada.events == ["willSave", "willSave", "didSave"])
    }
    if setting.isNested { try stack.root.performAndWait { try stack.root.save() } }
    try #expect(stack.fresh { try $0.author(named: "Grace")?.value(forKey: "age") as? Int } == 50)
  }

  @Test(arguments: Setting.allCases)
  func `primitive writes in will save are saved without another pass`(_ setting: Setting) throws {
    let stack = try hooked(setting)
    try stack.context.performAndWait {
      let ada = stack.context.hookedAuthor("Ada")
      ada.inWillSave = { $0.setPrimitiveValue(50, forKey: "age") }
      try stack.context.save()
      #expect(ada.events.filter { $0 == "willSave" }.count == 1)
      ada.inWillSave = nil
    }
    if setting.isNested { try stack.root.performAndWait { try stack.root.save() } }
    try #expect(stack.fresh { try $0.author(named: "Ada")?.value(forKey: "age") as? Int } == 50)
  }

  @Test(arguments: Setting.allCases)
  func `deleted objects are told of the save too`(_ setting: Setting) throws {
    let stack = try hooked(setting)
    try stack.context.performAndWait {
      let ada = stack.context.hookedAuthor("Ada")
      try stack.context.save()
      ada.events = []
      stack.context.delete(ada)
      try stack.context.save()
      #expect(ada.events == ["prepareForDeletion books 0", "willSave deleted", "didSave"])
    }
  }

  @Test(arguments: Setting.allCases)
  func `changes in did save wait for the next save`(_ setting: Setting) throws {
    let stack = try hooked(setting)
    try stack.context.performAndWait {
      let ada = stack.context.hookedAuthor("Ada")
      ada.inDidSave = { $0.setValue(60, forKey: "age") }
      try stack.context.save()
      #expect(stack.context.hasChanges)
      #expect(stack.context.updatedObjects == [ada])
    }
  }

  @Test(arguments: Setting.allCases)
  func `a failed save keeps everything and can be repeated`(_ setting: Setting) throws {
    let model = LibraryModel.make()
    model.entitiesByName["Author"]!.attributesByName["name"]!.isOptional = false
    let stack = try TestStack(setting, model: model)
    try stack.context.performAndWait {
      let good = stack.context.insert("Book", ["title": "kept"])
      let bad = stack.context.insert("Author")
      #expect(throws: CocoaError.self) { try stack.context.save() }
      #expect(stack.context.insertedObjects == [good, bad])
      bad.setValue("Ada", forKey: "name")
      try stack.context.save()
      #expect(!stack.context.hasChanges)
    }
  }

  @Test(arguments: Setting.allCases)
  func `did save lists live objects of each kind`(_ setting: Setting) throws {
    let stack = try TestStack(setting)
    try stack.context.performAndWait {
      let context = stack.context
      let updated = context.insert("Author"), deleted = context.insert("Author")
      try context.save()
      let posted = Posted(.NSManagedObjectContextDidSave, by: context)
      let inserted = context.insert("Author")
      updated.setValue("x", forKey: "name")
      context.delete(deleted)
      try context.save()
      let info = try #require(posted.userInfos.last)
      #expect(info[NSInsertedObjectsKey] as? Set<NSManagedObject> == [inserted])
      #expect(info[NSUpdatedObjectsKey] as? Set<NSManagedObject> == [updated])
      #expect(info[NSDeletedObjectsKey] as? Set<NSManagedObject> == [deleted])
    }
  }

  @Test(arguments: Setting.allCases)
  func `saved IDs are permanent at the root and temporary in a child`(_ setting: Setting) throws {
    let stack = try TestStack(setting)
    let posted = Posted(.NSManagedObjectContextDidSaveObjectIDs, by: stack.context)
    try stack.context.performAndWait {
      stack.context.insert("Author")
      try stack.context.save()
    }
    let ids = posted.userInfos.last?[NSInsertedObjectIDsKey] as? Set<NSManagedObjectID>
    #expect(ids?.map(\.isTemporaryID) == [setting.isNested])
  }

  @Test(arguments: Setting.direct)
  func `a merge is reported by ID`(_ setting: Setting) throws {
    let stack = try TestStack(setting)
    let other = stack.sibling()
    let ids = try stack.root.performAndWait {
      let objects = [stack.root.insert("Author"), stack.root.insert("Author")]
      try stack.root.save()
      return objects.map(\.objectID)
    }
    let held = other.performAndWait {
      let held = ids.map { other.object(with: $0) }
      for object in held { object.willAccessValue(forKey: nil) }
      return held
    }
    let saved = Posted(.NSManagedObjectContextDidSave, by: stack.root)
    let merged = Posted(.NSManagedObjectContextDidMergeChangesObjectIDs, by: other)
    try stack.root.performAndWait {
      for id in ids { stack.root.object(with: id).setValue("x", forKey: "name") }
      stack.root.insert("Author")
      try stack.root.save()
    }
    other.mergeChanges(
      fromContextDidSave: Notification(
        name: .NSManagedObjectContextDidSave, object: stack.root, userInfo: saved.userInfos.last))
    #expect(merged.count(NSInsertedObjectIDsKey) == 1)
    #expect(merged.count(NSUpdatedObjectIDsKey) == 2)
    #expect(merged.count(NSRefreshedObjectIDsKey) == 2)
    #expect(merged.userInfos.last?[NSDeletedObjectIDsKey] == nil)
    withExtendedLifetime(held) {}
  }

  @Test func `a merge tells the IDs of what it deletes, and nothing else`() throws {
    let stack = try TestStack(.sqlite)
    let other = stack.sibling()
    let id = try stack.stored("Author").objectID
    let held = other.performAndWait { other.object(with: id) }
    let saved = Posted(.NSManagedObjectContextDidSave, by: stack.root)
    let merged = Posted(.NSManagedObjectContextDidMergeChangesObjectIDs, by: other)
    try stack.root.performAndWait {
      stack.root.delete(stack.root.object(with: id))
      try stack.root.save()
    }
    other.mergeChanges(
      fromContextDidSave: Notification(
        name: .NSManagedObjectContextDidSave, object: stack.root, userInfo: saved.userInfos.last))
    #expect(merged.userInfos.last?.keys.map { $0 as? String } == [NSDeletedObjectIDsKey])
    #expect(merged.count(NSDeletedObjectIDsKey) == 1)
    withExtendedLifetime(held) {}
  }

  @Test(arguments: Setting.allCases)
  func `a locked object changed elsewhere fails the save`(_ setting: Setting) throws {
    let stack = try TestStack(setting)
    let ada = try stack.context.performAndWait {
      let ada = stack.context.insert("Author", ["name": "Ada"])
      try stack.context.save()
      return ada
    }
    if setting.isNested { try stack.root.performAndWait { try stack.root.save() } }
    let other = stack.sibling()
    stack.context.performAndWait {
      ada.willAccessValue(forKey: nil)
      stack.context.detectConflicts(for: ada)
      #expect(!stack.context.hasChanges)
    }
    try other.performAndWait {
      try other.all("Author").first?.setValue("Grace", forKey: "name")
      try other.save()
    }
    stack.context.performAndWait { _ = stack.context.insert("Tag") }
    let error = #expect(throws: CocoaError.self) { try stack.save() }
    #expect(error?.errorCode == NSManagedObjectMergeError)
    let conflicts = error?.errorUserInfo[NSPersistentStoreSaveConflictsErrorKey] as? [NSMergeConflict]
    #expect(conflicts?.count == 1)
  }

  @Test(arguments: Setting.allCases)
  func `an unchanged locked object lets the save pass`(_ setting: Setting) throws {
    let stack = try TestStack(setting)
    try stack.context.performAndWait {
      let ada = stack.context.insert("Author")
      try stack.context.save()
      stack.context.detectConflicts(for: ada)
      stack.context.insert("Tag")
    }
    try stack.save()
    try #expect(stack.fresh { try $0.count("Tag") } == 1)
  }

  @Test(arguments: Setting.allCases)
  func `permanent IDs obtained early are the ones saved`(_ setting: Setting) throws {
    let stack = try TestStack(setting)
    let id = try stack.context.performAndWait {
      let ada = stack.context.insert("Author")
      try stack.context.obtainPermanentIDs(for: [ada])
      let id = ada.objectID
      #expect(!id.isTemporaryID)
      #expect(ada.isInserted)
      try stack.context.obtainPermanentIDs(for: [ada])
      #expect(ada.objectID == id)
      try stack.context.save()
      #expect(ada.objectID == id)
      return id
    }
    if setting.isNested { try stack.root.performAndWait { try stack.root.save() } }
    try stack.fresh { context in try #expect(context.existingObject(with: id).objectID == id) }
  }

  @Test func `new objects go to the assigned or the first capable store`() throws {
    let two = try TwoStores()
    try two.context.performAndWait {
      let plain = two.context.insert("Author"), assigned = two.context.insert("Author"),
        tag = two.context.insert("Tag")
      two.context.assign(assigned, to: two.rest)
      try two.context.save()
      #expect(plain.objectID.persistentStore === two.people)
      #expect(assigned.objectID.persistentStore === two.rest)
      #expect(tag.objectID.persistentStore === two.rest)
    }
  }

  @Test(arguments: Setting.direct)
  func `merging by itself is off until asked for`(_ setting: Setting) throws {
    let stack = try TestStack(setting)
    let quiet = stack.sibling(), child = stack.child(of: stack.root), automatic = stack.sibling()
    #expect(!quiet.automaticallyMergesChangesFromParent)
    automatic.automaticallyMergesChangesFromParent = true
    let ada = try stack.root.performAndWait {
      let ada = stack.root.insert("Author", ["name": "Ada"])
      try stack.root.save()
      return ada
    }
    let id = ada.objectID
    func realised(_ context: NSManagedObjectContext) -> NSManagedObject {
      context.performAndWait {
        let object = context.object(with: id)
        object.willAccessValue(forKey: nil)
        return object
      }
    }
    let one = realised(quiet), two = realised(child), three = realised(automatic)
    try stack.root.performAndWait {
      ada.setValue("Grace", forKey: "name")
      try stack.root.save()
    }
    #expect(quiet.performAndWait { one.text("name") } == "Ada")
    #expect(child.performAndWait { two.text("name") } == "Ada")
    #expect(automatic.performAndWait { three.text("name") } == "Grace")
  }

  @Test func `the merge policy is an error at first`() {
    let context = NSManagedObjectContext(.privateQueue)
    #expect(context.mergePolicy as AnyObject === NSErrorMergePolicy)
  }

  @Test(arguments: Setting.allCases)
  func `count is what fetch returns`(_ setting: Setting) throws {
    let stack = try TestStack(setting)
    try stack.context.performAndWait {
      for age in 0..<4 { stack.context.insert("Author", ["age": age]) }
      try stack.context.save()
      stack.context.insert("Author", ["age": 9])
      stack.context.delete(try #require(try stack.context.all("Author", by: "age").first))
      let request = NSFetchRequest<NSManagedObject>(entityName: "Author")
      request.predicate = NSPredicate(format: "age > 0")
      try #expect(stack.context.count(for: request) == 4)
      try #expect(stack.context.fetch(request).count == 4)
    }
  }
}
