import CoreData
import Foundation
import Testing

@Suite struct ObjectValueTests {
  @Test(arguments: Setting.allCases)
  func `a new objects changes are what was assigned`(_ setting: Setting) throws {
    let stack = try TestStack(setting)
    let author = stack.context.performAndWait {
      let author = stack.context.insert("Author")
      #expect(author.changedValues().isEmpty, "defaults are no changes")
      author.setValue("Ada", forKey: "name")
      #expect(author.changedValues() as? [String: String] == ["name": "Ada"])
      return author
    }
    try stack.save()
    stack.context.performAndWait { #expect(author.changedValues().isEmpty) }
  }

  @Test(arguments: Setting.allCases)
  func `committed values stay at the last save`(_ setting: Setting) throws {
    let stack = try TestStack(setting)
    let author = stack.context.performAndWait {
      let author = stack.context.insert("Author", ["name": "Ada"])
      #expect(author.committedValues(forKeys: ["name"]).isEmpty)
      return author
    }
    try stack.save()
    stack.context.performAndWait {
      #expect(author.committedValues(forKeys: ["name"])["name"] as? String == "Ada")
      author.setValue("B", forKey: "name")
      author.setValue("C", forKey: "name")
      #expect(author.committedValues(forKeys: ["name"])["name"] as? String == "Ada")
      #expect(author.changedValues()["name"] as? String == "C")
    }
    try stack.save()
    stack.context.performAndWait {
      #expect(author.committedValues(forKeys: ["name"])["name"] as? String == "C")
    }
  }

  @Test(arguments: Setting.direct)
  func `all committed values leave out unread to-manys`(_ setting: Setting) throws {
    let stack = try TestStack(setting)
    try stack.context.performAndWait {
      stack.context.insert("Author", ["name": "Ada"])
      try stack.context.save()
    }
    try stack.fresh { context in
      let author = try #require(try context.all("Author").first)
      let all = author.committedValues(forKeys: nil)
      #expect(Set(all.keys) == ["name", "age", "mentor"])
      #expect(all["mentor"] is NSNull)
      #expect(author.hasFault(forRelationshipNamed: "books"))
      author.setValue("Eve", forKey: "name")
      _ = author.changedValues()
      #expect(author.hasFault(forRelationshipNamed: "books"))
    }
  }

  @Test(arguments: Setting.allCases)
  func `values of the current event are the old ones`(_ setting: Setting) throws {
    let stack = try TestStack(setting)
    let author = stack.context.performAndWait { stack.context.insert("Author", ["name": "Ada"]) }
    try stack.save()
    stack.context.performAndWait {
      author.setValue("Eve", forKey: "name")
      #expect(author.changedValuesForCurrentEvent()["name"] as? String == "Ada")
      stack.context.processPendingChanges()
      #expect(author.changedValuesForCurrentEvent().isEmpty)
    }
  }

  @Test(arguments: Setting.allCases)
  func `primitives bypass tracking and inverses`(_ setting: Setting) throws {
    let stack = try TestStack(setting)
    let (author, book) = stack.context.performAndWait {
      (stack.context.insert("Author", ["name": "Ada"]), stack.context.insert("Book"))
    }
    try stack.save()
    stack.context.performAndWait {
      author.setPrimitiveValue("Eve", forKey: "name")
      #expect(author.changedValues().isEmpty)
      #expect(author.primitiveValue(forKey: "name") as? String == "Eve")
      book.setPrimitiveValue(author, forKey: "author")
      #expect(author.objects("books").isEmpty)
    }
  }

  @Test func `custom accessors bracket primitives`() throws {
    let model = LibraryModel.make()
    model.entitiesByName["Author"]!.managedObjectClassName = NSStringFromClass(AccessorAuthor.self)
    let stack = try TestStack(.memory, model: model)
    try stack.context.performAndWait {
      let author = try #require(stack.context.insert("Author") as? AccessorAuthor)
      try stack.context.save()
      author.name = "Ada"
      #expect(author.name == "Ada")
      #expect(author.isUpdated)
      #expect(author.changedValues() as? [String: String] == ["name": "Ada"])
      try stack.context.save()
    }
    try stack.fresh { context in
      let author = try #require(try context.all("Author").first as? AccessorAuthor)
      #expect(author.name == "Ada", "the accessor fills the fault")
      #expect(
        author.value(forKey: "name") as? String == "ADA", "an override of value(forKey:) is asked first")
    }
  }

  @Test(arguments: Setting.allCases)
  func `to-manys are sets that do not write through`(_ setting: Setting) throws {
    let stack = try TestStack(setting)
    stack.context.performAndWait {
      let author = stack.context.insert("Author")
      let book = stack.context.insert("Book")
      let chapter = stack.context.insert("Chapter")
      book.mutableOrderedSetValue(forKey: "chapters").add(chapter)
      author.mutableSetValue(forKey: "books").add(book)
      #expect(author.value(forKey: "books") as? Set<NSManagedObject> == [book])
      #expect((book.value(forKey: "chapters") as? NSOrderedSet)?.array as? [NSManagedObject] == [chapter])
      #expect(book.object("author") === author, "the proxy keeps the inverse")
      author.mutableSetValue(forKey: "books").remove(book)
      #expect(book.object("author") == nil)
    }
  }

  @Test(arguments: Setting.allCases)
  func `a whole new set is compared with the old`(_ setting: Setting) throws {
    let stack = try TestStack(setting)
    let (author, books) = stack.context.performAndWait {
      let books = (0..<3).map { stack.context.insert("Book", ["title": "\($0)"]) }
      return (stack.context.insert("Author", ["books": Set(books[0...1])]), books)
    }
    try stack.save()
    stack.context.performAndWait {
      author.setValue(Set([books[1], books[2]]), forKey: "books")
      #expect(books[0].object("author") == nil)
      #expect(books[2].object("author") === author)
      #expect(!books[1].hasChanges)
      #expect(books[0].isUpdated && books[2].isUpdated && author.isUpdated)
    }
  }

  @Test(arguments: Setting.allCases)
  func `both ends change at once`(_ setting: Setting) throws {
    let stack = try TestStack(setting)
    let (one, two, book) = stack.context.performAndWait {
      let one = stack.context.insert("Author")
      return (one, stack.context.insert("Author"), stack.context.insert("Book", ["author": one]))
    }
    try stack.save()
    stack.context.performAndWait {
      book.setValue(two, forKey: "author")
      #expect(one.objects("books").isEmpty)
      #expect(two.objects("books") == [book])
      #expect(one.isUpdated && two.isUpdated && book.isUpdated)
    }
  }

  @Test func `every way to change a live collection writes through`() throws {
    let stack = try TestStack(.memory)
    stack.context.performAndWait {
      let book = stack.context.insert("Book")
      let chapters = (0..<4).map { stack.context.insert("Chapter", ["heading": "\($0)"]) }
      let ordered = book.mutableOrderedSetValue(forKey: "chapters")
      func headings() -> [String] {
        (book.value(forKey: "chapters") as? NSOrderedSet)?.array.compactMap {
          ($0 as? NSManagedObject)?.text("heading")
        } ?? []
      }
      ordered.addObjects(from: Array(chapters[0...2]))
      #expect(headings() == ["0", "1", "2"])
      ordered.insert(chapters[3], at: 0)
      #expect(headings() == ["3", "0", "1", "2"])
      ordered.exchangeObject(at: 0, withObjectAt: 3)
      #expect(headings() == ["2", "0", "1", "3"])
      ordered.moveObjects(at: IndexSet(integer: 0), to: 3)
      #expect(headings() == ["0", "1", "3", "2"])
      ordered.remove(chapters[1])
      ordered.removeObject(at: 0)
      #expect(headings() == ["3", "2"])
      #expect(chapters[0].object("book") == nil)
      ordered.sort { one, two in
        ((one as? NSManagedObject)?.text("heading") ?? "")
          < ((two as? NSManagedObject)?.text("heading") ?? "")
          ? .orderedAscending : .orderedDescending
      }
      #expect(headings() == ["2", "3"])
      ordered.removeAllObjects()
      #expect(headings().isEmpty)

      let author = stack.context.insert("Author")
      let books = (0..<3).map { _ in stack.context.insert("Book") }
      let set = author.mutableSetValue(forKey: "books")
      set.addObjects(from: books)
      #expect(author.objects("books") == Set(books))
      set.intersect(Set(books[0...1]))
      #expect(author.objects("books") == Set(books[0...1]))
      set.minus(Set([books[0]]))
      set.union(Set([books[2]]))
      #expect(author.objects("books") == Set(books[1...2]))
      #expect(books[0].object("author") == nil)
      set.removeAllObjects()
      #expect(author.objects("books").isEmpty && set.count == 0)
    }
  }

  @Test func `relating objects of two stores fails the save`() throws {
    let model = LibraryModel.make()
    model.setEntities(["Author"].map { model.entitiesByName[$0]! }, forConfigurationName: "A")
    model.setEntities(
      ["Publication", "Book", "Novel", "Tag", "Chapter"].map { model.entitiesByName[$0]! },
      forConfigurationName: "B")
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    let directory = FileManager.default.temporaryDirectory.appendingPathComponent("coredata-test-\(UUID())")
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: directory) }
    for name in ["A", "B"] {
      try coordinator.addPersistentStore(
        ofType: TestDatabase.type, configurationName: name,
        at: TestDatabase.place(directory.appendingPathComponent(name)))
    }
    let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = coordinator
    context.performAndWait {
      context.insert("Book", ["author": context.insert("Author")])
      let error = #expect(throws: CocoaError.self) { try context.save() }
      #expect(error?.code.rawValue == NSManagedObjectExternalRelationshipError)
    }
  }

  @Test(arguments: Setting.allCases)
  func `an explicit nil stands against the default`(_ setting: Setting) throws {
    let stack = try TestStack(setting)
    stack.context.performAndWait {
      let author = stack.context.insert("Author")
      #expect(author.value(forKey: "age") as? Int == 18)
      author.setValue(nil, forKey: "age")
      #expect(author.value(forKey: "age") == nil)
    }
    try stack.save()
    try stack.fresh { try #expect($0.all("Author").first?.value(forKey: "age") == nil) }
  }

  // MARK: Fetched properties

  private func fetching() -> NSManagedObjectModel {
    let model = LibraryModel.make()
    let property = NSFetchedPropertyDescription()
    property.name = "namesakes"
    let request = NSFetchRequest<any NSFetchRequestResult>(entityName: "Author")
    request.predicate = NSPredicate(
      format: "name == $FETCH_SOURCE.name AND age > $FETCHED_PROPERTY.userInfo.limit")
    property.fetchRequest = request
    property.userInfo = ["limit": 20]
    model.entitiesByName["Author"]!.properties.append(property)
    return model
  }

  @Test(arguments: Setting.direct)
  func `a fetched property caches its array until it is a fault`(_ setting: Setting) throws {
    let model = fetching()
    let stack = try TestStack(setting, model: model)
    try stack.context.performAndWait {
      for age in [10, 30, 50] { stack.context.insert("Author", ["name": "Ada", "age": age]) }
      stack.context.insert("Author", ["name": "Eve", "age": 40])
      try stack.context.save()
      let authors = try stack.context.all("Author", by: "age")
      let ada = authors[0]
      #expect((ada.value(forKey: "namesakes") as? [NSManagedObject])?.count == 2)
      stack.context.insert("Author", ["name": "Ada", "age": 60])
      #expect((ada.value(forKey: "namesakes") as? [NSManagedObject])?.count == 2, "kept")
      try stack.context.save()
      stack.context.refresh(ada, mergeChanges: false)
      #expect((ada.value(forKey: "namesakes") as? [NSManagedObject])?.count == 3)
      let property = try #require(ada.entity.propertiesByName["namesakes"])
      property.userInfo = ["limit": 55]
      stack.context.refresh(ada, mergeChanges: false)
      #expect(
        (ada.value(forKey: "namesakes") as? [NSManagedObject])?.count == 1,
        "the user info of the moment counts")
    }
  }

  // MARK: Delete rules

  @Test func `delete rules have Apple's raw values`() {
    #expect(NSDeleteRule.noActionDeleteRule.rawValue == 0)
    #expect(NSDeleteRule.nullifyDeleteRule.rawValue == 1)
    #expect(NSDeleteRule.cascadeDeleteRule.rawValue == 2)
    #expect(NSDeleteRule.denyDeleteRule.rawValue == 3)
  }

  @Test(arguments: Setting.allCases)
  func `nullify clears and cascade deletes the others`(_ setting: Setting) throws {
    let stack = try TestStack(setting)
    let (author, pupil, book, tag) = stack.context.performAndWait {
      let author = stack.context.insert("Author")
      let pupil = stack.context.insert("Author", ["mentor": author])
      let tag = stack.context.insert("Tag")
      let book = stack.context.insert("Book", ["author": author, "tags": Set([tag])])
      book.mutableOrderedSetValue(forKey: "chapters").add(stack.context.insert("Chapter"))
      return (author, pupil, book, tag)
    }
    try stack.save()
    stack.context.performAndWait {
      stack.context.delete(author)
      stack.context.processPendingChanges()
      #expect(pupil.object("mentor") == nil)
      #expect(pupil.isUpdated)
      #expect(book.isDeleted)
      #expect(tag.isUpdated && !tag.isDeleted)
    }
    try stack.save()
    try stack.fresh { context in
      try #expect(context.count("Chapter") == 0, "cascades go on, over faults as well")
      try #expect(context.count("Book") == 0)
      try #expect(context.count("Author") == 1)
      try #expect(context.all("Tag").first?.objects("books").isEmpty == true)
    }
  }

  @Test(arguments: Setting.allCases)
  func `cascades in a circle end`(_ setting: Setting) throws {
    let model = LibraryModel.make()
    model.entitiesByName["Author"]!.relationshipsByName["pupils"]!.deleteRule = .cascadeDeleteRule
    model.entitiesByName["Author"]!.relationshipsByName["mentor"]!.deleteRule = .cascadeDeleteRule
    let stack = try TestStack(setting, model: model)
    let one = stack.context.performAndWait {
      let one = stack.context.insert("Author")
      let two = stack.context.insert("Author", ["mentor": one])
      one.setValue(two, forKey: "mentor")
      return one
    }
    try stack.save()
    stack.context.performAndWait { stack.context.delete(one) }
    try stack.save()
    try stack.fresh { try #expect($0.count("Author") == 0) }
  }

  @Test(arguments: Setting.direct)
  func `a rule without an inverse cannot clear the other side`(_ setting: Setting) throws {
    let model = LibraryModel.make()
    let favourite = LibraryModel.relationship("favourite", to: model.entitiesByName["Tag"]!)
    model.entitiesByName["Author"]!.properties.append(favourite)
    let stack = try TestStack(setting, model: model)
    try stack.context.performAndWait {
      let tag = stack.context.insert("Tag")
      let author = stack.context.insert("Author", ["favourite": tag])
      try stack.context.save()
      stack.context.delete(tag)
      try stack.context.save()
      #expect(author.objectIDs(forRelationshipNamed: "favourite") == [tag.objectID])
    }
  }

  @Test(arguments: Setting.direct)
  func `no action leaves the reference`(_ setting: Setting) throws {
    let model = LibraryModel.make()
    model.entitiesByName["Author"]!.relationshipsByName["pupils"]!.deleteRule = .noActionDeleteRule
    let stack = try TestStack(setting, model: model)
    try stack.context.performAndWait {
      let author = stack.context.insert("Author")
      let pupil = stack.context.insert("Author", ["mentor": author])
      try stack.context.save()
      stack.context.delete(author)
      stack.context.processPendingChanges()
      #expect(!pupil.hasChanges)
      try stack.context.save()
    }
    try stack.fresh { context in
      let pupil = try #require(try context.all("Author").first)
      #expect(pupil.objectIDs(forRelationshipNamed: "mentor").count == 1)
    }
  }
}

/// Accessors written by hand, with all notifications.
final class AccessorAuthor: NSManagedObject {
  var name: String? {
    get {
      willAccessValue(forKey: "name")
      defer { didAccessValue(forKey: "name") }
      return primitiveValue(forKey: "name") as? String
    }
    set {
      willChangeValue(forKey: "name")
      setPrimitiveValue(newValue, forKey: "name")
      didChangeValue(forKey: "name")
    }
  }

  override func value(forKey key: String) -> Any? {
    key == "name" ? name?.uppercased() : super.value(forKey: key)
  }
}
