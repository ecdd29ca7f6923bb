import SwiftData
import TestSupport
import Testing

/// Schemas built from model classes.
struct SchemaTests {
  private let _schema = Schema([Shelf.self])

  @Test func `one class brings all that relationships lead to`() {
    #expect(Set(_schema.entities.map(\.name)) == ["Shelf", "Volume", "Topic"])
  }

  @Test func `properties are attributes and relationships`() throws {
    let volume = try #require(_schema.entity(for: Volume.self))
    #expect(volume.attributesByName["title"]?.isOptional == false)
    #expect(volume.attributesByName["price"]?.isOptional == true)
    #expect(volume.relationshipsByName["shelf"]?.isToOneRelationship == true)
    #expect(volume.attributesByName["isOpen"] == nil)
  }

  @Test func `a structure is a composite with its properties`() throws {
    let size = _schema.entitiesByName["Volume"]?.attributesByName["size"] as? Schema.CompositeAttribute
    #expect(size?.properties.map(\.name) == ["width", "height", "note", "fold"])
  }

  @Test func `an inverse that is given holds on both sides`() {
    let shelf = _schema.entitiesByName["Shelf"]?.relationshipsByName["volumes"]
    let volume = _schema.entitiesByName["Volume"]?.relationshipsByName["shelf"]
    #expect(shelf?.inverseName == "shelf" && volume?.inverseName == "volumes")
    #expect(shelf?.deleteRule == .cascade && volume?.deleteRule == .nullify)
  }

  @Test func `an inverse is found where there is one candidate`() {
    let schema = Schema([Work.self])
    #expect(schema.entitiesByName["Work"]?.relationshipsByName["writer"]?.inverseName == "works")
  }

  @Test func `no inverse is found through a required to-one`() {
    let schema = Schema([Pupil.self])
    #expect(schema.entitiesByName["Pupil"]?.relationshipsByName["school"]?.inverseName == nil)
    #expect(schema.entitiesByName["School"]?.relationshipsByName["pupils"]?.inverseName == nil)
  }

  @Test func `no inverse is found between two to-manys`() {
    let schema = Schema([Club.self])
    #expect(schema.entitiesByName["Club"]?.relationshipsByName["members"]?.inverseName == nil)
  }

  @Test func `unique attributes and indexes are listed`() {
    #expect(_schema.entitiesByName["Shelf"]?.uniquenessConstraints == [["code"]])
    #expect(_schema.entitiesByName["Volume"]?.indices == [["title"], ["title", "pages"]])
  }

  @Test func `the version is 1.0.0 unless given`() {
    #expect(_schema.version == Schema.Version(1, 0, 0) && _schema.version.description == "1.0.0")
  }

  @Test func `a saved schema is read back equal`() throws {
    let place = try TemporaryPlace.makeDirectory().appendingPathComponent("schema.json")
    try _schema.save(to: place)
    #expect(try Schema.load(from: place) == _schema)
  }

  @Test func `an entity can be made by hand`() {
    let entity = Schema.Entity("Sketch")
    entity.storedProperties = [Schema.Attribute(name: "id", valueType: String.self)]
    #expect(Schema(entity).entities.map(\.name) == ["Sketch"])
    #expect(entity.attributesByName["id"]?.valueType is String.Type)
  }
}

@Model final class Pupil {
  var school: School
  init(school: School) { self.school = school }
}

@Model final class School {
  var pupils: [Pupil] = []
  init() {}
}

@Model final class Club {
  var members: [Member] = []
  init() {}
}

@Model final class Member {
  var clubs: [Club] = []
  init() {}
}
