import Foundation
import SwiftData
import Testing

/// Schemas that a program makes and edits, and their coded form.
@Suite struct SchemaEditingTests {
  private func _coded<Value: Codable>(_ value: Value) throws -> Value {
    try JSONDecoder().decode(Value.self, from: JSONEncoder().encode(value))
  }

  // MARK: Indexes and constraints

  @Test func `indexes are equal by their properties and kind, and read back by names`() throws {
    let index = Schema.Index<Volume>([\.title], [\.title, \.pages])
    #expect(index == Schema.Index<Volume>(.binary([\.title]), .binary([\.title, \.pages])))
    #expect(index != Schema.Index<Volume>([\.title]))
    #expect(index != Schema.Index<Volume>(.binary([\.title]), .rtree([\.title, \.pages])))
    #expect(Set([index, Schema.Index<Volume>([\.title], [\.title, \.pages])]).count == 1)
    #expect(!index.isUnique)
    #expect("\(index.debugDescription)" == "Index([[\"title\"], [\"title\", \"pages\"]])")
    #expect(try _coded(index) == index)
    #expect {
      try JSONDecoder().decode(Schema.Index<Volume>.self, from: Data(#"{"indices":[["titel"]]}"#.utf8))
    } throws: {
      "\($0)".contains("'Volume' has no property 'titel'")
    }
  }

  @Test func `constraints are equal by their properties, and read back by names`() throws {
    let unique = Schema.Unique<Volume>([\.title, \.pages])
    #expect(unique == Schema.Unique<Volume>([\.title, \.pages]))
    #expect(unique != Schema.Unique<Volume>([\.pages]))
    #expect(Set([unique, Schema.Unique<Volume>([\.title, \.pages])]).count == 1)
    #expect(unique.isUnique)
    #expect(unique.debugDescription == "Unique([[\"title\", \"pages\"]])")
    #expect(try _coded(unique) == unique)
    #expect(throws: DecodingError.self) {
      try JSONDecoder().decode(Schema.Unique<Volume>.self, from: Data(#"{"constraints":[["x"]]}"#.utf8))
    }
  }

  // MARK: Entities

  private func _family() -> (parent: Schema.Entity, child: Schema.Entity) {
    let child = Schema.Entity("Child", properties: Schema.Attribute(name: "age", valueType: Int.self))
    let parent = Schema.Entity(
      "Parent", subentities: child,
      properties: Schema.Attribute(name: "name", valueType: String.self))
    return (parent, child)
  }

  @Test func `an entity has its own properties after those that it inherits`() {
    let (parent, child) = _family()
    #expect(child.superentity === parent && child.superentityName == "Parent")
    #expect(parent.subentities == [child])
    #expect(child.properties.map(\.name) == ["name", "age"])
    #expect(child.inheritedProperties.map(\.name) == ["name"])
    #expect(Array(child.inheritedPropertiesByName.keys) == ["name"])
    #expect(Array(child.storedPropertiesByName.keys) == ["age"])
    #expect(Set(child.attributesByName.keys) == ["name", "age"])
    #expect(child.relationships.isEmpty && child.relationshipsByName.isEmpty)
    #expect(child.debugDescription == "Entity(Child, properties: [name, age])")
  }

  @Test func `what is set replaces properties of its kind only, where the entity has them`() {
    let (parent, child) = _family()
    let size = Schema.Attribute(name: "size", valueType: Double.self)
    let rank = Schema.Attribute(name: "rank", valueType: Int.self)
    let friend = Schema.Relationship()
    friend.name = "friend"
    child.relationships = [friend]
    #expect(child.storedProperties.map(\.name) == ["age", "friend"])
    child.attributesByName = ["size": size, "rank": rank]
    #expect(child.storedProperties.map(\.name) == ["friend", "rank", "size"])
    child.relationshipsByName = [:]
    #expect(child.storedProperties.map(\.name) == ["rank", "size"])
    child.properties = [size] + parent.properties
    #expect(child.storedProperties.map(\.name) == ["size"])
    child.storedPropertiesByName = ["rank": rank, "size": size]
    #expect(child.storedProperties.map(\.name) == ["rank", "size"])
    child.inheritedPropertiesByName = ["size": size]
    #expect(parent.storedProperties.map(\.name) == ["size"])
    child.superentity = nil
    child.superentityName = "Other"
    #expect(child.superentityName == "Other" && child.inheritedProperties.isEmpty)
  }

  @Test func `entities are equal by content`() throws {
    let (parent, child) = _family()
    let (otherParent, otherChild) = _family()
    #expect(parent == otherParent && child == otherChild)
    otherChild.uniquenessConstraints = [["age"]]
    #expect(child != otherChild)
    otherChild.uniquenessConstraints = []
    otherChild.indices = [["age"]]
    #expect(child != otherChild)
    let read = try _coded(child)
    #expect(read == child && read !== child && read.superentityName == "Parent")
  }

  // MARK: Schemas

  @Test func `a schema is equal by entities and version, and finds entities by class`() {
    let schema = Schema([Shelf.self])
    #expect(schema == Schema([Shelf.self]))
    #expect(schema != Schema([Shelf.self], version: Schema.Version(2, 0, 0)))
    #expect(schema != Schema([Topic.self]) || Set(Schema([Topic.self]).entities) == Set(schema.entities))
    #expect(Set([schema, Schema([Shelf.self])]).count == 1)
    #expect(schema.entity(for: Volume.self)?.name == "Volume")
    #expect(Schema([Heading.self]).entity(for: Volume.self) == nil)
    #expect(Schema.entityName(for: Heading.self) == "Heading")
    #expect(schema.debugDescription.hasPrefix("Schema("))
    #expect(schema.debugDescription.contains("Shelf"))
  }

  @Test func `a property of a kind that cannot be stored is told`() throws {
    let entity = Schema.Entity("Place", properties: Schema.Unique<Heading>([\.text]))
    #expect {
      try ModelContainer(for: Schema(entity), configurations: ModelConfiguration(isStoredInMemoryOnly: true))
    } throws: {
      "\($0)".contains("neither attribute nor relationship")
    }
    let lost = Schema.Relationship()
    lost.name = "other"
    lost.destination = "Nowhere"
    let linked = Schema.Entity("Place", properties: lost)
    #expect {
      try ModelContainer(for: Schema(linked), configurations: ModelConfiguration(isStoredInMemoryOnly: true))
    } throws: {
      "\($0)".contains("which is not in the schema")
    }
  }
}

@Model private final class Heading {
  var text: String
  init(text: String) { self.text = text }
}
