import Foundation
import Testing

@testable import CoreData

@Suite("Mapping models")
struct MappingModelTests {
  private let fixture: MigrationFixture

  init() throws { fixture = try MigrationFixture() }

  private func inferred(_ old: String, _ new: String) throws -> NSMappingModel {
    try NSMappingModel.inferredMappingModel(
      forSourceModel: fixture.model(old), destinationModel: fixture.model(new))
  }

  @Test func `The raw values of mapping types are Core Data's`() {
    let types: [NSEntityMappingType] = [
      .undefinedEntityMappingType, .customEntityMappingType, .addEntityMappingType, .removeEntityMappingType,
      .copyEntityMappingType, .transformEntityMappingType,
    ]
    #expect(types.map(\.rawValue) == [0, 1, 2, 3, 4, 5])
  }

  @Test func `The mapping's name says what happens to the entity`() throws {
    let old =
      ModelText.entity("Same", "", ModelText.text("a")) + ModelText.entity("Changed", "", ModelText.text("a"))
      + ModelText.entity("Gone")
    let new =
      ModelText.entity("Same", "", ModelText.text("a"))
      + ModelText.entity("Changed", "", ModelText.text("a"), ModelText.text("b")) + ModelText.entity("New")
    let mappings = try inferred(old, new).entityMappingsByName
    #expect(
      mappings.mapValues(\.mappingType) == [
        "IEM_Copy_Same": .copyEntityMappingType, "IEM_Transform_Changed": .transformEntityMappingType,
        "IEM_Add_New": .addEntityMappingType, "IEM_Remove_Gone": .removeEntityMappingType,
      ])
    #expect(mappings["IEM_Add_New"]?.sourceEntityName == nil)
    #expect(mappings["IEM_Remove_Gone"]?.destinationEntityName == nil)
  }

  @Test func `The hashes in a mapping are those of the two models`() throws {
    let (old, new) = (
      try fixture.model(ModelText.entity("A", "", ModelText.text("x"))),
      try fixture.model(ModelText.entity("A", "", ModelText.text("x"), ModelText.text("y")))
    )
    let mapping = try #require(
      try NSMappingModel.inferredMappingModel(forSourceModel: old, destinationModel: new).entityMappings.first
    )
    #expect(mapping.sourceEntityVersionHash == old.entityVersionHashesByName["A"])
    #expect(mapping.destinationEntityVersionHash == new.entityVersionHashesByName["A"])
  }

  @Test func `Every property of the destination has a mapping`() throws {
    let old = ModelText.entity("A", "", ModelText.text("was"), ModelText.one("one", "A"))
    let new = ModelText.entity(
      "A", "", ModelText.text("is", "optional=\"YES\" elementID=\"was\""), ModelText.text("new"),
      ModelText.one("one", "A"), ModelText.many("more", "A"))
    let mapping = try #require(try inferred(old, new).entityMappings.first)
    let attributes = try #require(mapping.attributeMappings)
    #expect(attributes.map(\.name) == ["is", "new"])
    #expect(attributes[0].valueExpression?.description == "$source.was")
    #expect(attributes[1].valueExpression == nil)
    let relationships = try #require(mapping.relationshipMappings)
    #expect(relationships.map(\.name) == ["more", "one"])
    #expect(relationships[0].valueExpression == nil)
    #expect(
      relationships[1].valueExpression
        == NSExpression(
          format:
            "FUNCTION($manager, 'destinationInstancesForSourceRelationshipNamed:sourceInstances:', 'one', $source.one)"
        ))
  }

  @Test func `an inferred mapping names the properties it changes`() throws {
    let model = try inferred(
      ModelText.entity("A", "", ModelText.text("same"), ModelText.text("was"), ModelText.text("gone"))
        + ModelText.entity("Old", "", ModelText.text("x")),
      ModelText.entity(
        "A", "", ModelText.text("same"), ModelText.text("name", "optional=\"YES\" elementID=\"was\""),
        ModelText.number("more"), ModelText.one("link", "A"))
        + ModelText.entity("New", "", ModelText.text("x")))
    func names(_ mapping: String, _ key: String) -> Set<String>? {
      model.entityMappingsByName[mapping]?.userInfo?[key] as? Set<String>
    }
    #expect(names("IEM_Transform_A", "mappedProperties") == ["same", "name"])
    #expect(names("IEM_Transform_A", "addedProperties") == ["more", "link"])
    #expect(names("IEM_Transform_A", "removedProperties") == ["gone"])
    #expect(names("IEM_Add_New", "addedProperties") == ["x"])
    #expect(names("IEM_Remove_Old", "removedProperties") == ["x"])
  }

  @Test func `What cannot be inferred is an error that names it`() throws {
    let error = #expect(throws: CocoaError.self) {
      try inferred(
        ModelText.entity("A", "", ModelText.text("x")), ModelText.entity("A", "", ModelText.number("x")))
    }
    #expect(error?.code.rawValue == NSInferredMappingModelError)
    let reason = (error as NSError?)?.userInfo[NSLocalizedFailureReasonErrorKey] as? String
    #expect(reason?.contains("A.x: String became Integer 64") == true)
    #expect(error?.userInfo["entity"] as? String == "A")
    #expect(error?.userInfo["property"] as? String == "x")
    #expect((error?.userInfo["reason"] as? String)?.isEmpty == false)
  }

  @Test func `A mapping without a name is called after its entities`() {
    let mapping = NSEntityMapping()
    mapping.sourceEntityName = "A"
    mapping.destinationEntityName = "B"
    #expect(mapping.name == "A->B")
    mapping.name = "AToB"
    #expect(mapping.name == "AToB")
  }

  @Test func `The variables of expressions have the names of the constants`() {
    #expect(
      [
        NSMigrationManagerKey, NSMigrationSourceObjectKey, NSMigrationDestinationObjectKey,
        NSMigrationEntityMappingKey, NSMigrationPropertyMappingKey, NSMigrationEntityPolicyKey,
      ] == ["manager", "source", "destination", "entityMapping", "propertyMapping", "entityPolicy"])
  }

  @Test(.ofFiles) func `A missing or wrong file gives no mapping model`() throws {
    let (old, new) = (try fixture.model(ModelText.library), try fixture.model(ModelText.publishing))
    #expect(NSMappingModel(from: [], forSourceModel: old, destinationModel: new) == nil)
    #expect(NSMappingModel(from: nil, forSourceModel: old, destinationModel: new) == nil)
    #expect(NSMappingModel(from: nil, forSourceModel: nil, destinationModel: new) == nil)
    #expect(NSMappingModel(contentsOf: nil) == nil)
    #expect(NSMappingModel(contentsOf: fixture.url) == nil)
    let file = fixture.url.deletingLastPathComponent().appendingPathComponent("Wrong.cdm")
    try Data("no mapping".utf8).write(to: file)
    #expect(throws: (any Error).self) { try NSMappingModel.load(contentsOf: file) }
  }
}
