import CoreData
import Foundation
import Testing

/// Transient attributes of fetched objects.
@Suite struct TransientAttributeTests {
  /// A book with a mandatory transient attribute.
  private func marked(default value: Any?) -> NSManagedObjectModel {
    let model = LibraryModel.make()
    let mark = model.entitiesByName["Book"]!.attributesByName["mark"]!
    mark.isOptional = false
    mark.defaultValue = value
    return model
  }

  @Test(arguments: Setting.allCases)
  func `a fetched object's transient attribute has its default`(_ setting: Setting) throws {
    let stack = try TestStack(setting, model: marked(default: "plain"))
    _ = stack.context.performAndWait { stack.context.insert("Book", ["title": "Emma"]) }
    try stack.save()
    try stack.fresh { context in
      let book = try #require(try context.all("Book").first)
      #expect(book.text("mark") == "plain")
      #expect(!book.hasChanges)
      book.setValue("Persuasion", forKey: "title")
      try context.save()
      book.setValue("seen", forKey: "mark")
      context.refresh(book, mergeChanges: false)
      #expect(book.text("mark") == "plain")
    }
  }

  @Test func `an unset mandatory transient does not block a save`() throws {
    let stack = try TestStack(.sqlite, model: marked(default: nil))
    try stack.context.performAndWait {
      let error = #expect(throws: CocoaError.self) {
        stack.context.insert("Book")
        try stack.context.save()
      }
      #expect(error?.code.rawValue == NSValidationMissingMandatoryPropertyError)
      for book in stack.context.insertedObjects { book.setValue("seen", forKey: "mark") }
      try stack.context.save()
    }
    try stack.fresh { context in
      let book = try #require(try context.all("Book").first)
      book.setValue("Persuasion", forKey: "title")
      try context.save()
      book.setValue(nil, forKey: "mark")
      book.setValue("Emma", forKey: "title")
      #expect(throws: CocoaError.self) { try context.save() }
    }
  }

  /// A save that writes nothing keeps the values that hold transient ones, which a child has read.
  @Test(arguments: Setting.direct)
  func `a child does not see what its parent assigns after a save that wrote nothing`(_ setting: Setting)
    throws
  {
    let stack = try TestStack(setting)
    let (id, parent) = (try stack.stored("Book", ["title": "Notes"]).objectID, stack.sibling())
    let child = stack.child(of: parent)
    let book = try parent.performAndWait { try parent.existingObject(with: id) }
    parent.performAndWait { book.setValue("Notes", forKey: "title") }
    let read = try child.performAndWait {
      let read = try child.existingObject(with: id)
      #expect(read.text("title") == "Notes")
      return read
    }
    try parent.performAndWait {
      try parent.save()
      book.setValue("Sketches", forKey: "title")
    }
    child.performAndWait { #expect(read.text("title") == "Notes") }
  }
}
