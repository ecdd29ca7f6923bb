import CoreDataModelSchema
import Testing

@testable import CoreDataModelCodegen

@Suite struct GeneratedShapeTests {
  private func book() -> EntitySchema {
    var book = EntitySchema(name: "Book")
    book.className = "Book"
    book.codeGeneration = .class
    return book
  }

  private func attribute(_ name: String, _ type: AttributeType, scalar: Bool = false) -> AttributeSchema {
    var attribute = AttributeSchema(traits: PropertyTraits(name: name), type: type)
    attribute.usesScalarValueType = scalar
    return attribute
  }

  private func text(_ entities: EntitySchema..., sources: [String] = []) throws -> String {
    try ModelCodegen.classes(
      of: ModelSchema(entities: entities), name: "Library.xcdatamodeld",
      sources: sources.map { ManagedAccessors.Source(path: "Source.swift", text: $0) }
    ).text
  }

  @Test(arguments: [
    (AttributeType.string, false, "String?"), (.integer16, false, "NSNumber?"), (.integer16, true, "Int16"),
    (.integer32, true, "Int32"), (.integer64, true, "Int64"), (.double, true, "Double"),
    (.float, true, "Float"),
    (.boolean, true, "Bool"), (.boolean, false, "NSNumber?"), (.decimal, false, "NSDecimalNumber?"),
    (.date, false, "Date?"), (.date, true, "TimeInterval"), (.binaryData, false, "Data?"),
    (.uuid, false, "UUID?"),
    (.uri, false, "URL?"), (.transformable, false, "NSObject?"), (.composite, false, "[String: Any]?"),
  ])
  func `Attributes have the types that Xcode gives them`(type: AttributeType, scalar: Bool, expected: String)
    throws
  {
    var entity = book()
    entity.attributes = [attribute("value", type, scalar: scalar)]
    #expect(try text(entity).contains("public var value: \(expected) {"))
  }

  @Test func `Category entities get properties but no class`() throws {
    var entity = book()
    entity.codeGeneration = .category
    entity.attributes = [attribute("title", .string)]
    let text = try text(entity)
    #expect(!text.contains("class Book: "))
    #expect(text.contains("extension Book {"))
  }

  @Test func `Manual entities get nothing`() throws {
    var entity = book()
    entity.codeGeneration = .manual
    #expect(try !text(entity).contains("Book"))
  }

  @Test func `An entity's class inherits from its parent's`() throws {
    var novel = EntitySchema(name: "Novel", parent: "Book")
    novel.className = "App.Novel"
    novel.codeGeneration = .class
    let text = try text(book(), novel)
    #expect(text.contains("public class Novel: Book {}"))
    #expect(!text.contains("extension Novel: Identifiable"))
  }

  @Test func `Ordered relationships get methods by index`() throws {
    var entity = book()
    entity.relationships = [
      RelationshipSchema(
        traits: PropertyTraits(name: "sequels"), destination: "Book", inverse: nil, maxCount: 0,
        isOrdered: true)
    ]
    let text = try text(entity)
    #expect(text.contains("public var sequels: NSOrderedSet? {"))
    for signature in [
      "insertIntoSequels(_ value: Book, at idx: Int)", "removeFromSequels(at idx: Int)",
      "replaceSequels(at indexes: NSIndexSet, with values: [Book])", "addToSequels(_ values: NSOrderedSet)",
    ] {
      #expect(text.contains("public func \(signature) {"))
    }
  }

  @Test func `Properties typed by an internal class are internal`() throws {
    var entity = book()
    entity.relationships = [
      RelationshipSchema(traits: PropertyTraits(name: "loan"), destination: "Loan", inverse: nil)
    ]
    var loan = EntitySchema(name: "Loan")
    loan.className = "Loan"
    let text = try text(entity, loan, sources: ["class Loan: NSManagedObject {}"])
    #expect(text.contains("\n  var loan: Loan? {"))
  }

  @Test func `User info becomes documentation, whatever it holds`() throws {
    var entity = book()
    var title = attribute("title", .string)
    title.traits.userInfo = ["documentation": "As printed.\n*/ evil()"]
    entity.attributes = [title]
    #expect(try text(entity).contains("  /// As printed.\n  /// */ evil()\n  public var title"))
  }

  @Test(arguments: ["a b", "x: Int { 0 } }; func evil() {", "", "1st"])
  func `A name that is no identifier is refused`(name: String) {
    var entity = book()
    entity.attributes = [attribute(name, .string)]
    #expect(throws: ModelCodegenError.self) { try text(entity) }
  }

  @Test func `A custom class that is no type is refused`() {
    var entity = book()
    var cover = attribute("cover", .transformable)
    cover.customClassName = "Int { 0 }; func evil() {"
    entity.attributes = [cover]
    #expect(throws: ModelCodegenError.self) { try text(entity) }
  }

  @Test func `A name that every managed object has is refused`() {
    var entity = book()
    entity.attributes = [attribute("description", .string)]
    #expect(throws: ModelCodegenError.self) { try text(entity) }
  }

  @Test func `Two entities cannot have one generated class`() {
    var other = EntitySchema(name: "Other")
    other.className = "Book"
    other.codeGeneration = .class
    #expect(throws: ModelCodegenError.self) { try text(book(), other) }
  }
}
