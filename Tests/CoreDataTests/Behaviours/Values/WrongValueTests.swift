import CoreData
import Foundation
import Testing

/// Messages for unknown keys, unsuitable values and objects of other contexts.
@Suite struct WrongValueTests {
  /// Returns the message of a block in a context's queue that traps.
  private static func text(_ result: ExitTest.Result?) -> String {
    String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
  }

  @Test func `reading a misspelt key asks what was meant`() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let stack = try TestStack(.memory)
      stack.context.performAndWait { _ = stack.context.insert("Author").value(forKey: "nmae") }
    }
    let text = Self.text(result)
    #expect(text.contains("entity 'Author' has no property 'nmae'"))
    #expect(text.contains("Did you mean 'name'?"))
  }

  @Test func `setting a misspelt key asks what was meant`() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let stack = try TestStack(.memory)
      stack.context.performAndWait { stack.context.insert("Book").setValue("T", forKey: "titel") }
    }
    #expect(Self.text(result).contains("Did you mean 'title'?"))
  }

  @Test func `a value of the wrong type is named with what was expected`() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let stack = try TestStack(.memory)
      stack.context.performAndWait { stack.context.insert("Author").setValue("old", forKey: "age") }
    }
    let text = Self.text(result)
    #expect(text.contains("unacceptable value for 'Author.age'"))
    #expect(text.contains("expected an integer"))
    #expect(text.contains("found String (old)"))
  }

  @Test(arguments: Setting.allCases)
  func `a number too large for its type keeps its low bits`(_ setting: Setting) throws {
    let stack = try TestStack(setting)
    stack.context.performAndWait {
      let author = stack.context.insert("Author")
      author.setValue(40_000, forKey: "age")
      #expect(author.value(forKey: "age") as? Int == -25_536)
      let book = stack.context.insert("Book")
      book.setValue(NSNumber(value: Int64.max), forKey: "pages")
      book.setValue(UInt64.max, forKey: "copies")
      #expect(book.value(forKey: "pages") as? Int == -1)
      #expect(book.value(forKey: "copies") as? Int == -1)
      book.setPrimitiveValue(1e300, forKey: "copies")
      #expect(book.value(forKey: "copies") as? Int64 == .max)
      book.setValue(Double.nan, forKey: "copies")
      #expect(book.value(forKey: "copies") as? Int == 0)
      book.setValue(2.75, forKey: "pages")
      #expect(book.value(forKey: "pages") as? Int == 2)
    }
    try stack.save()
    try stack.fresh { try #expect($0.all("Author").first?.value(forKey: "age") as? Int == -25_536) }
  }

  @Test func `a to-one takes objects only`() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let stack = try TestStack(.memory)
      stack.context.performAndWait { stack.context.insert("Book").setValue("Ada", forKey: "author") }
    }
    #expect(
      Self.text(result).contains(
        "Book.author is a to-one relationship and takes a managed object or nil, not a String"))
  }

  @Test func `a to-many takes collections only`() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let stack = try TestStack(.memory)
      stack.context.performAndWait {
        stack.context.insert("Author").setValue(stack.context.insert("Book"), forKey: "books")
      }
    }
    #expect(Self.text(result).contains("Author.books is a to-many relationship and takes a set"))
  }

  @Test func `a relationship takes objects of its destination`() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let stack = try TestStack(.memory)
      stack.context.performAndWait {
        stack.context.insert("Book").setValue(stack.context.insert("Tag"), forKey: "author")
      }
    }
    #expect(Self.text(result).contains("'Book.author' takes objects of entity 'Author', not 'Tag'"))
  }

  @Test func `relating objects of two contexts names both`() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let stack = try TestStack(.memory)
      let other = stack.sibling()
      (stack.context.name, other.name) = ("one", "two")
      let ada = other.performAndWait { other.insert("Author") }
      stack.context.performAndWait { stack.context.insert("Book").setValue(ada, forKey: "author") }
    }
    let text = Self.text(result)
    #expect(text.contains("illegal attempt to relate 'Book.author' to an object of another context"))
    #expect(text.contains("context 'one' and context 'two'"))
  }

  @Test func `adding a member of another context is caught too`() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let stack = try TestStack(.memory)
      let other = stack.sibling()
      let book = other.performAndWait { other.insert("Book") }
      stack.context.performAndWait {
        stack.context.insert("Author").mutableSetValue(forKey: "books").add(book)
      }
    }
    #expect(Self.text(result).contains("illegal attempt to relate 'Author.books'"))
  }

  @Test func `an unknown relationship is not read as one`() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let stack = try TestStack(.memory)
      stack.context.performAndWait { _ = stack.context.insert("Author").mutableSetValue(forKey: "bokos") }
    }
    #expect(Self.text(result).contains("'Author' has no to-many relationship 'bokos'"))
  }

  @Test(arguments: Setting.direct)
  func `an object of an abstract entity is inserted, saved and found`(_ setting: Setting) throws {
    let stack = try TestStack(setting)
    _ = stack.context.performAndWait { stack.context.insert("Publication", ["title": "Emma"]) }
    try stack.save()
    try stack.fresh { try #expect($0.all("Publication").map { $0.text("title") } == ["Emma"]) }
  }

  @Test func `deleting an object without context does nothing`() throws {
    let stack = try TestStack(.memory)
    stack.context.performAndWait {
      let book = NSManagedObject(entity: stack.context.insert("Book").entity, insertInto: nil)
      stack.context.delete(book)
      #expect(!book.isDeleted)
      #expect(stack.context.deletedObjects.isEmpty)
    }
  }

  @Test func `a request executed outside of a perform block is an error`() throws {
    let request = NSFetchRequest<NSManagedObject>(entityName: "Book")
    #expect(throws: CocoaError.self) { try request.execute() }
  }

  @Test func `an unknown relationship key has no fault and no objects`() throws {
    let stack = try TestStack(.memory)
    stack.context.performAndWait {
      let book = stack.context.insert("Book")
      #expect(!book.hasFault(forRelationshipNamed: "nothing"))
      #expect(book.objectIDs(forRelationshipNamed: "title").isEmpty)
    }
  }

  @Test func `inserting an object of another model is refused`() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let stack = try TestStack(.memory)
      let other = LibraryModel.make()
      let stranger = other.entitiesByName["Author"]!
      stack.context.performAndWait { _ = NSManagedObject(entity: stranger, insertInto: stack.context) }
      withExtendedLifetime(other) {}
    }
    #expect(Self.text(result).contains("is not of the model"))
  }

  @Test func `an object whose deletion was saved elsewhere reads nil`() throws {
    let stack = try TestStack(.sqlite)
    let other = stack.sibling()
    let ids = try stack.context.performAndWait {
      let ada = stack.context.insert("Author", ["name": "Ada"])
      try stack.context.save()
      return ada.objectID
    }
    let fault = other.performAndWait { other.object(with: ids) }
    try stack.context.performAndWait {
      stack.context.delete(stack.context.object(with: ids))
      try stack.context.save()
    }
    other.performAndWait {
      #expect(fault.text("name") == nil)
      #expect(fault.isDeleted)
    }
  }

  @Test func `key-value coding finds a property by its accessor names`() throws {
    let stack = try TestStack(.memory, model: AccessorNames.model())
    stack.context.performAndWait {
      let tag = stack.context.insert("Tag")
      let date = Date(timeIntervalSinceReferenceDate: 5)
      tag.setValue(date, forKey: "Date")
      #expect(tag.value(forKey: "date") as? Date == date)
      tag.setValue(true, forKey: "isOpen")
      #expect(tag.value(forKey: "open") as? Bool == true)
      tag.setValue(3, forKey: "getSize")
      #expect(tag.value(forKey: "size") as? Int == 3)
    }
  }

  @Test func `a key that only another accessor leads to is unknown`() async {
    await #expect(processExitsWith: .failure) {
      let stack = try TestStack(.memory, model: AccessorNames.model())
      stack.context.performAndWait { stack.context.insert("Tag").setValue(true, forKey: "open") }
    }
    await #expect(processExitsWith: .failure) {
      let stack = try TestStack(.memory, model: AccessorNames.model())
      stack.context.performAndWait { _ = stack.context.insert("Tag").value(forKey: "Date") }
    }
  }

  @Test func `keys of a subclass are answered by it`() throws {
    let model = LibraryModel.make()
    model.entitiesByName["Author"]!.managedObjectClassName = NSStringFromClass(InitialedAuthor.self)
    let stack = try TestStack(.memory, model: model)
    stack.context.performAndWait {
      let ada = stack.context.insert("Author", ["name": "Ada"])
      #expect(ada.text("initial") == "A")
      #expect(NSPredicate(format: "initial == 'A'").evaluate(with: ada))
      ada.setValue("E", forKey: "initial")
      #expect(ada.text("name") == "Eda")
    }
  }
}

/// An author with a key that the model does not contain.
final class InitialedAuthor: NSManagedObject {
  override func value(forUndefinedKey key: String) -> Any? {
    guard key == "initial" else { return super.value(forUndefinedKey: key) }
    return text("name")?.first.map { String($0) }
  }

  override func setValue(_ value: Any?, forUndefinedKey key: String) {
    guard key == "initial" else { return super.setValue(value, forUndefinedKey: key) }
    setValue((value as? String ?? "") + (text("name")?.dropFirst() ?? ""), forKey: "name")
  }
}

/// A tag whose properties have the same names as accessors.
private enum AccessorNames {
  static func model() -> NSManagedObjectModel {
    let model = LibraryModel.make()
    model.entitiesByName["Tag"]!.properties += [
      LibraryModel.attribute("date", .dateAttributeType),
      LibraryModel.attribute("isOpen", .booleanAttributeType),
      LibraryModel.attribute("getSize", .integer16AttributeType),
    ]
    return model
  }
}
