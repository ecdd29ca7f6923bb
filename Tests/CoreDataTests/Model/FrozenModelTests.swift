import CoreDataModelSchema
import Testing

@testable import CoreData

/// A model in these tests names this class without its module.
final class PlainlyNamedObject: NSManagedObject {}

@Suite("A model in use")
struct FrozenModelTests {
  @Test func `is frozen once, with entities by number and defaults by slot`() throws {
    let sample = SampleLibrary()
    let frozen = try sample.model.frozen()
    #expect(try sample.model.frozen() === frozen)
    #expect(frozen.entities.map(\.name) == ["Book", "Person", "Author"])
    #expect(frozen.entity(numbered: 3) === sample.author)
    let book = try #require(sample.book.frozen)
    #expect(book.layout === sample.book.layout)
    let pages = try #require(book.layout.slot(named: "pages"))
    #expect(book.defaults[pages] == .int(100))
    #expect(book.properties[pages] === sample.pages)
    let title = try #require(book.layout.slot(named: "title"))
    #expect(book.defaults[title] == .null)
    #expect(sample.model.entitiesByName["Book"] === sample.book)
    #expect(sample.book.attributesByName["title"] === sample.title)
  }

  @Test func `its copy can be changed`() throws {
    let sample = SampleLibrary()
    _ = try sample.model.frozen()
    let copy = sample.model.copy() as! NSManagedObjectModel
    copy.entitiesByName["Book"]!.name = "Volume"
    #expect(copy.entitiesByName["Volume"] != nil)
    #expect(sample.book.name == "Book")
  }

  @Test func `user info can still be changed`() throws {
    let sample = SampleLibrary()
    _ = try sample.model.frozen()
    sample.title.userInfo = ["search": "x"]
    #expect(sample.title.userInfo?["search"] as? String == "x")
  }

  @Test func `a change of a property traps, and says what to do`() async throws {
    let result = try #require(
      await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
        let sample = SampleLibrary()
        _ = try sample.model.frozen()
        sample.title.isOptional = true
      })
    let message = String(decoding: result.standardErrorContent, as: UTF8.self)
    #expect(message.contains("can't change isOptional of property 'Book.title'"))
    #expect(message.contains("copy()"))
  }

  @Test func `a change of an entity traps`() async throws {
    let result = try #require(
      await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
        let sample = SampleLibrary()
        _ = try sample.model.frozen()
        sample.book.properties = []
      })
    #expect(
      String(decoding: result.standardErrorContent, as: UTF8.self)
        .contains("can't change properties of entity 'Book'"))
  }

  @Test(arguments: ["name", "elements", "partialIndexPredicate", "collationType", "isAscending"])
  func `a change of an index traps`(_ property: String) async throws {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      [property = property as String] in
      let sample = SampleLibrary()
      let index = NSFetchIndexDescription(
        name: "byTitle",
        elements: [NSFetchIndexElementDescription(property: sample.title, collationType: .binary)])
      sample.book.indexes = [index]
      _ = try sample.model.frozen()
      switch property {
      case "name": index.name = "other"
      case "elements": index.elements = []
      case "partialIndexPredicate": index.partialIndexPredicate = NSPredicate(value: true)
      case "collationType": index.elements[0].collationType = .rTree
      default: index.elements[0].isAscending = false
      }
    }
    let message = String(decoding: try #require(result).standardErrorContent, as: UTF8.self)
    #expect(message.contains("can't change"))
  }

  @Test func `a change of the model traps`() async throws {
    let result = try #require(
      await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
        let sample = SampleLibrary()
        _ = try sample.model.frozen()
        sample.model.entities = []
      })
    #expect(
      String(decoding: result.standardErrorContent, as: UTF8.self).contains(
        "can't change entities of a model in use"))
  }

  @Test func `a default value that does not fit its type is left out`() throws {
    let sample = SampleLibrary()
    sample.pages.defaultValue = "many"
    _ = try sample.model.frozen()
    let slot = try #require(sample.book.shape.layout.slot(named: "pages"))
    #expect(sample.book.shape.defaults[slot] == .null)
  }

  @Test func `a validation predicate that cannot be used is left out`() throws {
    let sample = SampleLibrary()
    sample.title.setValidationPredicates(
      [NSPredicate(format: "length > 2"), NSPredicate(format: "length < 9")],
      withValidationWarnings: ["short"])
    sample.pages.fileValidations = [ValidationSchema(predicate: "is no predicate (", warning: "")]
    _ = try sample.model.frozen()
    let layout = sample.book.shape.layout
    #expect(sample.book.shape.validation.slots == [try #require(layout.slot(named: "title"))])
  }

  @Test func `a relationship without destination is refused`() {
    let sample = SampleLibrary()
    sample.writer.destinationEntity = nil
    #expect(throws: ModelLayoutError.self) { try sample.model.frozen() }
  }

  @Test func `an inverse that does not point back is refused`() throws {
    let sample = SampleLibrary()
    sample.writer.inverseRelationship = nil
    let error = #expect(throws: ModelLayoutError.self) { try sample.model.frozen() }
    #expect(error?.description.contains("Author.books") == true)
    #expect(error?.description.contains("set both ends") == true)
  }

  @Test(arguments: ["CoreDataTests.PlainlyNamedObject", "PlainlyNamedObject", ".PlainlyNamedObject"])
  func `an entity's class is found with or without its module`(name: String) throws {
    let sample = SampleLibrary()
    sample.book.managedObjectClassName = name
    _ = try sample.model.frozen()
    #expect(sample.book.frozen?.objectClass == PlainlyNamedObject.self)
  }

  @Test func `an unknown or unsuitable class becomes NSManagedObject`() throws {
    for name in ["NoSuchThing", "NSNumber"] {
      let sample = SampleLibrary()
      sample.book.managedObjectClassName = name
      _ = try sample.model.frozen()
      #expect(sample.book.frozen?.objectClass == NSManagedObject.self)
    }
  }

  @Test func `a schema becomes a model and comes back the same`() throws {
    var schema = ModelSchema(SampleLibrary().model)
    schema.entities[2].uniquenessConstraints = [["title"]]
    schema.entities[2].indexes = [
      FetchIndexSchema(name: "byTitle", elements: [.init(property: "title", isAscending: false)])
    ]
    schema.entities[2].userInfo = ["k": "v"]
    schema.entities[2].attributes[0].limits = AttributeLimits(minimum: .integer(1))
    schema.configurations = [ConfigurationSchema(name: "Books", entities: ["Book"])]
    schema.versionIdentifiers = ["2"]
    var template = FetchRequestSchema(name: "long", entity: "Book", predicate: "pages > 300")
    template.fetchLimit = 5
    schema.fetchRequests = [template]
    let model = try NSManagedObjectModel(schema: schema)
    #expect(ModelSchema(model) == schema)
    #expect(ModelSchema(model.copy() as! NSManagedObjectModel) == schema)
  }

  @Test func `a model changed after it was read is laid out as changed`() throws {
    let schema = ModelSchema(SampleLibrary().model)
    let model = try NSManagedObjectModel(schema: schema)
    let added = NSAttributeDescription()
    added.name = "added"
    added.attributeType = .stringAttributeType
    model.entities[0].properties.append(added)
    let name = try #require(model.entities[0].name)
    let layouts = try model.frozen().layout.layouts
    #expect(layouts.first { $0.entityName == name }?.slot(named: "added") != nil)
  }
}
