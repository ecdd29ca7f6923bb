import Foundation
import Testing

@testable import CoreData

/// Properties that become mandatory in a new version.
@Suite("Mandatory properties in lightweight migrations")
struct MandatoryMigrationTests {
  private static let old = ModelText.entity("Book", "", ModelText.text("title"))
  private static let tags = ModelText.entity("Tag", "", ModelText.text("name"))

  private static func fill(_ context: NSManagedObjectContext) { context.make("Book", ["title": "Emma"]) }

  private static func mandatory(_ text: String) -> String { text.replacing("optional=\"YES\"", with: "") }

  @Test func `a mandatory to-many is added, and may stay empty`() throws {
    let new =
      Self.tags
      + ModelText.entity("Book", "", ModelText.text("title"), Self.mandatory(ModelText.many("tags", "Tag")))
    try MigrationFixture().migrate(Self.old, Self.fill, to: new) { context in
      let book = try #require(try context.listed("Book", by: "title")["Emma"])
      book.setValue("Persuasion", forKey: "title")
      try context.save()
    }
  }

  @Test func `a mandatory to-one is added and checked at the next save`() throws {
    let new =
      Self.tags
      + ModelText.entity("Book", "", ModelText.text("title"), Self.mandatory(ModelText.one("tag", "Tag")))
    try MigrationFixture().migrate(Self.old, Self.fill, to: new) { context in
      let book = try #require(try context.listed("Book", by: "title")["Emma"])
      book.setValue("Persuasion", forKey: "title")
      let error = #expect(throws: CocoaError.self) { try context.save() }
      #expect(error?.code.rawValue == NSValidationMissingMandatoryPropertyError)
      book.setValue(context.make("Tag"), forKey: "tag")
      try context.save()
    }
  }

  @Test func `relationships are made mandatory with what they hold`() throws {
    let links = [ModelText.one("tag", "Tag"), ModelText.many("tags", "Tag")]
    func model(_ links: [String]) -> String {
      Self.tags + ModelText.entity("Book", "", ModelText.text("title"), links.joined())
    }
    try MigrationFixture().migrate(
      model(links),
      { context in
        let tag = context.make("Tag", ["name": "novel"])
        context.make("Book", ["title": "Emma", "tag": tag, "tags": Set([tag])])
        context.make("Book", ["title": "Beowulf"])
      }, to: model(links.map(Self.mandatory))
    ) { context in
      let books = try context.listed("Book", by: "title")
      #expect(
        (books["Emma"]?.value(forKey: "tag") as? NSManagedObject)?.value(forKey: "name") as? String == "novel"
      )
      #expect(books["Emma"]?.texts("tags", "name") == ["novel"])
      #expect(books["Beowulf"]?.value(forKey: "tag") == nil)
    }
  }

  // MARK: Attributes

  private static let required = ModelText.entity(
    "Book", "", ModelText.text("title"), "<attribute name=\"pages\" attributeType=\"Integer 16\"/>")

  /// Returns the error of opening the old store with `new`, which must leave it unchanged.
  private func failure(_ old: String, to new: String) throws -> CocoaError? {
    let fixture = try MigrationFixture()
    let before = try fixture.model(old)
    try fixture.open(before, options: nil) { context in
      Self.fill(context)
      try context.save()
    }
    let error = #expect(throws: CocoaError.self) { try fixture.open(try fixture.model(new)) { _ in } }
    try fixture.open(before, options: nil) { try #expect($0.texts("Book", "title") == ["Emma"]) }
    return error
  }

  private func check(_ error: CocoaError?) throws {
    #expect(error?.code.rawValue == NSMigrationError)
    let reason = "Validation error missing attribute values on mandatory destination attribute"
    #expect((error?.userInfo["reason"] as? String)?.contains(reason) == true)
    let cause = try #require(error?.userInfo[NSUnderlyingErrorKey] as? NSError)
    #expect(cause.code == NSMigrationError)
    #expect(cause.userInfo["entity"] as? String == "Book")
    #expect(cause.userInfo["attribute"] as? String == "pages")
    #expect(cause.userInfo["reason"] as? String == reason)
    #expect(error?.localizedDescription.contains("Book.pages") == true)
  }

  @Test func `a required attribute without default stops the migration`() throws {
    try check(failure(Self.old, to: Self.required))
  }

  @Test func `making an attribute required fails if rows lack a value`() throws {
    try check(
      failure(
        ModelText.entity("Book", "", ModelText.text("title"), ModelText.number("pages"))
          .replacing("Integer 64", with: "Integer 16"), to: Self.required))
  }

  @Test func `a required attribute without default has a mapping`() throws {
    let fixture = try MigrationFixture()
    let (old, new) = (try fixture.model(Self.old), try fixture.model(Self.required))
    _ = try NSMappingModel.inferredMappingModel(forSourceModel: old, destinationModel: new)
    // Without rows no value is missing.
    try fixture.open(old, options: nil) { _ in }
    try fixture.open(new) { try #expect($0.texts("Book", "title") == []) }
  }

  @Test func `values that were there all along are enough`() throws {
    try MigrationFixture().migrate(
      ModelText.entity("Book", "", ModelText.text("title")), Self.fill,
      to: ModelText.entity("Book", "", ModelText.text("title", ""))
    ) { try #expect($0.texts("Book", "title") == ["Emma"]) }
  }
}
