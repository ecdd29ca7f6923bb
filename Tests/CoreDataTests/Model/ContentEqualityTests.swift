import Foundation
import Testing

@testable import CoreData

/// Equality of descriptions, mappings and requests by content.
@Suite("Equality by content")
struct ContentEqualityTests {
  private static func expectEqual(_ one: NSObject, _ other: NSObject, _ what: String = "") {
    #expect(one == other, "\(what)")
    #expect(one.hash == other.hash, "\(what)")
    #expect(one !== other)
  }

  // MARK: Models

  @Test func `a model equals its copy and the same model made again`() {
    let model = SampleLibrary().model
    Self.expectEqual(model, model.copy() as! NSManagedObjectModel)
    Self.expectEqual(model, SampleLibrary().model)
    #expect([SampleLibrary().model, LibraryModel.make()].firstIndex(of: model) == 0)
  }

  @Test func `a model in use equals one that is not`() throws {
    let model = LibraryModel.make()
    _ = try model.frozen()
    Self.expectEqual(model, LibraryModel.make())
  }

  private static let changes: [(String, @Sendable (NSManagedObjectModel) -> Void)] = [
    ("an attribute's default", { $0.entitiesByName["Author"]!.attributesByName["age"]!.defaultValue = 19 }),
    (
      "an attribute's type",
      { $0.entitiesByName["Tag"]!.attributesByName["name"]!.attributeType = .URIAttributeType }
    ),
    (
      "a delete rule",
      { $0.entitiesByName["Book"]!.relationshipsByName["tags"]!.deleteRule = .denyDeleteRule }
    ),
    ("a class", { $0.entitiesByName["Tag"]!.managedObjectClassName = "Other" }),
    ("user info", { $0.entitiesByName["Tag"]!.userInfo = ["k": "v"] }),
    ("a renaming identifier", { $0.entitiesByName["Tag"]!.renamingIdentifier = "Label" }),
    ("a constraint", { $0.entitiesByName["Tag"]!.uniquenessConstraints = [["name"]] }),
    (
      "an index",
      { model in
        let tag = model.entitiesByName["Tag"]!
        tag.indexes = [
          NSFetchIndexDescription(
            name: "byName",
            elements: [
              NSFetchIndexElementDescription(property: tag.attributesByName["name"]!, collationType: .binary)
            ])
        ]
      }
    ),
    ("an entity", { $0.entities.append(LibraryModel.entity("More")) }),
    ("a configuration", { $0.setEntities([$0.entitiesByName["Tag"]!], forConfigurationName: "Some") }),
    (
      "a request",
      {
        $0.setFetchRequestTemplate(
          NSFetchRequest<any NSFetchRequestResult>(entityName: "Tag"), forName: "all")
      }
    ),
  ]

  @Test(arguments: changes.indices)
  func `a model that says something else is another one`(number: Int) {
    let (what, change) = Self.changes[number]
    let model = LibraryModel.make()
    change(model)
    #expect(model != LibraryModel.make(), "\(what)")
    Self.expectEqual(model, model.copy() as! NSManagedObjectModel, what)
  }

  // MARK: Descriptions

  @Test func `entities and properties equal those of the same content`() {
    let (one, other) = (SampleLibrary().model, SampleLibrary().model)
    for (name, entity) in one.entitiesByName {
      let twin = other.entitiesByName[name]!
      Self.expectEqual(entity, twin, name)
      for (key, property) in entity.propertiesByName {
        Self.expectEqual(property, twin.propertiesByName[key]!, "\(name).\(key)")
        Self.expectEqual(property, property.copy() as! NSPropertyDescription, "\(name).\(key)")
      }
      for (index, same) in zip(entity.indexes, twin.indexes) {
        Self.expectEqual(index, same, "\(name).\(index.name)")
        for (element, same) in zip(index.elements, same.elements) { Self.expectEqual(element, same) }
      }
    }
    #expect(one.entitiesByName["Book"] != other.entitiesByName["Author"])
  }

  @Test func `an entity that inherits otherwise is another one`() {
    let (one, other) = (LibraryModel.make(), LibraryModel.make())
    other.entitiesByName["Publication"]!.attributesByName["title"]!.isOptional = false
    #expect(one.entitiesByName["Novel"] != other.entitiesByName["Novel"])
    #expect(one.entitiesByName["Tag"] == other.entitiesByName["Tag"])
  }

  @Test func `a default value that no file can hold is compared too`() {
    func attribute(_ value: NSArray) -> NSAttributeDescription {
      LibraryModel.attribute("extra", .transformableAttributeType, default: value)
    }
    Self.expectEqual(attribute(["a"]), attribute(["a"]))
    #expect(attribute(["a"]) != attribute(["b"]))
  }

  @Test func `computed columns compare by expression and type`() {
    func column(_ format: String) -> NSExpressionDescription {
      let column = NSExpressionDescription()
      column.name = "c"
      column.expression = NSExpression(format: format)
      column.expressionResultType = .integer64AttributeType
      return column
    }
    Self.expectEqual(column("pages + 1"), column("pages + 1"))
    #expect(column("pages + 1") != column("pages + 2"))
  }

  // MARK: Mappings

  private func inferred() throws -> NSMappingModel {
    let (old, new) = (LibraryModel.make(), LibraryModel.make())
    new.entitiesByName["Tag"]!.properties.append(LibraryModel.attribute("more", .stringAttributeType))
    return try NSMappingModel.inferredMappingModel(forSourceModel: old, destinationModel: new)
  }

  @Test func `mapping models and their mappings compare by content`() throws {
    let (one, other) = (try inferred(), try inferred())
    Self.expectEqual(one, other)
    for (mapping, twin) in zip(one.entityMappings, other.entityMappings) {
      Self.expectEqual(mapping, twin)
      for (property, twin) in zip(mapping.attributeMappings ?? [], twin.attributeMappings ?? []) {
        Self.expectEqual(property, twin)
      }
    }
    other.entityMappings[0].attributeMappings![0].valueExpression = NSExpression(forConstantValue: 1)
    #expect(one != other)
    #expect(one.entityMappings[0] != other.entityMappings[0])
    #expect(one.entityMappings[1] == other.entityMappings[1])
  }

  // MARK: Requests

  private func request() -> NSFetchRequest<NSManagedObject> {
    let request = NSFetchRequest<NSManagedObject>(entityName: "Book")
    request.predicate = NSPredicate(format: "title == %@", "Emma")
    request.sortDescriptors = [NSSortDescriptor(key: "title", ascending: true)]
    request.propertiesToFetch = ["title"]
    request.relationshipKeyPathsForPrefetching = ["author"]
    return request
  }

  @Test func `fetch requests compare by what they ask for`() {
    Self.expectEqual(request(), request())
    Self.expectEqual(request(), request().copy() as! NSFetchRequest<NSManagedObject>)
    let changes: [(NSFetchRequest<NSManagedObject>) -> Void] = [
      { $0.predicate = nil }, { $0.fetchLimit = 1 }, { $0.sortDescriptors = [] },
      { $0.propertiesToFetch = nil },
      { $0.resultType = .countResultType }, { $0.includesSubentities = false },
      { $0.havingPredicate = NSPredicate(value: true) },
    ]
    for change in changes {
      let other = request()
      change(other)
      #expect(other != request())
    }
  }
}
