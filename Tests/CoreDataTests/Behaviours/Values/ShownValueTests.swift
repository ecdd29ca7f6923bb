import Foundation
import Testing

@testable import CoreData

/// The values of new objects, of reset ones, and of values that belong to another context.
@Suite struct ShownValueTests {
  // MARK: New objects

  @Test(arguments: Setting.allCases)
  func `changed values of a new object list what was set primitively`(_ setting: Setting) throws {
    let stack = try TestStack(setting)
    stack.context.performAndWait {
      let author = stack.context.insert("Author")
      #expect(author.changedValues().isEmpty)
      author.setPrimitiveValue("Ada", forKey: "name")
      #expect(author.changedValues() as? [String: String] == ["name": "Ada"])
    }
  }

  @Test(arguments: Setting.allCases)
  func `an object that was never saved has no committed values`(_ setting: Setting) throws {
    let stack = try TestStack(setting)
    try stack.context.performAndWait {
      let author = stack.context.insert("Author", ["name": "Ada"])
      #expect(author.committedValues(forKeys: ["name"]).isEmpty)
      #expect(author.committedValues(forKeys: nil).isEmpty)
      try stack.context.save()
      #expect(author.committedValues(forKeys: ["name"]) as? [String: String] == ["name": "Ada"])
    }
  }

  // MARK: Nothing there

  @Test func `willAccessValue accepts a nil key on a forgotten object`() throws {
    let stack = try TestStack(.memory)
    try stack.context.performAndWait {
      let author = stack.context.insert("Author")
      try stack.context.save()
      stack.context.reset()
      author.willAccessValue(forKey: nil)
      #expect(!author.isFault)
      #expect(author.value(forKey: "name") == nil)
    }
  }

  private final class ModellessClass: NSManagedObject {}

  @Test func `the entity of a class that no model names has no name`() {
    #expect(ModellessClass.entity().name == nil)
  }

  // MARK: Fetched properties

  @Test func `a fetched property's predicate reads the user info`() throws {
    let model = LibraryModel.make()
    let property = NSFetchedPropertyDescription()
    property.name = "wanted"
    let request = NSFetchRequest<any NSFetchRequestResult>()
    request.entity = model.entitiesByName["Tag"]
    request.predicate = NSPredicate(format: "name == $FETCHED_PROPERTY.userInfo.name")
    property.fetchRequest = request
    property.userInfo = ["name": "a"]
    model.entitiesByName["Author"]!.properties.append(property)
    let stack = try TestStack(.sqlite, model: model)
    try stack.context.performAndWait {
      for name in ["a", "b"] { stack.context.insert("Tag", ["name": name]) }
      let author = stack.context.insert("Author")
      try stack.context.save()
      func wanted() -> [String?] {
        (author.value(forKey: "wanted") as? [NSManagedObject] ?? []).map { $0.text("name") }
      }
      #expect(wanted() == ["a"])
      let described = author.entity.propertiesByName["wanted"] as? NSFetchedPropertyDescription
      described?.userInfo = ["name": "b"]
      #expect(wanted() == ["b"])
    }
  }

  @Test func `a child does not see its parent's transient values`() throws {
    let stack = try TestStack(.nestedOverSQLite)
    _ = stack.root.performAndWait {
      stack.root.insert("Book", ["title": "B", "mark": "here"])
    }
    try stack.context.performAndWait {
      let book = try #require(try stack.context.all("Book").first)
      #expect(book.text("title") == "B")
      #expect(book.text("mark") == nil)
    }
    stack.root.performAndWait {
      #expect(stack.root.insertedObjects.first?.text("mark") == "here")
    }
  }

  @Test(arguments: [false, true])
  func `a child that fetches anew does not see the transient value that it saved`(_ isInserted: Bool) throws {
    let stack = try TestStack(.nestedOverSQLite)
    let child = stack.context
    try child.performAndWait {
      let book = child.insert("Book", ["title": "B", "mark": "first"])
      try child.save()
      if !isInserted { try stack.root.performAndWait { try stack.root.save() } }
      book.setValue("second", forKey: "mark")
      try child.save()
    }
    try child.performAndWait {
      #expect(child.registeredObjects.isEmpty)
      try #expect(#require(try child.all("Book").first).text("mark") == nil)
    }
    try stack.root.performAndWait {
      try #expect(#require(try stack.root.all("Book").first).text("mark") == "second")
    }
  }

  @Test func `a confinement context can be a queue context's child`() throws {
    let stack = try TestStack(.sqlite)
    let child = NSManagedObjectContext(concurrencyType: NSManagedObjectContextConcurrencyType(rawValue: 0)!)
    child.parent = stack.root
    child.insert("Author", ["name": "Ada"])
    try child.save()
    stack.root.performAndWait { #expect(stack.root.insertedObjects.count == 1) }
    try #expect(child.all("Author").first?.text("name") == "Ada")
  }
}
