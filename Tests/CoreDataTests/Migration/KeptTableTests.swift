import CoreDataSQLiteBinding
import Foundation
import Testing

@testable import CoreData

/// Tables whose rows a lightweight migration leaves where they are.
@Suite(.ofFiles) struct KeptTableTests {
  private let fixture: MigrationFixture

  init() throws { fixture = try MigrationFixture() }

  /// The first page of each table and index, which is another one after a copy.
  private func _places() throws -> [String: Int64] {
    var places: [String: Int64] = [:]
    try Connection(path: fixture.url.path, mode: .readOnly).query(
      "SELECT name, rootpage FROM sqlite_master WHERE rootpage > 0"
    ) { places[$0.string(0)] = $0.int64(1) }
    return places
  }

  /// Saves two books of an author, with tags.
  private func _fill(_ model: String) throws {
    try fixture.open(try fixture.model(model), options: nil) { context in
      let author = context.make("Author", ["name": "Austen"])
      let tag = context.make("Tag", ["name": "novel"])
      for title in ["Emma", "Persuasion"] {
        context.make(
          "Book", ["title": title, "pages": 300, "author": author, "tags": Set([tag]) as NSSet])
      }
      try context.save()
    }
  }

  private static func library(book: String = "", more: String = "") -> String {
    ModelText.entity("Author", "", ModelText.text("name"), ModelText.many("books", "Book", "author"))
      + ModelText.entity(
        "Book", "", ModelText.text("title"), ModelText.number("pages"),
        ModelText.one("author", "Author", "books"), ModelText.many("tags", "Tag", "books"), book)
      + ModelText.entity("Tag", "", ModelText.text("name"), ModelText.many("books", "Book", "tags")) + more
  }

  private static func index(_ name: String, _ property: String) -> String {
    "<fetchIndex name=\"\(name)\"><fetchIndexElement property=\"\(property)\" type=\"Binary\" order=\"ascending\"/></fetchIndex>"
  }

  /// Checks that the objects and links of `_fill` are there.
  private func _check(_ context: NSManagedObjectContext) throws {
    let books = try context.listed("Book", by: "title")
    #expect(books.keys.sorted() == ["Emma", "Persuasion"])
    #expect(books["Emma"]?.value(forKey: "pages") as? Int == 300)
    #expect((books["Emma"]?.value(forKey: "author") as? NSManagedObject)?.texts("books", "title").count == 2)
    #expect(
      try context.listed("Tag", by: "name")["novel"]?.texts("books", "title") == ["Emma", "Persuasion"])
  }

  @Test func `Attributes are added where the rows are`() throws {
    try _fill(Self.library())
    let before = try _places()
    let book = ModelText.text("kind", "defaultValueString=\"epic\"") + ModelText.text("note")
    try fixture.open(try fixture.model(Self.library(book: book))) { context in
      try _check(context)
      let emma = try #require(try context.listed("Book", by: "title")["Emma"])
      #expect(emma.value(forKey: "kind") as? String == "epic")
      #expect(emma.value(forKey: "note") as? String == nil)
      emma.setValue("read", forKey: "note")
      try context.save()
    }
    try #expect(_places() == before)
    try fixture.open(try fixture.model(Self.library(book: book))) { context in
      try #expect(context.listed("Book", by: "title")["Emma"]?.value(forKey: "note") as? String == "read")
    }
  }

  @Test func `Rows get their entities' new numbers where they are`() throws {
    try _fill(Self.library())
    let before = try _places()
    // The first by its name: the others' numbers grow.
    let more = ModelText.entity("Abbey", "", ModelText.text("name"))
    try fixture.open(try fixture.model(Self.library(more: more))) { context in
      try _check(context)
      context.make("Abbey", ["name": "Northanger"])
      context.make("Author", ["name": "Woolf"])
      try context.save()
    }
    let after = try _places()
    for table in ["ZAUTHOR", "ZBOOK", "ZTAG"] { #expect(after[table] == before[table]) }
    try fixture.open(try fixture.model(Self.library(more: more))) { context in
      try #expect(context.texts("Author", "name") == ["Austen", "Woolf"])
    }
  }

  @Test func `Only the indexes that differ are made and dropped`() throws {
    let old = Self.library(book: Self.index("byTitle", "title") + Self.index("byPages", "pages"))
    let new = Self.library(book: Self.index("byPages", "pages") + Self.index("byAuthor", "title"))
    try _fill(old)
    let before = try _places()
    // An index alone makes no other version; a modifier does.
    let changed = new.replacing(
      "<entity name=\"Book\"", with: "<entity versionHashModifier=\"2\" name=\"Book\"")
    try fixture.open(try fixture.model(changed)) { try _check($0) }
    let after = try _places()
    #expect(after["Z_Book_byTitle"] == nil)
    #expect(after["Z_Book_byAuthor"] != nil)
    #expect(after["Z_Book_byPages"] == before["Z_Book_byPages"])
    #expect(after["ZBOOK_ZAUTHOR_INDEX"] == before["ZBOOK_ZAUTHOR_INDEX"])
  }

  @Test func `A to-one learns which subentity it refers to`() throws {
    try _fill(Self.library())
    let more = "<entity name=\"Poet\" parentEntity=\"Author\"></entity>"
    try fixture.open(try fixture.model(Self.library(more: more))) { context in
      try _check(context)
      let poet = context.make("Poet", ["name": "Rilke"])
      context.make("Book", ["title": "Elegien", "author": poet])
      try context.save()
    }
    try fixture.open(try fixture.model(Self.library(more: more))) { context in
      let books = try context.listed("Book", by: "title")
      let names = books.mapValues { ($0.value(forKey: "author") as? NSManagedObject)?.entity.name ?? "" }
      #expect(names == ["Emma": "Author", "Persuasion": "Author", "Elegien": "Poet"])
    }
  }

  @Test func `A removed attribute leaves no column`() throws {
    try _fill(Self.library())
    try fixture.bundle(fixture.model(Self.library()))
    let new = Self.library().replacing(ModelText.number("pages"), with: "")
    try fixture.open(try fixture.model(new)) { context in
      try #expect(context.texts("Book", "title") == ["Emma", "Persuasion"])
      try #expect(context.listed("Author", by: "name")["Austen"]?.texts("books", "title").count == 2)
    }
    try #expect(!fixture.schema().contains { $0.contains("ZPAGES") })
  }

  @Test func `A constraint is checked in a table that stays`() throws {
    try fixture.open(try fixture.model(Self.library()), options: nil) { context in
      for _ in 0..<2 { context.make("Book", ["title": "Emma"]) }
      try context.save()
    }
    let constraint =
      "<uniquenessConstraints><uniquenessConstraint><constraint value=\"title\"/></uniquenessConstraint></uniquenessConstraints>"
    let before = try fixture.schema()
    let new = try fixture.model(Self.library(book: constraint + ModelText.text("note")))
    #expect(throws: (any Error).self) { try fixture.open(new) { _ in } }
    try #expect(fixture.schema() == before)
  }
}
