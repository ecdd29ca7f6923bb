import CoreData
import Foundation
import Testing

@Suite struct ConflictPolicyTests {
  /// An author saved by the first of two contexts and changed by both. The second context has not saved its
  /// change.
  private struct Rivals {
    let stack: TestStack
    let one: NSManagedObjectContext
    let two: NSManagedObjectContext
    let mine: NSManagedObject
  }

  private func rivals(
    _ setting: Setting, mine change: (NSManagedObject) throws -> Void,
    theirs: (NSManagedObject) throws -> Void
  ) throws -> Rivals {
    let stack = try TestStack(setting)
    let (one, two) = (stack.root, stack.sibling())
    try one.performAndWait {
      let tags = ["a", "b", "c", "d"].map { one.insert("Tag", ["name": $0]) }
      one.insert("Book", ["title": "Old", "pages": 10, "tags": Set(tags[0...1])])
      one.insert("Author", ["name": "Ada", "age": 36])
      try one.save()
    }
    let mine = try two.performAndWait {
      let mine = try #require(try two.all("Book").first)
      mine.willAccessValue(forKey: nil)
      try change(mine)
      return mine
    }
    try one.performAndWait {
      try theirs(try #require(try one.all("Book").first))
      try one.save()
    }
    return Rivals(stack: stack, one: one, two: two, mine: mine)
  }

  private func titled(_ title: String) -> (NSManagedObject) -> Void {
    { $0.setValue(title, forKey: "title") }
  }

  @Test(arguments: Setting.direct)
  func `the error policy lists what was read and what is there now`(_ setting: Setting) throws {
    let rivals = try rivals(setting, mine: titled("Mine"), theirs: titled("Theirs"))
    try rivals.two.performAndWait {
      let thrown = #expect(throws: CocoaError.self) { try rivals.two.save() }
      let error = try #require(thrown)
      #expect(error.code.rawValue == NSManagedObjectMergeError)
      #expect(error.localizedDescription == "Could not merge changes.")
      #expect(NSPersistentStoreSaveConflictsErrorKey == "conflictList")
      let conflict = try #require((error.userInfo["conflictList"] as? [NSMergeConflict])?.first)
      #expect(conflict.sourceObject === rivals.mine)
      #expect(conflict.objectSnapshot?["title"] as? String == "Old")
      #expect(conflict.cachedSnapshot?["title"] as? String == "Theirs")
      #expect(conflict.persistedSnapshot == nil)
      #expect(conflict.oldVersionNumber == 1)
      #expect(conflict.newVersionNumber == 2)
      #expect(conflict.objectSnapshot?["author"] is NSNull, "to-ones are there, nil as NSNull")
      #expect(conflict.objectSnapshot?["tags"] == nil, "to-manys are not")
    }
  }

  @Test func `a conflict with another coordinator has the persisted values`() throws {
    let stack = try TestStack(.sqlite)
    let other = NSPersistentStoreCoordinator(managedObjectModel: LibraryModel.make())
    try other.addPersistentStore(ofType: TestDatabase.type, configurationName: nil, at: stack.url)
    let foreign = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    foreign.persistentStoreCoordinator = other
    let mine = try stack.root.performAndWait {
      let mine = stack.root.insert("Author", ["name": "Ada"])
      try stack.root.save()
      return mine
    }
    try foreign.performAndWait {
      try #require(try foreign.all("Author").first).setValue("Theirs", forKey: "name")
      try foreign.save()
    }
    try stack.root.performAndWait {
      mine.setValue("Mine", forKey: "name")
      let thrown = #expect(throws: CocoaError.self) { try stack.root.save() }
      let error = try #require(thrown)
      let conflict = try #require((error.userInfo["conflictList"] as? [NSMergeConflict])?.first)
      #expect(conflict.cachedSnapshot?["name"] as? String == "Ada")
      #expect(conflict.persistedSnapshot?["name"] as? String == "Theirs")
      stack.root.mergePolicy = NSMergePolicy.rollback
      try stack.root.save()
      #expect(mine.text("name") == "Theirs")
    }
  }

  @Test(arguments: Setting.direct)
  func `a row that is gone has version zero and no snapshot`(_ setting: Setting) throws {
    let rivals = try rivals(setting, mine: titled("Mine")) { $0.managedObjectContext?.delete($0) }
    try rivals.two.performAndWait {
      let thrown = #expect(throws: CocoaError.self) { try rivals.two.save() }
      let error = try #require(thrown)
      let conflict = try #require((error.userInfo["conflictList"] as? [NSMergeConflict])?.first)
      #expect(conflict.newVersionNumber == 0)
      #expect(conflict.cachedSnapshot == nil)
      #expect(conflict.persistedSnapshot == nil)
    }
  }

  @Test(
    arguments: Setting.direct,
    [
      (NSMergePolicyType.mergeByPropertyStoreTrumpMergePolicyType, "Theirs", 20, 1.5 as Double?),
      (.mergeByPropertyObjectTrumpMergePolicyType, "Mine", 20, 1.5),
      (.overwriteMergePolicyType, "Mine", 10, 1.5), (.rollbackMergePolicyType, "Theirs", 20, nil as Double?),
    ])
  func `policies settle property by property`(
    _ setting: Setting,
    _ expected: (policy: NSMergePolicyType, title: String, pages: Int, price: Double?)
  ) throws {
    let rivals = try rivals(setting) {
      $0.setValue("Mine", forKey: "title")
      $0.setValue(1.5, forKey: "price")
    } theirs: {
      $0.setValue("Theirs", forKey: "title")
      $0.setValue(20, forKey: "pages")
    }
    try rivals.two.performAndWait {
      rivals.two.mergePolicy = NSMergePolicy(merge: expected.policy)
      try rivals.two.save()
      #expect(!rivals.two.hasChanges)
      #expect(rivals.mine.changedValues().isEmpty)
    }
    for context in [rivals.two, rivals.stack.sibling()] {
      try context.performAndWait {
        let book = try #require(try context.all("Book").first)
        #expect(book.text("title") == expected.title)
        #expect(book.value(forKey: "pages") as? Int == expected.pages)
        #expect(book.value(forKey: "price") as? Double == expected.price)
      }
    }
  }

  @Test(
    arguments: Setting.direct,
    [NSMergePolicyType.mergeByPropertyStoreTrumpMergePolicyType, .mergeByPropertyObjectTrumpMergePolicyType])
  func `members added and removed on both sides all count`(_ setting: Setting, _ policy: NSMergePolicyType)
    throws
  {
    func tag(_ name: String, _ book: NSManagedObject) throws -> NSManagedObject {
      let context = try #require(book.managedObjectContext)
      let found = try context.all("Tag", where: NSPredicate(format: "name == %@", name))
      return try #require(found.first)
    }
    let rivals = try rivals(setting) { book in
      book.mutableSetValue(forKey: "tags").remove(try tag("a", book))
      book.mutableSetValue(forKey: "tags").add(try tag("c", book))
    } theirs: { book in
      book.mutableSetValue(forKey: "tags").remove(try tag("b", book))
      book.mutableSetValue(forKey: "tags").add(try tag("d", book))
    }
    try rivals.two.performAndWait {
      rivals.two.mergePolicy = NSMergePolicy(merge: policy)
      try rivals.two.save()
      #expect(Set(rivals.mine.objects("tags").compactMap { $0.text("name") }) == ["c", "d"])
    }
    try rivals.stack.fresh { context in
      let book = try #require(try context.all("Book").first)
      #expect(Set(book.objects("tags").compactMap { $0.text("name") }) == ["c", "d"])
    }
  }

  @Test(
    arguments: Setting.direct,
    [
      (NSMergePolicyType.mergeByPropertyStoreTrumpMergePolicyType, false), (.rollbackMergePolicyType, false),
      (.mergeByPropertyObjectTrumpMergePolicyType, true), (.overwriteMergePolicyType, true),
    ])
  func `an object changed here and deleted elsewhere`(
    _ setting: Setting, _ expected: (policy: NSMergePolicyType, survives: Bool)
  ) throws {
    let rivals = try rivals(setting, mine: titled("Mine")) { $0.managedObjectContext?.delete($0) }
    try rivals.two.performAndWait {
      rivals.two.mergePolicy = NSMergePolicy(merge: expected.policy)
      let id = rivals.mine.objectID
      try rivals.two.save()
      #expect(!rivals.two.hasChanges)
      #expect((rivals.mine.managedObjectContext != nil) == expected.survives)
      if expected.survives { #expect(rivals.mine.objectID == id) }
    }
    try rivals.stack.fresh { context in
      try #expect(context.all("Book").map { $0.text("title") } == (expected.survives ? ["Mine"] : []))
    }
  }

  /// Changes the name of a pupil while others delete the mentor, and expects the pupil to be left without.
  ///
  /// - Parameters:
  ///   - deletesPupil: Whether the others delete the pupil as well.
  ///   - movesBook: Whether a book that the mentor has, and that the others delete, becomes the pupil's.
  private func _expectPupilAlone(
    _ setting: Setting, _ policy: NSMergePolicy, deletesPupil: Bool, readsMentor: Bool = false,
    movesBook: Bool = false
  ) throws {
    let stack = try TestStack(setting)
    let context = stack.sibling()
    context.mergePolicy = policy
    let mentor = try stack.stored("Author", ["name": "Ada"])
    let pupil = try stack.stored("Author", ["name": "Eve", "mentor": mentor])
    let book = movesBook ? try stack.stored("Book", ["author": mentor]) : nil
    try context.performAndWait {
      // The pupil comes before the book, lest the mentor be read along with it.
      context.object(with: pupil.objectID).setValue("Eva", forKey: "name")
      if readsMentor { _ = context.object(with: mentor.objectID).text("name") }
      if let book {
        context.object(with: book.objectID).setValue(context.object(with: pupil.objectID), forKey: "author")
      }
      try stack.root.performAndWait {
        for object in [book, mentor, deletesPupil ? pupil : nil] { object.map(stack.root.delete) }
        try stack.root.save()
      }
      try context.save()
    }
    try stack.fresh { context in
      let authors = try context.all("Author")
      #expect(authors.map { $0.text("name") } == ["Eva"])
      #expect(authors.first?.objectIDs(forRelationshipNamed: "mentor") == [])
    }
  }

  @Test(arguments: Setting.direct)
  func `overwriting restores no link to an object that is gone`(_ setting: Setting) throws {
    try _expectPupilAlone(setting, .overwrite, deletesPupil: false)
  }

  @Test(arguments: Setting.direct)
  func `an object that is inserted again keeps no link to one that was inserted with it`(
    _ setting: Setting
  ) throws {
    let stack = try TestStack(setting)
    let context = stack.sibling()
    context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
    try stack.root.performAndWait {
      stack.root.insert("Book", ["title": "Notes", "author": stack.root.insert("Author", ["name": "Ada"])])
      try stack.root.save()
    }
    try context.performAndWait {
      try #require(try context.all("Book").first).setValue("Letters", forKey: "title")
      try stack.root.performAndWait {
        for entity in ["Book", "Author"] { try stack.root.all(entity).forEach(stack.root.delete) }
        try stack.root.save()
      }
      try context.save()
    }
    try stack.fresh { context in
      let books = try context.all("Book")
      #expect(books.map { $0.text("title") } == ["Letters"])
      #expect(books.first?.objectIDs(forRelationshipNamed: "author") == [])
    }
  }

  @Test(arguments: Setting.direct, [false, true])
  func `an object that is inserted again does not bring back what it links to`(
    _ setting: Setting, readsMentor: Bool
  ) throws {
    try _expectPupilAlone(
      setting, .mergeByPropertyObjectTrump, deletesPupil: true, readsMentor: readsMentor)
  }

  @Test(arguments: Setting.direct)
  func `an object that is inserted again keeps no link to one that is not`(_ setting: Setting) throws {
    // The mentor is among the changed objects, but has nothing to write.
    try _expectPupilAlone(setting, .mergeByPropertyObjectTrump, deletesPupil: true, movesBook: true)
  }

  @Test(
    arguments: Setting.direct,
    [
      (NSMergePolicyType.mergeByPropertyStoreTrumpMergePolicyType, false), (.rollbackMergePolicyType, true),
      (.mergeByPropertyObjectTrumpMergePolicyType, false), (.overwriteMergePolicyType, false),
    ])
  func `an object deleted here and changed elsewhere`(
    _ setting: Setting, _ expected: (policy: NSMergePolicyType, survives: Bool)
  ) throws {
    let rivals = try rivals(setting, mine: { $0.managedObjectContext?.delete($0) }, theirs: titled("Theirs"))
    try rivals.two.performAndWait {
      rivals.two.mergePolicy = NSMergePolicy(merge: expected.policy)
      try rivals.two.save()
      #expect(!rivals.two.hasChanges)
    }
    try rivals.stack.fresh { context in
      try #expect(context.all("Book").map { $0.text("title") } == (expected.survives ? ["Theirs"] : []))
    }
  }

  @Test(arguments: Setting.direct)
  func `deleting what is gone already succeeds`(_ setting: Setting) throws {
    let delete: (NSManagedObject) -> Void = { $0.managedObjectContext?.delete($0) }
    let rivals = try rivals(setting, mine: delete, theirs: delete)
    try rivals.two.performAndWait {
      try rivals.two.save()
      #expect(!rivals.two.hasChanges)
      #expect(rivals.mine.managedObjectContext == nil)
    }
  }

  /// Rolls changes back, and runs a block before the save is repeated.
  private final class Interrupting: NSMergePolicy, @unchecked Sendable {
    // Unchecked: used by one test on one queue.
    var interruption: (() throws -> Void)?

    override func resolve(mergeConflicts list: [Any]) throws {
      try super.resolve(mergeConflicts: list)
      try interruption.take()?()
    }
  }

  @Test(.ofFiles, arguments: Setting.direct, ["tags", "author"])
  func `no link is stored to an object that is deleted while its change is rolled back`(
    _ setting: Setting, _ relationship: String
  ) throws {
    let stack = try TestStack(setting)
    let context = stack.sibling()
    let policy = Interrupting(merge: .rollbackMergePolicyType)
    context.mergePolicy = policy
    let book = try stack.stored("Book", ["title": "Sketches"])
    let target = try stack.stored(relationship == "tags" ? "Tag" : "Author", ["name": "Old"])
    try context.performAndWait {
      let (mine, other) = (context.object(with: book.objectID), context.object(with: target.objectID))
      other.willAccessValue(forKey: nil)
      mine.setValue(relationship == "tags" ? Set([other]) : other, forKey: relationship)
      try stack.root.performAndWait {
        target.setValue("New", forKey: "name")
        try stack.root.save()
      }
      policy.interruption = {
        try stack.root.performAndWait {
          stack.root.delete(target)
          try stack.root.save()
        }
      }
      try context.save()
    }
    try stack.fresh { context in
      let book = try #require(try context.all("Book").first)
      #expect(book.objectIDs(forRelationshipNamed: relationship) == [])
    }
  }

  @Test func `policies have Apple's raw values and singletons`() {
    #expect(NSMergePolicyType.errorMergePolicyType.rawValue == 0)
    #expect(NSMergePolicyType.mergeByPropertyStoreTrumpMergePolicyType.rawValue == 1)
    #expect(NSMergePolicyType.mergeByPropertyObjectTrumpMergePolicyType.rawValue == 2)
    #expect(NSMergePolicyType.overwriteMergePolicyType.rawValue == 3)
    #expect(NSMergePolicyType.rollbackMergePolicyType.rawValue == 4)
    let isSame =
      NSErrorMergePolicy === NSMergePolicy.error && NSMergePolicy.rollback === NSRollbackMergePolicy
    #expect(isSame)
    #expect(NSMergePolicy.mergeByPropertyObjectTrump.mergeType == .mergeByPropertyObjectTrumpMergePolicyType)
    let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    let isDefault = context.performAndWait { (context.mergePolicy as? NSMergePolicy) == NSMergePolicy.error }
    #expect(isDefault)
  }

  @Test(arguments: Setting.direct)
  func `what a policy of ones own changes is saved`(_ setting: Setting) throws {
    let rivals = try rivals(setting) {
      $0.setValue("Mine", forKey: "title")
      $0.setValue(30, forKey: "pages")
    } theirs: {
      $0.setValue("Theirs", forKey: "title")
      $0.setValue(20, forKey: "pages")
    }
    let policy = LargestPages(merge: .mergeByPropertyStoreTrumpMergePolicyType)
    try rivals.two.performAndWait {
      rivals.two.mergePolicy = policy
      try rivals.two.save()
    }
    #expect(policy.calls == ["merge", "locking"])
    try rivals.stack.fresh { context in
      let book = try #require(try context.all("Book").first)
      #expect(book.text("title") == "Theirs")
      #expect(book.value(forKey: "pages") as? Int == 30)
    }
  }

  @Test func `an error of a policy fails the save`() throws {
    let rivals = try rivals(.memory, mine: titled("Mine"), theirs: titled("Theirs"))
    rivals.two.performAndWait {
      rivals.two.mergePolicy = RefusingPolicy(merge: .rollbackMergePolicyType)
      do {
        try rivals.two.save()
        Issue.record("the save should have failed")
      } catch {
        #expect((error as NSError).domain == "Policy")
        #expect(rivals.two.hasChanges)
      }
    }
  }

  @Test(arguments: Setting.direct)
  func `a refreshed version is no conflict`(_ setting: Setting) throws {
    let rivals = try rivals(setting, mine: titled("Mine"), theirs: titled("Theirs"))
    try rivals.two.performAndWait {
      rivals.two.refresh(rivals.mine, mergeChanges: true)
      #expect(rivals.mine.text("title") == "Mine")
      try rivals.two.save()
    }
  }
}

/// The stored values win, but the larger number of pages stays.
final class LargestPages: NSMergePolicy, @unchecked Sendable {
  // Unchecked: used by one test on one queue.
  var calls: [String] = []

  override func resolve(mergeConflicts list: [Any]) throws {
    calls.append("merge")
    try super.resolve(mergeConflicts: list)
  }

  override func resolve(optimisticLockingConflicts list: [NSMergeConflict]) throws {
    calls.append("locking")
    let pages = list.map { $0.sourceObject.value(forKey: "pages") as? Int ?? 0 }
    try super.resolve(optimisticLockingConflicts: list)
    for (conflict, pages) in zip(list, pages) {
      let object = conflict.sourceObject
      object.setValue(max(pages, object.value(forKey: "pages") as? Int ?? 0), forKey: "pages")
    }
  }
}

final class RefusingPolicy: NSMergePolicy, @unchecked Sendable {
  override func resolve(mergeConflicts list: [Any]) throws { throw NSError(domain: "Policy", code: 1) }
}
