import CoreDataModelSchema
import Testing

@testable import CoreDataModelCodegen

@Suite struct SwiftDataClassTests {
  private static func _attribute(
    _ name: String, _ type: AttributeType, optional: Bool = false, default value: SchemaLiteral? = nil
  ) -> AttributeSchema {
    AttributeSchema(traits: PropertyTraits(name: name, isOptional: optional), type: type, defaultValue: value)
  }

  private static func _relationship(
    _ name: String, to destination: String, inverse: String?, toMany: Bool = false, optional: Bool = true
  ) -> RelationshipSchema {
    RelationshipSchema(
      traits: PropertyTraits(name: name, isOptional: optional), destination: destination, inverse: inverse,
      maxCount: toMany ? 0 : 1)
  }

  private static func _book(_ change: (inout EntitySchema) -> Void = { _ in }) -> EntitySchema {
    var book = EntitySchema(name: "Book")
    change(&book)
    return book
  }

  /// Returns the text of the only class.
  private func _class(_ change: (inout EntitySchema) -> Void) throws -> String {
    try SwiftDataCodegen.files(of: ModelSchema(entities: [Self._book(change)])).files[0].text
  }

  private func _remarks(_ change: (inout EntitySchema) -> Void) throws -> [String] {
    try SwiftDataCodegen.files(of: ModelSchema(entities: [Self._book(change)])).remarks
  }

  @Test func `A default UUID of a store is drawn anew, one of a model file is kept`() throws {
    let uuid = "6F0A5B16-21F7-4B64-9D2C-0C8E0F4C1B11"
    let schema = ModelSchema(entities: [
      Self._book { $0.attributes = [Self._attribute("id", .uuid, default: .uuid(uuid))] }
    ])
    #expect(try SwiftDataCodegen.files(of: schema, isOfStore: true).files[0].text.contains("= UUID()\n"))
    #expect(try SwiftDataCodegen.files(of: schema).files[0].text.contains("UUID(uuidString: \"\(uuid)\")!"))
  }

  @Test(arguments: [(790_000_000.25, "Date()"), (0.0, "Date(timeIntervalSinceReferenceDate: 0.0)")])
  func `A store's default date with a fraction is the clock's`(_ seconds: Double, _ text: String) throws {
    let schema = ModelSchema(entities: [
      Self._book { $0.attributes = [Self._attribute("made", .date, default: .date(seconds))] }
    ])
    #expect(try SwiftDataCodegen.files(of: schema, isOfStore: true).files[0].text.contains("= \(text)\n"))
    let kept = "Date(timeIntervalSinceReferenceDate: \(seconds))"
    #expect(try SwiftDataCodegen.files(of: schema).files[0].text.contains("= \(kept)\n"))
  }

  @Test func `What SwiftData has not is remarked`() throws {
    let all = try _remarks {
      $0.versionHashModifier = "2"
      $0.renamingIdentifier = "Volume"
      $0.fetchedProperties = [
        FetchedPropertySchema(
          traits: PropertyTraits(name: "recent"), request: FetchRequestSchema(name: "", entity: "Book"))
      ]
    }.joined(separator: "; ")
    for part in [
      "no hash modifier of an entity ('2')", "no former name of an entity ('Volume')", "'recent' is left out",
    ] {
      #expect(all.contains(part), "\(all)")
    }
    var schema = ModelSchema(entities: [Self._book()])
    schema.fetchRequests = [FetchRequestSchema(name: "all", entity: "Book")]
    #expect(
      try SwiftDataCodegen.files(of: schema).remarks == ["SwiftData has no fetch request templates: 'all'"])
  }

  @Test func `An entity that can be no class is an error`() {
    func reason(_ entities: [EntitySchema]) -> String? {
      do {
        _ = try SwiftDataCodegen.files(of: ModelSchema(entities: entities))
        return nil
      } catch {
        return "\(error)"
      }
    }
    #expect(reason([EntitySchema(name: "A"), EntitySchema(name: "A")])?.contains("two entities") == true)
    #expect(reason([EntitySchema(name: "a b")])?.contains("no Swift identifier") == true)
    #expect(reason([EntitySchema(name: "Root")])?.contains("every model has a type of this name") == true)
    #expect(reason([EntitySchema(name: "A", parent: "B")])?.contains("'B' is not in the model") == true)
    let circle = [EntitySchema(name: "A", parent: "B"), EntitySchema(name: "B", parent: "A")]
    #expect(reason(circle)?.contains("circle") == true)
  }

  @Test func `An entity becomes a class`() throws {
    var author = EntitySchema(name: "Author")
    author.attributes = [Self._attribute("name", .string)]
    author.relationships = [Self._relationship("books", to: "Book", inverse: "author", toMany: true)]
    author.relationships[0].deleteRule = .cascade
    let book = Self._book {
      $0.attributes = [
        Self._attribute("isbn", .string), Self._attribute("pages", .integer64, default: .integer(0)),
        Self._attribute("printed", .date, optional: true),
      ]
      $0.uniquenessConstraints = [["isbn"]]
      $0.relationships = [Self._relationship("author", to: "Author", inverse: "books")]
    }
    let result = try SwiftDataCodegen.files(of: ModelSchema(entities: [book, author]))
    #expect(result.remarks.isEmpty)
    #expect(result.files.map(\.name) == ["Author.swift", "Book.swift"])
    #expect(
      result.files.map(\.text) == [
        """
        import Foundation
        import SwiftData

        @Model
        final class Author {
          var name: String
          @Relationship(deleteRule: .cascade, inverse: \\Book.author) var books: [Book]?

          init(name: String) {
            self.name = name
          }
        }

        """,
        """
        import Foundation
        import SwiftData

        @Model
        final class Book {
          @Attribute(.unique) var isbn: String
          var pages: Int = 0
          var printed: Date?
          var author: Author?

          init(isbn: String) {
            self.isbn = isbn
          }
        }

        """,
      ])
  }

  @Test(arguments: [
    (AttributeType.integer16, "Int16"), (.integer32, "Int32"), (.integer64, "Int"), (.decimal, "Decimal"),
    (.double, "Double"), (.float, "Float"), (.string, "String"), (.boolean, "Bool"), (.date, "Date"),
    (.binaryData, "Data"), (.uuid, "UUID"), (.uri, "URL"),
  ])
  func `A type has its Swift type`(type: AttributeType, name: String) throws {
    #expect(try _class { $0.attributes = [Self._attribute("a", type)] }.contains("  var a: \(name)\n"))
    #expect(
      try _class { $0.attributes = [Self._attribute("a", type, optional: true)] }.contains(
        "  var a: \(name)?\n"))
  }

  @Test(arguments: [
    (AttributeType.boolean, SchemaLiteral.integer(1), "true"), (.boolean, .boolean(false), "false"),
    (.integer32, .integer(-7), "-7"), (.double, .double(1.5), "1.5"), (.double, .double(2), "2"),
    (.decimal, .decimal("1.10"), "Decimal(string: \"1.10\")!"), (.decimal, .decimal("0"), "0"),
    (.string, .string("a\"\\"), "\"a\\\"\\\\\""),
    (.date, .date(60), "Date(timeIntervalSinceReferenceDate: 60.0)"),
    (.binaryData, .data([1, 2]), "Data([1, 2])"), (.uri, .uri("a:b"), "URL(string: \"a:b\")!"),
  ])
  func `A default value is written`(type: AttributeType, value: SchemaLiteral, text: String) throws {
    let source = try _class { $0.attributes = [Self._attribute("a", type, default: value)] }
    #expect(source.contains(" = \(text)\n"))
    #expect(source.contains("  init() {\n"))
  }

  @Test func `Options of an attribute are written`() throws {
    let source = try _class {
      var attribute = Self._attribute("a", .binaryData, optional: true)
      attribute.allowsExternalBinaryDataStorage = true
      attribute.preservesValueInHistoryOnDeletion = true
      attribute.traits.renamingIdentifier = "b"
      attribute.traits.versionHashModifier = "2"
      $0.attributes = [attribute]
    }
    #expect(
      source.contains(
        "@Attribute(.externalStorage, .preserveValueOnDeletion, originalName: \"b\", hashModifier: \"2\")"))
  }

  @Test func `A transformable attribute names its transformer`() throws {
    var attribute = Self._attribute("a", .transformable, optional: true)
    attribute.valueTransformerName = "ColorTransformer"
    attribute.customClassName = "Color"
    let source = try _class { $0.attributes = [attribute] }
    #expect(source.contains("  @Attribute(.transformable(by: \"ColorTransformer\")) var a: Color?\n"))
  }

  @Test func `An array that SwiftData wrote is an array again`() throws {
    var attribute = Self._attribute("a", .transformable)
    attribute.valueTransformerName = "NSSecureUnarchiveFromData"
    attribute.customClassName = "Array<String>"
    #expect(try _class { $0.attributes = [attribute] }.contains("  var a: [String]\n"))
  }

  @Test func `A composite becomes a struct`() throws {
    var attribute = Self._attribute("place", .composite, optional: true)
    attribute.elements = [
      Self._attribute("latitude", .double), Self._attribute("name", .string, optional: true),
    ]
    let source = try _class { $0.attributes = [attribute] }
    #expect(source.contains("  var place: Place?\n"))
    #expect(
      source.contains(
        "  struct Place: Codable, Hashable {\n    var latitude: Double\n    var name: String?\n  }\n"))
  }

  @Test func `A struct does not hide a type`() throws {
    var attribute = Self._attribute("data", .composite)
    attribute.elements = [Self._attribute("bytes", .binaryData)]
    let source = try _class { $0.attributes = [attribute] }
    #expect(source.contains("  var data: DataValue\n"))
    #expect(source.contains("    var bytes: Data\n"))
  }

  @Test func `An entity does not hide a type`() throws {
    var date = EntitySchema(name: "Date")
    date.attributes = [Self._attribute("day", .date), Self._attribute("text", .string)]
    let text = try SwiftDataCodegen.files(of: ModelSchema(entities: [date])).files[0].text
    #expect(text.contains("  var day: Foundation.Date\n  var text: String\n"))
  }

  @Test func `One end of two names the inverse`() throws {
    var pair = ["A", "B"].map { EntitySchema(name: $0) }
    pair[0].relationships = [Self._relationship("b", to: "B", inverse: "a")]
    pair[1].relationships = [Self._relationship("a", to: "A", inverse: "b")]
    let texts = try SwiftDataCodegen.files(of: ModelSchema(entities: pair)).files.map(\.text)
    #expect(texts[0].contains("  @Relationship(inverse: \\B.a) var b: B?\n"))
    #expect(texts[1].contains("  var a: A?\n"))
  }

  @Test func `Constraints and indexes are written`() throws {
    let source = try _class {
      $0.attributes = ["a", "b"].map { Self._attribute($0, .double) }
      $0.uniquenessConstraints = [["a", "b"]]
      $0.indexes = [
        FetchIndexSchema(name: "i", elements: [.init(property: "a")]),
        FetchIndexSchema(name: "j", elements: ["a", "b"].map { .init(property: $0, isRTree: true) }),
      ]
    }
    #expect(source.contains("  #Unique<Book>([\\.a, \\.b])\n"))
    #expect(source.contains("  #Index<Book>(.binary([\\.a]), .rtree([\\.a, \\.b]))\n"))
  }

  @Test func `A subentity becomes a subclass`() throws {
    var novel = EntitySchema(name: "Novel", parent: "Book")
    novel.attributes = [Self._attribute("plot", .string)]
    let book = Self._book { $0.attributes = [Self._attribute("title", .string)] }
    let texts = try SwiftDataCodegen.files(of: ModelSchema(entities: [book, novel])).files.map(\.text)
    #expect(texts[0].contains("\nclass Book {"))
    #expect(
      texts[1].contains(
        "final class Novel: Book {\n  var plot: String\n\n  init(title: String, plot: String) {\n    self.plot = plot\n"
          + "    super.init(title: title)\n  }\n}\n"))
  }

  @Test func `What SwiftData has no words for is said`() throws {
    var derived = Self._attribute("count", .integer64)
    derived.derivationExpression = "items.@count"
    #expect(
      try _remarks { $0.attributes = [derived] }
        == ["entity 'Book', attribute 'count': SwiftData has no derived attributes; it is left out"])
    var ordered = Self._relationship("pages", to: "Book", inverse: nil, toMany: true)
    ordered.isOrdered = true
    #expect(try _remarks { $0.relationships = [ordered] }.count == 1)
    #expect(try _remarks { $0.isAbstract = true }.count == 1)
  }

  @Test(arguments: ["a b", "1a", "", "schemaMetadata"])
  func `A name that no property can have is an error`(name: String) {
    #expect(throws: ModelCodegenError.self) {
      try _class { $0.attributes = [Self._attribute(name, .string)] }
    }
  }

  @Test func `A name that every model has is an error`() {
    #expect(throws: ModelCodegenError.self) {
      try SwiftDataCodegen.files(of: ModelSchema(entities: [EntitySchema(name: "Root")]))
    }
  }

  // MARK: Versions

  @Test func `Versions become a plan`() throws {
    let versions = ["Books", "Books 2", "Books 3"].enumerated().map { index, name in
      SwiftDataCodegen.Version(
        name: name,
        schema: ModelSchema(entities: [
          Self._book {
            $0.attributes = (0...min(index, 1)).map { Self._attribute("a\($0)", .string, optional: true) }
          }
        ]))
    }
    let result = try SwiftDataCodegen.files(of: versions, name: "my books")
    #expect(
      result.files.map(\.name) == [
        "MyBooksSchemaV1.swift", "MyBooksSchemaV2.swift", "MyBooksMigrationPlan.swift",
      ])
    #expect(result.remarks == ["version 'Books 3': a store cannot tell it from 'Books 2', so it is left out"])
    #expect(
      result.files[0].text == """
        import Foundation
        import SwiftData

        /// Version 'Books'.
        enum MyBooksSchemaV1: VersionedSchema {
          static var versionIdentifier: Schema.Version { Schema.Version(1, 0, 0) }

          static var models: [any PersistentModel.Type] {
            [Book.self]
          }

          @Model
          final class Book {
            var a0: String?

            init() {
            }
          }
        }

        """)
    #expect(
      result.files[2].text == """
        import Foundation
        import SwiftData

        /// Leads a store from each version of the model to the next.
        enum MyBooksMigrationPlan: SchemaMigrationPlan {
          static var schemas: [any VersionedSchema.Type] {
            [MyBooksSchemaV1.self, MyBooksSchemaV2.self]
          }

          static var stages: [MigrationStage] {
            [
              .lightweight(fromVersion: MyBooksSchemaV1.self, toVersion: MyBooksSchemaV2.self),
            ]
          }
        }

        typealias Book = MyBooksSchemaV2.Book

        """)
  }

  @Test func `documentation in the model is above the class and each property`() throws {
    let source = try _class {
      var title = Self._attribute("title", .string)
      title.traits.userInfo["documentation"] = "As on the cover."
      $0.attributes = [title]
      $0.userInfo["documentation"] = "A thing to read."
    }
    #expect(source.contains("/// A thing to read.\n"))
    #expect(source.contains("  /// As on the cover.\n  var title"))
  }
}
