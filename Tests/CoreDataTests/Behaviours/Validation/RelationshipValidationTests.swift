import CoreData
import Foundation
import Testing

/// An object that changes or refuses what it is to be linked to when it is validated.
final class ChoosyBook: NSManagedObject {
  nonisolated(unsafe) static var replacement: NSManagedObject?

  override func validateValue(_ value: inout Any?, forKey key: String) throws {
    if key == "author", let replacement = Self.replacement { value = replacement }
    try super.validateValue(&value, forKey: key)
  }
}

/// `validateValue(_:forKey:)` of relationships.
@Suite(.serialized) struct RelationshipValidationTests {
  private func _model() -> NSManagedObjectModel {
    let model = LibraryModel.make()
    let books = model.entitiesByName["Author"]!.relationshipsByName["books"]!
    (books.minCount, books.maxCount, books.isOptional) = (1, 2, false)
    let author = model.entitiesByName["Book"]!.relationshipsByName["author"]!
    author.isOptional = false
    return model
  }

  private func _code(_ object: NSManagedObject, _ value: Any?, _ key: String) -> Int? {
    var value = value
    do {
      try object.validateValue(&value, forKey: key)
      return nil
    } catch {
      return (error as? CocoaError)?.code.rawValue
    }
  }

  @Test func `a to-many is counted, whatever collection it is in`() throws {
    let stack = try TestStack(.memory, model: _model())
    stack.context.performAndWait {
      let author = stack.context.insert("Author")
      let books = (0..<3).map { _ in stack.context.insert("Book") }
      let forms: [([NSManagedObject]) -> Any] = [
        { Set($0) }, { NSSet(array: $0) }, { NSOrderedSet(array: $0) }, { $0 },
      ]
      for form in forms {
        #expect(_code(author, form(books), "books") == NSValidationRelationshipExceedsMaximumCountError)
        #expect(_code(author, form(Array(books.prefix(2))), "books") == nil)
        #expect(
          [NSValidationRelationshipLacksMinimumCountError, NSValidationMissingMandatoryPropertyError]
            .contains(_code(author, form([]), "books")))
      }
      #expect(_code(author, nil, "books") != nil)
    }
  }

  @Test func `a to-one takes an object, and nil if it may`() throws {
    let stack = try TestStack(.memory, model: _model())
    stack.context.performAndWait {
      let book = stack.context.insert("Book")
      #expect(_code(book, stack.context.insert("Author"), "author") == nil)
      #expect(_code(book, nil, "author") == NSValidationMissingMandatoryPropertyError)
      #expect(_code(book, NSNull(), "author") == NSValidationMissingMandatoryPropertyError)
      #expect(_code(book, "Ada", "author") == NSManagedObjectValidationError)
    }
  }

  @Test func `an attribute refuses a value of another type`() throws {
    let stack = try TestStack(.memory, model: _model())
    stack.context.performAndWait {
      #expect(_code(stack.context.insert("Book"), Date(), "pages") == NSManagedObjectValidationError)
    }
  }

  @Test func `a validation may link to another object`() throws {
    let model = LibraryModel.make()
    model.entitiesByName["Book"]!.managedObjectClassName = String(reflecting: ChoosyBook.self)
    let stack = try TestStack(.memory, model: model)
    try stack.context.performAndWait {
      let (ada, bob) = (
        stack.context.insert("Author", ["name": "Ada"]), stack.context.insert("Author", ["name": "Bob"])
      )
      let book = stack.context.insert("Book", ["title": "One", "author": ada])
      ChoosyBook.replacement = bob
      defer { ChoosyBook.replacement = nil }
      try stack.context.save()
      #expect(book.object("author") === bob)
      #expect((ada.value(forKey: "books") as? Set<NSManagedObject>)?.isEmpty == true)
    }
    let authors = try stack.fresh { try $0.all("Book").map { $0.object("author")?.text("name") } }
    #expect(authors == ["Bob"])
  }
}
