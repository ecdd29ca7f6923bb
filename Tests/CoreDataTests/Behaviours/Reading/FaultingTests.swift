@testable import CoreData
import Foundation
import Testing

@Suite struct FaultingTests {
  /// Returns a stack whose authors record their hooks, with one saved author of two books.
  private func stored(_ setting: Setting) throws -> TestStack {
    let model = LibraryModel.make()
    model.entitiesByName["Author"]!.managedObjectClassName = NSStringFromClass(RecordingAuthor.self)
    let stack = try TestStack(setting, model: model)
    stack.context.performAndWait {
      let ada = stack.context.insert("Author", ["name": "Ada"])
      stack.context.insert("Book", ["title": "One", "author": ada])
      stack.context.insert("Book", ["title": "Two", "author": ada])
    }
    try stack.save()
    return stack
  }

  @Test(arguments: Setting.allCases)
  func `identity and state are known without filling`(_ setting: Setting) throws {
    try stored(setting).fresh { context in
      let ada = try #require(try context.all("Author").first as? RecordingAuthor)
      _ = (
        ada.objectID, ada.entity, ada.managedObjectContext, ada.hash, ada.isEqual(nil), ada.isDeleted,
        ada.isInserted
      )
      _ = (ada.hasChanges, ada.description)
      #expect(ada.isFault)
      #expect(ada.faultingState != 0)
      #expect(ada.events.isEmpty)
      _ = ada.value(forKey: "name")
      #expect(!ada.isFault)
      #expect(ada.faultingState == 0)
    }
  }

  @Test(arguments: Setting.allCases)
  func `a look at a to-many fills the object`(_ setting: Setting) throws {
    try stored(setting).fresh { context in
      let ada = try #require(try context.all("Author").first as? RecordingAuthor)
      #expect(ada.mutableSetValue(forKey: "books").count == 2)
      #expect(!ada.isFault)
    }
    try stored(setting).fresh { context in
      let ada = try #require(try context.all("Author").first as? RecordingAuthor)
      #expect((ada.primitiveValue(forKey: "books") as? NSSet)?.count == 2)
    }
  }

  @Test(arguments: Setting.allCases)
  func `access without a key fills and awakes once`(_ setting: Setting) throws {
    try stored(setting).fresh { context in
      let ada = try #require(try context.all("Author").first as? RecordingAuthor)
      ada.willAccessValue(forKey: nil)
      #expect(!ada.isFault)
      _ = ada.value(forKey: "name")
      #expect(ada.events == ["fetch"])
      context.refresh(ada, mergeChanges: false)
      _ = ada.value(forKey: "age")
      #expect(ada.events == ["fetch", "willTurn", "didTurn", "fetch"])
    }
  }

  @Test(arguments: Setting.direct)
  func `fetched rows are at hand without another read`(_ setting: Setting) throws {
    try stored(setting).fresh { context in
      let ada = try #require(try context.all("Author").first)
      let reads = try #require(context.persistentStoreCoordinator).rowReads.load(ordering: .relaxed)
      #expect(ada.isFault)
      #expect(ada.text("name") == "Ada")
      #expect(context.persistentStoreCoordinator?.rowReads.load(ordering: .relaxed) == reads)
    }
  }

  @Test(arguments: Setting.allCases)
  func `a to-many is a fault of its own`(_ setting: Setting) throws {
    try stored(setting).fresh { context in
      let ada = try #require(try context.all("Author").first)
      _ = ada.value(forKey: "name")
      #expect(ada.hasFault(forRelationshipNamed: "books"))
      #expect(ada.objectIDs(forRelationshipNamed: "books").count == 2)
      #expect(ada.hasFault(forRelationshipNamed: "books"), "IDs need no members")
      #expect(ada.objects("books").count == 2)
      #expect(!ada.hasFault(forRelationshipNamed: "books"))
    }
  }

  @Test(arguments: Setting.allCases)
  func `IDs of a to-one need no object`(_ setting: Setting) throws {
    try stored(setting).fresh { context in
      let book = try #require(try context.all("Book").first)
      let ids = book.objectIDs(forRelationshipNamed: "author")
      #expect(ids.count == 1)
      let author = ids.first.map { context.object(with: $0) }
      #expect(author?.isFault == true)
    }
  }

  @Test(arguments: Setting.allCases)
  func `what awake from fetch assigns is no change`(_ setting: Setting) throws {
    try stored(setting).fresh { context in
      let ada = try #require(try context.all("Author").first as? RecordingAuthor)
      ada.willAccessValue(forKey: nil)
      #expect(ada.value(forKey: "age") as? Int == 99)
      #expect(!ada.hasChanges)
      #expect(!context.hasChanges)
    }
  }

  @Test(arguments: Setting.allCases)
  func `state tells what the next save does`(_ setting: Setting) throws {
    let stack = try TestStack(setting)
    let book = stack.context.performAndWait {
      let book = stack.context.insert("Book")
      #expect(book.isInserted && !book.isUpdated && !book.isDeleted)
      return book
    }
    try stack.save()
    stack.context.performAndWait {
      #expect(!book.isInserted && !book.isUpdated && !book.isDeleted && !book.hasChanges)
      book.setValue("x", forKey: "mark")
      #expect(book.isUpdated, "a transient property counts")
      #expect(stack.context.hasChanges)
      #expect(!book.hasPersistentChangedValues)
    }
    try stack.save()
    stack.context.performAndWait {
      #expect(!book.hasChanges)
      #expect(book.text("mark") == "x", "and is kept")
      stack.context.delete(book)
      #expect(book.isDeleted)
    }
    try stack.save()
    try stack.fresh { try #expect($0.count("Book") == 0) }
  }

  @Test func `a transient value is not stored`() throws {
    let stack = try TestStack(.sqlite)
    try stack.context.performAndWait {
      stack.context.insert("Book", ["title": "a", "mark": "x"])
      try stack.context.save()
    }
    try stack.fresh { context in
      let book = try #require(try context.all("Book").first)
      #expect(book.text("title") == "a")
      #expect(book.text("mark") == nil)
    }
  }

  @Test func `an attribute of undefined type must be transient`() throws {
    let model = LibraryModel.make()
    model.entitiesByName["Tag"]!.properties.append(LibraryModel.attribute("odd", .undefinedAttributeType))
    #expect(throws: CocoaError.self) { try TestStack(.sqlite, model: model) }
    let legal = LibraryModel.make()
    legal.entitiesByName["Tag"]!.properties.append(LibraryModel.transient("odd", .undefinedAttributeType))
    let stack = try TestStack(.sqlite, model: legal)
    try stack.context.performAndWait {
      let tag = stack.context.insert("Tag", ["odd": [1, 2]])
      #expect(tag.value(forKey: "odd") as? [Int] == [1, 2])
      try stack.context.save()
    }
  }

  @Test func `entity and initialiser go by the class`() throws {
    let stack = try stored(.memory)
    stack.context.performAndWait {
      let author = RecordingAuthor(context: stack.context)
      #expect(author.entity.name == "Author")
      #expect(RecordingAuthor.entity().name == "Author")
      #expect(author.isInserted)
    }
    #expect(NSManagedObject.contextShouldIgnoreUnmodeledPropertyChanges)
  }

  // MARK: Hooks

  @Test(arguments: Setting.allCases)
  func `hooks of a life come in order and once`(_ setting: Setting) throws {
    let stack = try stored(setting)
    let ada = try stack.context.performAndWait { () -> RecordingAuthor in
      let ada = try #require(try stack.context.all("Author").first as? RecordingAuthor)
      ada.willAccessValue(forKey: nil)
      ada.events = []
      ada.setValue("Eve", forKey: "name")
      return ada
    }
    try stack.context.performAndWait { try stack.context.save() }
    stack.context.performAndWait {
      #expect(ada.events == ["willSave", "didSave"])
      ada.events = []
      stack.context.delete(ada)
      #expect(ada.events == ["prepare"])
      #expect(ada.booksWhenDeleted == 2, "relationships were still in place")
    }
    try stack.context.performAndWait { try stack.context.save() }
    #expect(ada.events == ["prepare", "willSave", "didSave"])
  }

  @Test(arguments: Setting.allCases)
  func `insertion is announced once in its context`(_ setting: Setting) throws {
    let stack = try stored(setting)
    stack.context.performAndWait {
      let author = stack.context.insert("Author") as? RecordingAuthor
      stack.context.processPendingChanges()
      #expect(author?.events == ["insert"])
      #expect(author?.ageWhenInserted == 18, "after defaults were set")
    }
  }

  @Test(arguments: Setting.direct)
  func `snapshot events tell what brought values back`(_ setting: Setting) throws {
    let stack = try stored(setting)
    try stack.context.performAndWait {
      let ada = try #require(try stack.context.all("Author").first as? RecordingAuthor)
      ada.setValue("x", forKey: "name")
      stack.context.refresh(ada, mergeChanges: true)
      #expect(ada.snapshots == [.refresh])
      stack.context.rollback()
      #expect(ada.snapshots == [.refresh, .rollback])
      ada.setValue("y", forKey: "name")
      try stack.fresh { other in
        try other.all("Author").first?.setValue("z", forKey: "name")
        try other.save()
      }
      stack.context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
      try stack.context.save()
      #expect(ada.snapshots == [.refresh, .rollback, .mergePolicy])
    }
    #expect(NSSnapshotEventType.undoInsertion.rawValue == 2)
    #expect(NSSnapshotEventType.undoDeletion.rawValue == 4)
    #expect(NSSnapshotEventType.undoUpdate.rawValue == 8)
    #expect(NSSnapshotEventType.rollback.rawValue == 16)
    #expect(NSSnapshotEventType.refresh.rawValue == 32)
    #expect(NSSnapshotEventType.mergePolicy.rawValue == 64)
  }
}

/// Records every hook that is called.
final class RecordingAuthor: NSManagedObject {
  var events: [String] = []
  var snapshots: [NSSnapshotEventType] = []
  var booksWhenDeleted: Int?
  var ageWhenInserted: Int?

  override func awakeFromInsert() {
    events.append("insert")
    ageWhenInserted = value(forKey: "age") as? Int
  }
  override func awakeFromFetch() {
    events.append("fetch")
    setValue(99, forKey: "age")
  }
  override func awake(fromSnapshotEvents flags: NSSnapshotEventType) { snapshots.append(flags) }
  override func prepareForDeletion() {
    events.append("prepare")
    booksWhenDeleted = objects("books").count
  }
  override func willSave() { events.append("willSave") }
  override func didSave() { events.append("didSave") }
  override func willTurnIntoFault() { events.append("willTurn") }
  override func didTurnIntoFault() { events.append("didTurn") }
}
