import CoreData
import Foundation
import Testing

@testable import CoreDataTesting

@MainActor @Suite("Fixtures", .coreData("Library", bundle: .module)) struct FixtureTests {
  private let _store: TestStore

  init() throws { _store = try TestStore.current }

  @Test func `An object a line, with values of each type and references ahead`() throws {
    let fixture = try _store.load("Fixtures/Library.ndjson", from: .module)
    #expect(fixture.count == 8)
    let emma: Book = try fixture["emma"]
    #expect(emma.title == "Emma")
    #expect(emma.pages == 474)
    #expect(emma.price == NSDecimalNumber(string: "9.95"))
    #expect(emma.rating == 4.5)
    #expect(emma.isRead)
    #expect(emma.identifier == UUID(uuidString: "6F1E3A52-9B0D-4C44-8E54-0E3C4E3D3A11"))
    #expect(emma.cover == Data([1, 2, 3]))
    #expect(emma.author?.name == "Jane Austen")
    #expect(emma.author?.born?.timeIntervalSince1970 == -6_123_427_199.75)
    #expect(Set(emma.tags?.compactMap { ($0 as? Tag)?.name } ?? []) == ["novel", "classic"])
    let chapter: Chapter = try fixture["2"]
    #expect(chapter.book == emma)
    #expect(!_store.viewContext.hasChanges)
  }

  @Test func `One document, with a to-many in order`() throws {
    let fixture = try _store.load("Fixtures/Chapters.json", from: .module)
    let waves: Book = try fixture["waves"]
    #expect(waves.chapters?.compactMap { ($0 as? Chapter)?.title } == ["Noon", "Dawn"])
  }

  @Test(arguments: [
    (#"{"$entity":"Bok"}"#, "the model has no entity 'Bok'"),
    (#"{"title":"Emma"}"#, "does not say its entity"),
    (#"{"$entity":"Book","name":"Emma"}"#, "'Book' has no property 'name'"),
    (#"{"$entity":"Book","pages":"many"}"#, "'pages': a whole number of 32 bits was expected, not 'many'"),
    (#"{"$entity":"Book","pages":1.5}"#, "a whole number of 32 bits was expected"),
    (#"{"$entity":"Book","pages":true}"#, "a whole number of 32 bits was expected"),
    (#"{"$entity":"Book","isRead":2}"#, "true or false was expected"),
    (#"{"$entity":"Author","born":"yesterday"}"#, "a date such as"),
    (#"{"$entity":"Book","author":"absent"}"#, "leads to 'absent', which is the $id of no object"),
    (#"{"$entity":"Book","$id":1,"author":1}"#, "which is a Book and no Author"),
    ("{\"$entity\":\"Tag\",\"$id\":1}\n{\"$entity\":\"Tag\",\"$id\":1}", "a second object has the $id '1'"),
    (#"["#, "no JSON"),
  ]) func `What is wrong in a file is told with its line, and nothing stays in the context`(
    line: String, reason: String
  ) throws {
    let url = try _store.directory().appendingPathComponent("Wrong.ndjson")
    try Data(("\n" + line).utf8).write(to: url)
    let error = #expect(throws: TestStoreError.self) { try _store.load(contentsOf: url) }
    let text = error?.description ?? ""
    #expect(text.contains(reason), "\(text)")
    #expect(text.hasPrefix("Wrong.ndjson:"), "\(text)")
    #expect(_store.viewContext.insertedObjects.isEmpty)
  }

  @Test func `A name that the fixture does not have is an error with those that it has`() throws {
    let fixture = try _store.load("Fixtures/Chapters.json", from: .module)
    let error = #expect(throws: TestStoreError.self) { let _: Book = try fixture["emma"] }
    #expect(error?.description.contains("a, b, waves, woolf") == true)
  }
}

@MainActor @Suite("Objects that tests make", .coreData("Library", bundle: .module)) struct MakingTests {
  private let _store: TestStore

  init() throws { _store = try TestStore.current }

  @Test func `What is mandatory is filled, what is optional stays nil, and the object can be saved`() throws {
    let book = try _store.make(Book.self)
    #expect(book.title == "title 1")
    #expect(book.pages >= 10)
    #expect(book.author?.name == "name 1")
    #expect(book.price == nil)
    #expect(!book.isRead)
    try _store.viewContext.save()
  }

  @Test func `The closure's values stay, and no object is made for a relationship that it sets`() throws {
    let woolf = try _store.make(Author.self) { $0.name = "Virginia Woolf" }
    let book = try _store.make(Book.self) {
      $0.title = "Orlando"
      $0.author = woolf
    }
    #expect(book.title == "Orlando")
    try _store.viewContext.save()
    _store.expectRows(["Author": 1, "Book": 1])
  }

  @Test func `Several objects fulfil a constraint of uniqueness`() throws {
    for _ in 0..<5 { try _store.make(Book.self) }
    try _store.viewContext.save()
    _store.expectRows(["Book": 5, "Author": 5])
  }

  @Test func `A condition that no usual value fulfils is an error until the closure sets the value`() throws {
    let error = #expect(throws: TestStoreError.self) { try _store.make(Code.self) }
    #expect(error?.description.contains("'text' of 'Code'") == true)
    #expect(_store.viewContext.insertedObjects.isEmpty)
    try _store.make(Code.self) { $0.text = "ABC-123-d" }
    try _store.viewContext.save()
  }

  @Test func `An object of a named entity is made in any context`() throws {
    let context = _store.newBackgroundContext()
    try context.performAndWait {
      let tag = try _store.make("Tag", in: context) { $0.setValue("novel", forKey: "name") }
      #expect(tag.managedObjectContext === context)
      try context.save()
    }
    _store.expectRows(["Tag": 1])
  }

  @Test func `An entity that the model does not have is an error`() throws {
    #expect(throws: TestStoreError.self) { try _store.make("Bok") }
    #expect(throws: TestStoreError.self) { try _store.make(NSManagedObject.self) }
  }
}
