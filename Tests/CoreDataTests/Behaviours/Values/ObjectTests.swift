import CoreData
import Foundation
import Testing

@Suite struct ObjectTests {
  @Test(arguments: Setting.allCases)
  func `inserted object has defaults a temporary ID and is no fault`(_ setting: Setting) throws {
    let stack = try TestStack(setting)
    stack.context.performAndWait {
      let author = stack.context.insert("Author")
      #expect(author.value(forKey: "age") as? Int == 18)
      #expect(author.objectID.isTemporaryID)
      #expect(author.isInserted)
      #expect(!author.isFault)
      #expect(stack.context.insertedObjects == [author])
    }
  }

  @Test(arguments: Setting.allCases)
  func `every attribute type survives a save`(_ setting: Setting) throws {
    let stack = try TestStack(setting)
    let uuid = UUID()
    let date = Date(timeIntervalSinceReferenceDate: 700_000_000.125)
    stack.context.performAndWait {
      let book = stack.context.insert("Novel")
      book.setValue("Zügige Wörter", forKey: "title")
      book.setValue(321, forKey: "pages")
      book.setValue(Int64.max, forKey: "copies")
      book.setValue(9.75, forKey: "price")
      book.setValue(Float(0.5), forKey: "weight")
      book.setValue(Decimal(string: "10.11"), forKey: "cost")
      book.setValue(date, forKey: "published")
      book.setValue(false, forKey: "inPrint")
      book.setValue(Data([0, 1, 2, 255]), forKey: "cover")
      book.setValue(uuid, forKey: "isbn")
      book.setValue(URL(string: "https://example.org/a%20b"), forKey: "page")
      book.setValue(["a", "b"], forKey: "extra")
      book.setValue("saga", forKey: "genre")
    }
    try stack.save()
    try stack.fresh { context in
      let book = try #require(try context.all("Publication").first)
      #expect(book.entity.name == "Novel")
      #expect(book.text("title") == "Zügige Wörter")
      #expect(book.value(forKey: "pages") as? Int == 321)
      #expect(book.value(forKey: "copies") as? Int64 == .max)
      #expect(book.value(forKey: "price") as? Double == 9.75)
      #expect(book.value(forKey: "weight") as? Float == 0.5)
      #expect((book.value(forKey: "cost") as? NSDecimalNumber)?.decimalValue == Decimal(string: "10.11"))
      #expect(book.value(forKey: "published") as? Date == date)
      #expect(book.value(forKey: "inPrint") as? Bool == false)
      #expect(book.value(forKey: "cover") as? Data == Data([0, 1, 2, 255]))
      #expect(book.value(forKey: "isbn") as? UUID == uuid)
      #expect(book.value(forKey: "page") as? URL == URL(string: "https://example.org/a%20b"))
      #expect(book.value(forKey: "extra") as? [String] == ["a", "b"])
      #expect(book.text("genre") == "saga")
    }
  }

  @Test(arguments: Setting.allCases)
  func `nil stays nil`(_ setting: Setting) throws {
    let stack = try TestStack(setting)
    stack.context.performAndWait { _ = stack.context.insert("Book") }
    try stack.save()
    try stack.fresh { context in
      let book = try #require(try context.all("Book").first)
      for key in [
        "title", "copies", "price", "weight", "cost", "published", "cover", "isbn", "page", "extra", "author",
      ] {
        #expect(book.value(forKey: key) == nil, "\(key)")
      }
    }
  }

  @Test(arguments: Setting.allCases)
  func `a context has one object for one ID`(_ setting: Setting) throws {
    let stack = try TestStack(setting)
    stack.context.performAndWait { _ = stack.context.insert("Author", ["name": "Ada"]) }
    try stack.save()
    try stack.fresh { context in
      let first = try #require(try context.all("Author").first)
      let second = try #require(try context.all("Author").first)
      #expect(first === second)
      #expect(context.object(with: first.objectID) === first)
      #expect(context.registeredObject(for: first.objectID) === first)
      try #expect(context.existingObject(with: first.objectID) === first)
    }
  }

  @Test(arguments: Setting.direct)
  func `fetched objects are faults until touched`(_ setting: Setting) throws {
    let stack = try TestStack(setting)
    try stack.context.performAndWait {
      stack.context.insert("Author", ["name": "Ada"])
      try stack.context.save()
    }
    try stack.fresh { context in
      let author = try #require(try context.all("Author").first)
      #expect(author.isFault)
      #expect(author.text("name") == "Ada")
      #expect(!author.isFault)
    }
  }

  @Test(arguments: Setting.allCases)
  func `saved object has a permanent ID`(_ setting: Setting) throws {
    let stack = try TestStack(setting)
    try stack.root.performAndWait {
      let author = stack.root.insert("Author")
      let temporary = author.objectID
      try stack.root.save()
      #expect(temporary.isTemporaryID)
      #expect(!author.objectID.isTemporaryID)
      let uri = author.objectID.uriRepresentation()
      #expect(uri.scheme == "x-coredata")
      #expect(
        uri.absoluteString.hasSuffix(
          "/Author/p\(author.objectID.uriRepresentation().lastPathComponent.dropFirst())"))
      #expect(stack.coordinator.managedObjectID(forURIRepresentation: uri) == author.objectID)
    }
  }

  @Test(arguments: Setting.allCases)
  func `changed values are those that differ`(_ setting: Setting) throws {
    let stack = try TestStack(setting)
    let author = stack.context.performAndWait { stack.context.insert("Author", ["name": "Ada"]) }
    try stack.save()
    stack.context.performAndWait {
      #expect(author.changedValues().isEmpty)
      author.setValue("Ada", forKey: "name")
      #expect(author.hasChanges)
      #expect(author.changedValues().isEmpty)
      author.setValue("Grace", forKey: "name")
      #expect(author.changedValues() as? [String: String] == ["name": "Grace"])
      #expect(author.committedValues(forKeys: ["name"]) as? [String: String] == ["name": "Ada"])
    }
  }

  @Test(arguments: Setting.allCases)
  func `assigning an equal value and saving keeps later saves free`(_ setting: Setting) throws {
    let stack = try TestStack(setting)
    let author = stack.context.performAndWait { stack.context.insert("Author", ["name": "Ada"]) }
    try stack.save()
    stack.context.performAndWait { author.setValue("Ada", forKey: "name") }
    try stack.save()
    stack.context.performAndWait { author.setValue("Grace", forKey: "name") }
    try stack.save()
    try #expect(stack.fresh { try $0.all("Author").first?.text("name") } == "Grace")
  }

  @Test(arguments: Setting.allCases)
  func `primitive values are not tracked but saved along`(_ setting: Setting) throws {
    let stack = try TestStack(setting)
    let author = stack.context.performAndWait { stack.context.insert("Author", ["name": "Ada"]) }
    try stack.save()
    stack.context.performAndWait {
      author.setPrimitiveValue("Primitive", forKey: "name")
      #expect(!author.hasChanges)
      #expect(author.text("name") == "Primitive")
      author.setValue(40, forKey: "age")
    }
    try stack.save()
    try #expect(stack.fresh { try $0.all("Author").first?.text("name") } == "Primitive")
  }

  @Test func `subclasses are made with their own initialiser`() throws {
    let model = LibraryModel.make()
    model.entitiesByName["Author"]!.managedObjectClassName = NSStringFromClass(TestAuthor.self)
    let stack = try TestStack(.memory, model: model)
    try stack.context.performAndWait {
      let author = try #require(stack.context.insert("Author", ["name": "Ada"]) as? TestAuthor)
      #expect(author.stored == 42)
      #expect(author.wasInitialisedHere)
      #expect(author.events == ["insert"])
      try stack.context.save()
      #expect(author.events == ["insert", "willSave", "didSave"])
    }
    try stack.fresh { context in
      let author = try #require(try context.all("Author").first as? TestAuthor)
      #expect(author.wasInitialisedHere)
      #expect(author.events.isEmpty)
      #expect(author.text("name") == "Ada")
      #expect(author.events == ["fetch"])
      #expect(!author.hasChanges)
    }
  }
}

/// Overrides everything that a client may override.
final class TestAuthor: NSManagedObject {
  let stored = 42
  var wasInitialisedHere = false
  var events: [String] = []

  override init(entity: NSEntityDescription, insertInto context: NSManagedObjectContext?) {
    super.init(entity: entity, insertInto: context)
    wasInitialisedHere = true
  }

  override func awakeFromInsert() { events.append("insert") }
  override func awakeFromFetch() {
    events.append("fetch")
    setValue(99, forKey: "age")
  }
  override func willSave() { events.append("willSave") }
  override func didSave() { events.append("didSave") }
}
