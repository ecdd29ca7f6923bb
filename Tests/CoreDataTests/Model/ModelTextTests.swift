import CoreDataModelSchema
import Testing

@testable import CoreData

@Suite("Predicates and expressions in a model file")
struct ModelTextTests {
  private func _model(_ change: (inout ModelSchema) -> Void) throws -> NSManagedObjectModel {
    var book = EntitySchema(name: "Book")
    book.attributes = [
      AttributeSchema(traits: PropertyTraits(name: "pages"), type: .integer32),
      AttributeSchema(traits: PropertyTraits(name: "title"), type: .string),
      AttributeSchema(traits: PropertyTraits(name: "published"), type: .date),
    ]
    var schema = ModelSchema(entities: [book])
    change(&schema)
    return try NSManagedObjectModel(schema: schema)
  }

  private func _attribute(_ model: NSManagedObjectModel, _ name: String) throws -> NSAttributeDescription {
    try #require(model.entitiesByName["Book"]?.attributesByName[name])
  }

  @Test func `a template becomes a request whose variables can be replaced`() throws {
    let model = try _model {
      $0.fetchRequests = [FetchRequestSchema(name: "long", entity: "Book", predicate: "pages > $LIMIT")]
    }
    let template = try #require(model.fetchRequestTemplate(forName: "long"))
    #expect(template.predicate?.predicateText == "pages > $LIMIT")
    let request = try #require(
      model.fetchRequestFromTemplate(withName: "long", substitutionVariables: ["LIMIT": 300]))
    #expect(request.predicate?.predicateText == "pages > 300")
    #expect(template.predicate?.predicateText == "pages > $LIMIT")
    #expect(model.fetchRequestTemplatesByName.keys.sorted() == ["long"])
    #expect(model.fetchRequestTemplate(forName: "short") == nil)
  }

  @Test func `text that is no predicate gives no request and no trap`() throws {
    let model = try _model {
      $0.fetchRequests = ["pages >", "pages == %@", String(repeating: "(", count: 100_000)].enumerated().map {
        FetchRequestSchema(name: "t\($0.offset)", entity: "Book", predicate: $0.element)
      }
    }
    for name in ["t0", "t1", "t2"] { #expect(model.fetchRequestTemplate(forName: name) == nil) }
  }

  @Test func `limits become predicates with their error codes`() throws {
    let model = try _model {
      $0.entities[0].attributes[0].limits = AttributeLimits(minimum: .integer(1), maximum: .integer(9))
      $0.entities[0].attributes[1].limits = AttributeLimits(
        minimum: .integer(2), maximum: .integer(3), regularExpression: "[a-z\"]*")
      $0.entities[0].attributes[2].limits = AttributeLimits(minimum: .date(10), maximum: .date(20))
    }
    func failures(_ name: String, _ value: Any) throws -> [Int] {
      let attribute = try _attribute(model, name)
      return zip(attribute.validationPredicates, attribute.validationWarnings).filter {
        !$0.0.evaluate(with: value)
      }
      .map { $0.1 as! Int }
    }
    #expect(try failures("pages", 5).isEmpty)
    #expect(try failures("pages", 0) == [NSValidationNumberTooSmallError])
    #expect(try failures("pages", 10) == [NSValidationNumberTooLargeError])
    #expect(try failures("title", "ab").isEmpty)
    #expect(try failures("title", "a") == [NSValidationStringTooShortError])
    #expect(try failures("title", "abcd") == [NSValidationStringTooLongError])
    #expect(try failures("title", "A1") == [NSValidationStringPatternMatchingError])
    #expect(try failures("published", Date(timeIntervalSinceReferenceDate: 15)).isEmpty)
    #expect(
      try failures("published", Date(timeIntervalSinceReferenceDate: 5)) == [NSValidationDateTooSoonError])
    #expect(
      try failures("published", Date(timeIntervalSinceReferenceDate: 25)) == [NSValidationDateTooLateError])
  }

  @Test func `predicates set in code replace limits and survive as text`() throws {
    let model = try _model { $0.entities[0].attributes[1].limits = AttributeLimits(minimum: .integer(2)) }
    let title = try _attribute(model, "title")
    title.setValidationPredicates(
      [NSPredicate(format: "SELF CONTAINS 'x'")], withValidationWarnings: ["needs an x"])
    #expect(title.validationPredicates.map(\.predicateText) == ["SELF CONTAINS \"x\""])
    #expect(title.validationWarnings as? [String] == ["needs an x"])
    let schema = ModelSchema(model).entities[0].attributes[1]
    #expect(schema.limits.isEmpty)
    #expect(schema.validations == [ValidationSchema(predicate: "SELF CONTAINS \"x\"", warning: "needs an x")])
    let again = try _attribute(NSManagedObjectModel(schema: ModelSchema(model)), "title")
    #expect(again.validationPredicates.map(\.predicateText) == ["SELF CONTAINS \"x\""])
  }

  @Test func `a derivation is an expression whose text keeps its hash`() throws {
    let derived = NSDerivedAttributeDescription()
    derived.name = "pagesCount"
    derived.type = .integer64
    for text in ["pages.@count", "now()", "canonical:(title)", "chat.serverId"] {
      derived.derivationText = text
      let asText = derived.versionHash
      let expression = try #require(derived.derivationExpression)
      derived.derivationExpression = expression
      #expect(derived.versionHash == asText, "\(text) became \(expression)")
    }
  }

  @Test func `a fetched property and a partial index have predicates`() throws {
    let model = try _model {
      let request = FetchRequestSchema(
        name: "fetchedPropertyFetchRequest", entity: "Book", predicate: "title == $FETCH_SOURCE.title")
      $0.entities[0].fetchedProperties = [
        FetchedPropertySchema(traits: PropertyTraits(name: "same"), request: request)
      ]
      $0.entities[0].indexes = [
        FetchIndexSchema(
          name: "byTitle", elements: [.init(property: "title")], partialIndexPredicate: "pages > 3")
      ]
    }
    let book = try #require(model.entitiesByName["Book"])
    let same = try #require(book.propertiesByName["same"] as? NSFetchedPropertyDescription)
    #expect(same.fetchRequest?.predicate?.predicateText == "title == $FETCH_SOURCE.title")
    #expect(book.indexes[0].partialIndexPredicate?.predicateText == "pages > 3")
  }
}
