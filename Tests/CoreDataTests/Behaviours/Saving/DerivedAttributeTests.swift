import CoreData
import Foundation
import Testing

@Suite struct DerivedAttributeTests {
  private static func derived(_ name: String, _ type: NSAttributeType, _ format: String)
    -> NSDerivedAttributeDescription
  {
    let attribute = NSDerivedAttributeDescription()
    attribute.name = name
    attribute.attributeType = type
    attribute.derivationExpression = NSExpression(format: format)
    return attribute
  }

  private func model(_ extra: [(String, NSDerivedAttributeDescription)]) -> NSManagedObjectModel {
    let model = LibraryModel.make()
    for (entity, attribute) in extra { model.entitiesByName[entity]!.properties.append(attribute) }
    return model
  }

  private func stack(_ extra: [(String, NSDerivedAttributeDescription)]) throws -> TestStack {
    try TestStack(.sqlite, model: model(extra))
  }

  @Test func `a count follows its members`() throws {
    let stack = try stack([("Author", Self.derived("bookCount", .integer64AttributeType, "books.@count"))])
    try stack.context.performAndWait {
      let ada = stack.context.insert("Author", ["name": "Ada"])
      let eve = stack.context.insert("Author", ["name": "Eve"])
      let books = (0..<3).map { stack.context.insert("Book", ["title": "\($0)", "author": ada]) }
      #expect(ada.value(forKey: "bookCount") == nil, "nothing before the first save")
      try stack.context.save()
      #expect(ada.value(forKey: "bookCount") as? Int == 3, "shown right after the save")
      #expect(eve.value(forKey: "bookCount") as? Int == 0)
      books[0].setValue(eve, forKey: "author")
      try stack.context.save()
      #expect(ada.value(forKey: "bookCount") as? Int == 2)
      #expect(eve.value(forKey: "bookCount") as? Int == 1)
      stack.context.delete(books[1])
      books[2].setValue(nil, forKey: "author")
      try stack.context.save()
      #expect(ada.value(forKey: "bookCount") as? Int == 0)
    }
    try stack.fresh { context in
      let eve = try context.all("Author", where: NSPredicate(format: "bookCount == 1"))
      #expect(eve.map { $0.text("name") } == ["Eve"])
      try #expect(context.all("Author", by: "bookCount").map { $0.text("name") } == ["Ada", "Eve"])
    }
  }

  @Test func `text is folded and spelled large`() throws {
    let stack = try stack([
      ("Author", Self.derived("canonicalName", .stringAttributeType, "canonical:(name)")),
      ("Author", Self.derived("upperName", .stringAttributeType, "uppercase:(name)")),
      ("Author", Self.derived("lowerName", .stringAttributeType, "lowercase:(name)")),
      ("Author", Self.derived("copiedName", .stringAttributeType, "name")),
    ])
    try stack.context.performAndWait {
      let author = stack.context.insert("Author", ["name": "Héllo Wörld"])
      try stack.context.save()
      #expect(author.text("canonicalName") == "hello world")
      #expect(author.text("upperName") == "HÉLLO WÖRLD")
      #expect(author.text("lowerName") == "héllo wörld")
      #expect(author.text("copiedName") == "Héllo Wörld")
      author.setValue("Ünder", forKey: "name")
      try stack.context.save()
      #expect(author.text("canonicalName") == "under")
      author.setValue(nil, forKey: "name")
      try stack.context.save()
      #expect(author.text("canonicalName") == nil)
    }
  }

  @Test func `a key path over a to-one follows the other object`() throws {
    let stack = try stack([("Book", Self.derived("authorName", .stringAttributeType, "author.name"))])
    try stack.context.performAndWait {
      let ada = stack.context.insert("Author", ["name": "Ada"])
      let book = stack.context.insert("Novel", ["title": "Notes", "author": ada])
      try stack.context.save()
      #expect(book.text("authorName") == "Ada")
      ada.setValue("Augusta", forKey: "name")
      try stack.context.save()
      #expect(book.text("authorName") == "Augusta", "though the book is no part of the save")
      #expect(!stack.context.hasChanges)
      book.setValue(nil, forKey: "author")
      try stack.context.save()
      #expect(book.text("authorName") == nil)
    }
  }

  @Test func `sums and extremes follow members and their values`() throws {
    let stack = try stack([
      ("Author", Self.derived("pagesSum", .integer64AttributeType, "books.pages.@sum")),
      ("Author", Self.derived("longest", .integer64AttributeType, "books.pages.@max")),
      ("Tag", Self.derived("bookCount", .integer64AttributeType, "books.@count")),
    ])
    try stack.context.performAndWait {
      let ada = stack.context.insert("Author", ["name": "Ada"])
      let tag = stack.context.insert("Tag", ["name": "x"])
      try stack.context.save()
      #expect(ada.value(forKey: "pagesSum") as? Int == 0)
      #expect(ada.value(forKey: "longest") == nil)
      let book = stack.context.insert("Book", ["pages": 10, "author": ada, "tags": Set([tag])])
      stack.context.insert("Book", ["pages": 5, "author": ada])
      try stack.context.save()
      #expect(ada.value(forKey: "pagesSum") as? Int == 15)
      #expect(ada.value(forKey: "longest") as? Int == 10)
      #expect(tag.value(forKey: "bookCount") as? Int == 1)
      book.setValue(1, forKey: "pages")
      book.setValue(Set<NSManagedObject>(), forKey: "tags")
      try stack.context.save()
      #expect(ada.value(forKey: "pagesSum") as? Int == 6)
      #expect(ada.value(forKey: "longest") as? Int == 5)
      #expect(tag.value(forKey: "bookCount") as? Int == 0)
    }
  }

  @Test func `now is the moment of each save`() throws {
    let stack = try stack([("Author", Self.derived("saved", .dateAttributeType, "now()"))])
    try stack.context.performAndWait {
      let start = Date()
      let author = stack.context.insert("Author", ["name": "Ada"])
      try stack.context.save()
      let first = try #require(author.value(forKey: "saved") as? Date)
      #expect(first >= start.addingTimeInterval(-0.001))
      author.setValue("Eve", forKey: "name")
      try stack.context.save()
      let second = try #require(author.value(forKey: "saved") as? Date)
      #expect(second >= first)
    }
  }

  @Test func `a sibling that merges sees the new value`() throws {
    let stack = try stack([("Author", Self.derived("bookCount", .integer64AttributeType, "books.@count"))])
    let other = stack.sibling()
    other.performAndWait { other.automaticallyMergesChangesFromParent = true }
    let id = try stack.context.performAndWait {
      let ada = stack.context.insert("Author", ["name": "Ada"])
      try stack.context.save()
      return ada.objectID
    }
    let seen = try other.performAndWait { () -> NSManagedObject in
      let ada = try other.existingObject(with: id)
      #expect(ada.value(forKey: "bookCount") as? Int == 0)
      return ada
    }
    try stack.context.performAndWait {
      stack.context.insert("Book", ["author": stack.context.object(with: id)])
      try stack.context.save()
    }
    other.performAndWait {}
    other.performAndWait { #expect(seen.value(forKey: "bookCount") as? Int == 1) }
  }

  @Test func `a mandatory one without default fails the first save`() throws {
    let count = Self.derived("bookCount", .integer64AttributeType, "books.@count")
    count.isOptional = false
    let stack = try stack([("Author", count)])
    stack.context.performAndWait {
      stack.context.insert("Author")
      let error = #expect(throws: CocoaError.self) { try stack.context.save() }
      #expect(error?.code.rawValue == NSValidationMissingMandatoryPropertyError)
    }
  }

  @Test func `an operator in the middle is refused`() throws {
    let sum = NSDerivedAttributeDescription()
    sum.name = "pagesSum"
    sum.attributeType = .integer64AttributeType
    sum.derivationExpression = NSExpression(forKeyPath: "books.@sum.pages")
    #expect(throws: CocoaError.self) { try stack([("Author", sum)]) }
  }

  @Test func `a memory store refuses the model`() throws {
    let model = model([("Author", Self.derived("bookCount", .integer64AttributeType, "books.@count"))])
    let error = #expect(throws: CocoaError.self) { try TestStack(.memory, model: model) }
    #expect(error?.code.rawValue == NSPersistentStoreIncompatibleSchemaError)
  }

  @Test(.ofFiles) func `triggers of a count read as core datas`() throws {
    let stack = try stack([("Author", Self.derived("bookCount", .integer64AttributeType, "books.@count"))])
    let texts = try SQLiteText.triggers(at: stack.url)
    #expect(
      texts["Z_DA_ZPUBLICATION_Author_bookCount_PARAMETER_INSERT"]
        == "CREATE TRIGGER Z_DA_ZPUBLICATION_Author_bookCount_PARAMETER_INSERT AFTER INSERT ON ZPUBLICATION FOR EACH ROW "
        + "WHEN (NEW.ZAUTHOR NOT NULL) BEGIN UPDATE ZAUTHOR SET ZBOOKCOUNT = IFNULL(ZBOOKCOUNT, 0) + 1 WHERE Z_PK = "
        + "NEW.ZAUTHOR; SELECT NSCoreDataDATriggerUpdatedAffectedObjectValue('ZAUTHOR', Z_ENT, Z_PK, 'bookCount', "
        + "ZBOOKCOUNT) FROM ZAUTHOR WHERE Z_PK = NEW.ZAUTHOR; END")
    #expect(
      texts["Z_DA_ZAUTHOR_Author_bookCount_SOURCE_INSERT"]
        == "CREATE TRIGGER Z_DA_ZAUTHOR_Author_bookCount_SOURCE_INSERT AFTER INSERT ON ZAUTHOR FOR EACH ROW BEGIN UPDATE "
        + "ZAUTHOR SET ZBOOKCOUNT = (SELECT IFNULL(COUNT(ZAUTHOR), 0) FROM ZPUBLICATION WHERE ZAUTHOR = NEW.Z_PK) WHERE "
        + "Z_PK = NEW.Z_PK; SELECT NSCoreDataDATriggerInsertUpdatedAffectedObjectValue('ZAUTHOR', Z_ENT, Z_PK, "
        + "'bookCount', ZBOOKCOUNT) FROM ZAUTHOR WHERE Z_PK = NEW.Z_PK; END")
    #expect(texts.count == 5)
  }
}
