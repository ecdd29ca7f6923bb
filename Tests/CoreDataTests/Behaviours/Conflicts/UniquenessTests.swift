import CoreData
import Foundation
import Testing

@Suite struct UniquenessTests {
  private func model() -> NSManagedObjectModel {
    let model = LibraryModel.make()
    model.entitiesByName["Tag"]!.uniquenessConstraints = [["name"]]
    model.entitiesByName["Author"]!.uniquenessConstraints = [["name"]]
    return model
  }

  /// A store with an author "Ada" of age 36 who has one book, and a context that has not read any of it.
  private func stored(_ policy: NSMergePolicy = .error) throws -> (
    TestStack, NSManagedObjectContext, NSManagedObject
  ) {
    let stack = try TestStack(.sqlite, model: model())
    let ada = try stack.root.performAndWait {
      let ada = stack.root.insert("Author", ["name": "Ada", "age": 36])
      stack.root.insert("Book", ["title": "Notes", "author": ada])
      try stack.root.save()
      return ada
    }
    let context = stack.sibling()
    context.performAndWait { context.mergePolicy = policy }
    return (stack, context, ada)
  }

  @Test func `a changed object that takes over a stored key takes a new object with that key as well`() throws
  {
    let (stack, context, ada) = try stored(.mergeByPropertyObjectTrump)
    try stack.root.performAndWait {
      stack.root.insert("Author", ["name": "Bob", "age": 50])
      try stack.root.save()
    }
    try context.performAndWait {
      let bob = try #require(try context.author(named: "Bob"))
      bob.setValue("Ada", forKey: "name")
      context.insert("Author", ["name": "Ada", "age": 7])
      try context.save()
      #expect(try context.count("Author") == 1)
      let left = try #require(try context.all("Author").first)
      #expect(left.objectID == bob.objectID && left.objectID != ada.objectID)
      #expect(left.objects("books").compactMap { $0.text("title") } == ["Notes"])
    }
    try stack.fresh { other in
      let left = try other.all("Author")
      #expect(left.map { $0.text("name") } == ["Ada"])
      #expect(left.first?.value(forKey: "age") as? Int == 7)
      #expect(left.first?.objects("books").count == 1)
    }
  }

  @Test func `constraints default to none and show the parents first`() {
    #expect(NSEntityDescription().uniquenessConstraints.isEmpty)
    let model = LibraryModel.make()
    model.entitiesByName["Publication"]!.uniquenessConstraints = [["title"]]
    model.entitiesByName["Book"]!.uniquenessConstraints = [["isbn"]]
    #expect(model.entitiesByName["Book"]!.uniquenessConstraints as? [[String]] == [["title"], ["isbn"]])
  }

  @Test func `duplicates may exist until saved and are an error then`() throws {
    let (_, context, ada) = try stored()
    try context.performAndWait {
      let second = context.insert("Author", ["name": "Ada", "age": 1])
      #expect(second.isInserted)
      let thrown = #expect(throws: CocoaError.self) { try context.save() }
      let error = try #require(thrown)
      #expect(error.code.rawValue == NSManagedObjectConstraintMergeError)
      let conflict = try #require((error.userInfo["conflictList"] as? [NSConstraintConflict])?.first)
      #expect(conflict.constraint == ["name"])
      #expect(conflict.constraintValues as? [String: String] == ["name": "Ada"])
      #expect(conflict.databaseObject?.objectID == ada.objectID)
      #expect(conflict.databaseSnapshot?["age"] as? Int == 36)
      #expect(conflict.conflictingObjects == [second])
      #expect(conflict.conflictingSnapshots.first?["age"] as? Int == 1)
      #expect(context.hasChanges)
      second.setValue("Grace", forKey: "name")
      try context.save()
    }
  }

  @Test func `duplicates within one context have no database object`() throws {
    let stack = try TestStack(.sqlite, model: model())
    try stack.context.performAndWait {
      let one = stack.context.insert("Author", ["name": "Ada"])
      let two = stack.context.insert("Author", ["name": "Ada"])
      let thrown = #expect(throws: CocoaError.self) { try stack.context.save() }
      let error = try #require(thrown)
      let conflict = try #require((error.userInfo["conflictList"] as? [NSConstraintConflict])?.first)
      #expect(conflict.databaseObject == nil)
      #expect(conflict.databaseSnapshot == nil)
      #expect(Set(conflict.conflictingObjects) == [one, two])
    }
  }

  @Test(arguments: [
    (NSMergePolicyType.mergeByPropertyObjectTrumpMergePolicyType, 1, 36), (.overwriteMergePolicyType, 1, 18),
  ])
  func `a new duplicate whose values win becomes the stored row`(
    _ expected: (policy: NSMergePolicyType, age: Int, ageIfUnset: Int)
  )
    throws
  {
    for isAgeSet in [true, false] {
      let (stack, context, ada) = try stored(NSMergePolicy(merge: expected.policy))
      try context.performAndWait {
        let new = context.insert("Author", ["name": "Ada"])
        if isAgeSet { new.setValue(1, forKey: "age") }
        try context.save()
        #expect(!context.hasChanges)
        #expect(new.objectID == ada.objectID)
        #expect(new.value(forKey: "age") as? Int == (isAgeSet ? expected.age : expected.ageIfUnset))
        #expect(new.objects("books").compactMap { $0.text("title") } == ["Notes"])
        try #expect(context.all("Author") == [new])
      }
      try stack.fresh { fresh in
        let authors = try fresh.all("Author")
        #expect(authors.map(\.objectID) == [ada.objectID])
        #expect(
          authors.first?.value(forKey: "age") as? Int == (isAgeSet ? expected.age : expected.ageIfUnset))
      }
    }
  }

  @Test(arguments: [
    NSMergePolicyType.mergeByPropertyObjectTrumpMergePolicyType, .mergeByPropertyStoreTrumpMergePolicyType,
  ])
  func `what points at the duplicate points at the survivor`(_ policy: NSMergePolicyType) throws {
    for holdsDatabaseObject in [false, true] {
      let (stack, context, ada) = try stored(NSMergePolicy(merge: policy))
      try context.performAndWait {
        let held = holdsDatabaseObject ? context.object(with: ada.objectID) : nil
        let new = context.insert("Author", ["name": "Ada"])
        context.insert("Book", ["title": "New", "author": new])
        try context.save()
        if let held {
          #expect(!held.isDeleted)
          #expect(new.managedObjectContext == nil)
          #expect(held.objects("books").count == 2)
        }
        #expect(!context.hasChanges)
      }
      try stack.fresh { fresh in
        let authors = try fresh.all("Author")
        #expect(authors.count == 1)
        #expect(Set(authors[0].objects("books").compactMap { $0.text("title") }) == ["New", "Notes"])
        for book in try fresh.all("Book") { #expect(book.object("author") == authors[0]) }
      }
    }
  }

  @Test func `the held database object takes the new values`() throws {
    let (_, context, ada) = try stored(.mergeByPropertyObjectTrump)
    try context.performAndWait {
      let held = try context.existingObject(with: ada.objectID)
      context.insert("Author", ["name": "Ada", "age": 1])
      try context.save()
      #expect(held.value(forKey: "age") as? Int == 1)
      #expect(held.objectID == ada.objectID)
    }
  }

  @Test(arguments: [
    NSMergePolicyType.mergeByPropertyObjectTrumpMergePolicyType, .mergeByPropertyStoreTrumpMergePolicyType,
  ])
  func `one of two duplicates in a context survives`(_ policy: NSMergePolicyType) throws {
    let stack = try TestStack(.sqlite, model: model())
    try stack.context.performAndWait {
      stack.context.mergePolicy = NSMergePolicy(merge: policy)
      let one = stack.context.insert("Author", ["name": "Ada", "age": 1])
      let two = stack.context.insert("Author", ["name": "Ada", "age": 2])
      stack.context.insert("Book", ["title": "1", "author": one])
      stack.context.insert("Book", ["title": "2", "author": two])
      try stack.context.save()
      let isLater = policy == .mergeByPropertyObjectTrumpMergePolicyType
      let (survivor, loser) = isLater ? (two, one) : (one, two)
      #expect(survivor.value(forKey: "age") as? Int == (isLater ? 2 : 1))
      #expect(loser.managedObjectContext == nil)
      #expect(survivor.objects("books").count == 2)
      #expect(!stack.context.hasChanges)
    }
    try stack.fresh { context in
      let authors = try context.all("Author")
      #expect(authors.count == 1)
      #expect(authors[0].objects("books").count == 2)
    }
  }

  @Test func `an updated object meets a stored one`() throws {
    let (stack, context, _) = try stored()
    let grace = try context.performAndWait {
      let grace = context.insert("Author", ["name": "Grace", "age": 50])
      try context.save()
      grace.setValue("Ada", forKey: "name")
      context.mergePolicy = NSMergePolicy.mergeByPropertyStoreTrump
      try context.save()
      #expect(grace.text("name") == "Grace", "the stored values stay")
      grace.setValue("Ada", forKey: "name")
      context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
      try context.save()
      return grace
    }
    try stack.fresh { fresh in
      let authors = try fresh.all("Author")
      #expect(authors.map(\.objectID) == [grace.objectID])
      #expect(authors[0].objects("books").count == 1)
    }
  }

  @Test func `an updated object that gives way is announced with the stored values`() throws {
    let (_, context, _) = try stored()
    try context.performAndWait {
      let grace = context.insert("Author", ["name": "Grace", "age": 50])
      try context.save()
      grace.setValue("Ada", forKey: "name")
      context.processPendingChanges()
      context.mergePolicy = NSMergePolicy.mergeByPropertyStoreTrump
      nonisolated(unsafe) var announced: [String: Set<NSManagedObject>] = [:]
      let token = NotificationCenter.default.addObserver(
        forName: .NSManagedObjectContextObjectsDidChange, object: context, queue: nil
      ) { notification in
        for (key, value) in notification.userInfo ?? [:] {
          guard let key = key as? String, let objects = value as? Set<NSManagedObject> else { continue }
          announced[key, default: []].formUnion(objects)
        }
      }
      defer { NotificationCenter.default.removeObserver(token) }
      try context.save()
      context.processPendingChanges()
      #expect(announced[NSRefreshedObjectsKey] == [grace])
      #expect(grace.text("name") == "Grace")
      #expect(!grace.hasChanges)
    }
  }

  @Test func `nil never conflicts`() throws {
    let stack = try TestStack(.sqlite, model: model())
    try stack.context.performAndWait {
      stack.context.insert("Author")
      stack.context.insert("Author")
      try stack.context.save()
      try #expect(stack.context.count("Author") == 2)
    }
  }

  @Test func `the memory store ignores constraints`() throws {
    let stack = try TestStack(.memory, model: model())
    try stack.context.performAndWait {
      stack.context.insert("Author", ["name": "Ada"])
      stack.context.insert("Author", ["name": "Ada"])
      try stack.context.save()
      try #expect(stack.context.count("Author") == 2)
    }
  }

  @Test func `changes of versions are settled before constraints`() throws {
    let (_, context, _) = try stored()
    let policy = CountingPolicy(merge: .mergeByPropertyObjectTrumpMergePolicyType)
    let other = try context.performAndWait {
      context.mergePolicy = policy
      let other = context.insert("Author", ["name": "Other"])
      try context.save()
      return other
    }
    let rival = try #require(context.persistentStoreCoordinator)
    let second = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    second.persistentStoreCoordinator = rival
    try second.performAndWait {
      try second.existingObject(with: other.objectID).setValue(3, forKey: "age")
      try second.save()
    }
    try context.performAndWait {
      other.setValue("Changed", forKey: "name")
      context.insert("Author", ["name": "Ada", "age": 1])
      try context.save()
    }
    #expect(policy.calls == ["locking", "constraint"])
  }

  @Test func `what a policy changes in the survivor is saved`() throws {
    let (stack, context, _) = try stored(SurvivorPolicy(merge: .mergeByPropertyStoreTrumpMergePolicyType))
    try context.performAndWait {
      context.insert("Author", ["name": "Ada", "age": 1])
      try context.save()
    }
    try stack.fresh { fresh in
      let author = try #require(try fresh.all("Author").first)
      #expect(author.value(forKey: "age") as? Int == 37)
    }
  }

  @Test func `duplicates from a child context are settled at the root`() throws {
    let (stack, context, ada) = try stored(.mergeByPropertyObjectTrump)
    let child = stack.child(of: context)
    try child.performAndWait {
      let new = child.insert("Author", ["name": "Ada", "age": 1])
      child.insert("Book", ["title": "New", "author": new])
      try child.save()
    }
    try context.performAndWait { try context.save() }
    try stack.fresh { fresh in
      let authors = try fresh.all("Author")
      #expect(authors.map(\.objectID) == [ada.objectID])
      #expect(authors[0].value(forKey: "age") as? Int == 1)
      #expect(authors[0].objects("books").count == 2)
    }
  }

  @Test func `values may be exchanged in one save`() throws {
    let stack = try TestStack(.sqlite, model: model())
    try stack.context.performAndWait {
      let one = stack.context.insert("Author", ["name": "One"])
      let two = stack.context.insert("Author", ["name": "Two"])
      try stack.context.save()
      one.setValue("Two", forKey: "name")
      two.setValue("One", forKey: "name")
      try stack.context.save()
      stack.context.delete(one)
      stack.context.insert("Author", ["name": "Two"])
      try stack.context.save()
      try #expect(stack.context.count("Author") == 2)
    }
  }

  @Test(
    arguments: [
      NSMergePolicyType.mergeByPropertyStoreTrumpMergePolicyType, .rollbackMergePolicyType,
    ], [true, false])
  func `the insertion that a stored row wins over is left a fault without a context, which shows nothing`(
    _ policy: NSMergePolicyType, isRowInUse: Bool
  ) throws {
    let (stack, context, ada) = try stored(NSMergePolicy(merge: policy))
    let id = ada.objectID
    try context.performAndWait {
      let mine = isRowInUse ? context.object(with: id) : nil
      mine?.willAccessValue(forKey: nil)
      let book = context.insert("Book", ["title": "Sketches"])
      let loser = context.insert("Author", ["name": "Ada", "age": 1, "books": Set([book])])
      let other = context.insert("Author", ["name": "Grace"])
      try context.save()
      #expect(!other.isFault)
      #expect(loser.managedObjectContext == nil)
      #expect(loser.objectID == id)
      #expect(context.registeredObject(for: id) !== loser)
      #expect(loser.value(forKey: "name") == nil)
      #expect(loser.value(forKey: "age") == nil)
      #expect(loser.objects("books").isEmpty)
      loser.setValue("Countess", forKey: "name")
      #expect(loser.isFault)
      #expect(!context.hasChanges)
      #expect(book.object("author")?.objectID == id)
      withExtendedLifetime(mine) {}
    }
    try stack.fresh { fresh in
      #expect(fresh.object(with: id).text("name") == "Ada")
      #expect(Set(fresh.object(with: id).objects("books").map { $0.text("title") }) == ["Notes", "Sketches"])
      #expect(fresh.object(with: id).value(forKey: "age") as? Int == 36)
      try #expect(fresh.count("Author") == 2)
    }
  }
}

final class CountingPolicy: NSMergePolicy, @unchecked Sendable {
  // Unchecked: used by one test on one queue.
  var calls: [String] = []

  override func resolve(optimisticLockingConflicts list: [NSMergeConflict]) throws {
    calls.append("locking")
    try super.resolve(optimisticLockingConflicts: list)
  }

  override func resolve(constraintConflicts list: [NSConstraintConflict]) throws {
    calls.append("constraint")
    try super.resolve(constraintConflicts: list)
  }
}

final class SurvivorPolicy: NSMergePolicy, @unchecked Sendable {
  override func resolve(constraintConflicts list: [NSConstraintConflict]) throws {
    try super.resolve(constraintConflicts: list)
    for conflict in list { conflict.databaseObject?.setValue(37, forKey: "age") }
  }
}
