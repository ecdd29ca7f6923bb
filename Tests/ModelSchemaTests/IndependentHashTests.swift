import CoreDataToolKit
import Foundation
import TestSupport
import Testing

@testable import CoreDataModelSchema

/// Hashes compared with those of a second implementation.
@Suite("Version hashes, computed twice")
struct IndependentHashTests {
  @Test func `the second implementation hashes as FIPS 180-4 says`() {
    #expect(
      IndependentHash.sha256(Array("abc".utf8)).hex
        == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
    #expect(
      IndependentHash.sha256([]).hex == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855")
    for length in [55, 56, 63, 64, 65, 1000] {
      let message = (0..<length).map { UInt8(truncatingIfNeeded: $0 &* 7) }
      #expect(IndependentHash.sha256(message) == SHA256.hash(message))
    }
  }

  @Test(arguments: 0..<300)
  func `two implementations agree about any model`(seed: Int) {
    var generator = ModelGenerator(seed: UInt64(seed))
    let model = generator.model()
    #expect(model.entityVersionHashes() == IndependentHash.hashes(of: model))
  }

  @Test(.enabled(if: SharedCorpus.root != nil, "needs the files in ../shared/corpus"))
  func `every entity of the photo libraries`() throws {
    let vectors = try SharedCorpus.json("hash-vectors-3.json")["entity_hashes"] as! [[String: Any]]
    #expect(vectors.count == 15)
    for vector in vectors {
      let definitions = vector["definition"] as! [[String: Any]]
      let model = ModelSchema(entities: definitions.map(EditorEntity.schema))
      let name = vector["entity"] as! String
      #expect(model.entityVersionHashes()[name]!.hex == vector["sha256"] as? String, "\(name)")
      #expect(IndependentHash.hashes(of: model)[name]!.hex == vector["sha256"] as? String, "\(name)")
      #expect(model.formerEntityVersionHashes()[name] != nil, "\(name)")
    }
  }

  @Test(arguments: [0, 1])
  func `an inherited relationship may be its own inverse`(maxCount: Int) {
    func model(inverse: String?) -> ModelSchema {
      var person = EntitySchema(name: "Person")
      person.relationships = [
        RelationshipSchema(
          traits: PropertyTraits(name: "friends"), destination: "Person", inverse: inverse, maxCount: maxCount
        )
      ]
      return ModelSchema(entities: [person, EntitySchema(name: "Author", parent: "Person")])
    }
    let (paired, single) = (model(inverse: "friends"), model(inverse: nil))
    #expect(paired.entityVersionHashes() == single.entityVersionHashes())
    #expect(Set(paired.formerEntityVersionHashes().keys) == ["Author", "Person"])
    #expect(single.formerEntityVersionHashes().isEmpty)
  }

  @Test func `an inverse of that name in another entity is another`() {
    var (child, parent) = (EntitySchema(name: "Child"), EntitySchema(name: "Parent"))
    child.relationships = [
      RelationshipSchema(traits: PropertyTraits(name: "kin"), destination: "Parent", inverse: "kin")
    ]
    parent.relationships = [
      RelationshipSchema(traits: PropertyTraits(name: "kin"), destination: "Child", inverse: "kin")
    ]
    let model = ModelSchema(entities: [child, parent])
    #expect(model.formerEntityVersionHashes().isEmpty)
    #expect(model.entityVersionHashes() == IndependentHash.hashes(of: model))
  }
}

/// An entity with the words of the model editor.
private enum EditorEntity {
  static func schema(_ definition: [String: Any]) -> EntitySchema {
    var entity = EntitySchema(
      name: definition["entity"] as! String, parent: definition["superentity"] as? String)
    entity.isAbstract = definition["abstract"] as! Bool
    entity.versionHashModifier = definition["versionHashModifier"] as? String
    entity.uniquenessConstraints = definition["uniqueness"] as? [[String]] ?? []
    for property in definition["properties"] as! [[String: Any]] {
      let traits = PropertyTraits(
        name: property["name"] as! String, isOptional: property["optional"] as? String == "YES",
        isTransient: property["transient"] as? String == "YES",
        versionHashModifier: property["versionHashModifier"] as? String)
      if property["kind"] as? String == "relationship" {
        entity.relationships.append(
          RelationshipSchema(
            traits: traits, destination: property["destinationEntity"] as! String,
            inverse: property["inverseName"] as? String,
            maxCount: (property["maxCount"] as? String).map { Int($0)! } ?? 0))
      } else {
        var attribute = AttributeSchema(traits: traits, type: _types[property["attributeType"] as! String]!)
        attribute.preservesValueInHistoryOnDeletion = property["preserveAfterDeletion"] as? String == "YES"
        entity.attributes.append(attribute)
      }
    }
    return entity
  }

  private static let _types: [String: AttributeType] = [
    "Binary": .binaryData, "Boolean": .boolean, "Date": .date, "Double": .double, "Integer 16": .integer16,
    "Integer 32": .integer32, "Integer 64": .integer64, "String": .string, "Transformable": .transformable,
  ]
}

/// Random models with everything that enters a hash.
private struct ModelGenerator {
  private var _random: SeededRandom

  init(seed: UInt64) { _random = SeededRandom(seed: seed) }

  private mutating func _chance(_ one: Int) -> Bool { Int.random(in: 0..<one, using: &_random) == 0 }

  private mutating func _pick<T>(_ values: [T]) -> T { values.randomElement(using: &_random)! }

  private static let _names = [
    "a", "B", "b", "_c", "naïve", "名前", "\u{fb01}t", "𝒳", "friends", "friend", "Zeta", "zeta", "x1", "x10",
    "x2",
  ]

  mutating func model() -> ModelSchema {
    let names = ["Item", "item", "Person", "Über", "Z", "𐐷", "\u{ffe5}"].shuffled(using: &_random).prefix(
      Int.random(in: 1...6, using: &_random))
    var entities: [EntitySchema] = []
    for (number, name) in names.enumerated() {
      entities.append(_entity(name, parent: number > 0 && _chance(2) ? _pick(Array(names[..<number])) : nil))
    }
    for index in entities.indices {
      for name in Self._names.shuffled(using: &_random).prefix(Int.random(in: 0...3, using: &_random)) {
        // Names of a line of parents differ: a property that is declared twice is none.
        let name = name + "\(index)"
        let isSelf = _chance(2)
        entities[index].relationships.append(
          RelationshipSchema(
            traits: _traits(name), destination: isSelf ? entities[index].name : _pick(Array(names)),
            inverse: isSelf && _chance(2) ? name : _chance(3) ? nil : _pick(Self._names),
            minCount: _pick([0, 0, 1]), maxCount: _pick([1, 0, 0, -1, 10_000]), isOrdered: _chance(4)))
      }
    }
    return ModelSchema(entities: entities.shuffled(using: &_random))
  }

  private mutating func _entity(_ name: String, parent: String?) -> EntitySchema {
    var entity = EntitySchema(name: name, parent: parent)
    entity.isAbstract = _chance(4)
    if _chance(2) { entity.versionHashModifier = _pick(["2", "émile", ""]) }
    entity.attributes = Self._names.shuffled(using: &_random).prefix(Int.random(in: 0...6, using: &_random))
      .map { _attribute($0 + "_of_" + name) }
    if _chance(2) {
      entity.uniquenessConstraints = (0..<Int.random(in: 1...3, using: &_random)).map { _ in
        Array(Self._names.shuffled(using: &_random).prefix(Int.random(in: 1...3, using: &_random)))
      }
    }
    return entity
  }

  private mutating func _traits(_ name: String) -> PropertyTraits {
    PropertyTraits(
      name: name, isOptional: _chance(2), isTransient: _chance(6),
      versionHashModifier: _chance(4) ? _pick(["1", "x"]) : nil)
  }

  private mutating func _attribute(_ name: String, depth: Int = 0) -> AttributeSchema {
    let types: [AttributeType] = [
      .integer16, .integer32, .integer64, .decimal, .double, .float, .string, .boolean, .date, .binaryData,
      .uuid, .uri, .transformable,
    ]
    var attribute = AttributeSchema(traits: _traits(name), type: _pick(types))
    attribute.preservesValueInHistoryOnDeletion = _chance(5)
    attribute.allowsExternalBinaryDataStorage = attribute.type == .binaryData && _chance(2)
    if _chance(8) {
      attribute.derivationExpression = _pick([
        "now()", "pages.@count", "chat.serverId", "canonical: (name)", "uppercase(name)",
      ])
    } else if depth < 2, _chance(8) {
      attribute.type = .composite
      attribute.elements = Self._names.shuffled(using: &_random).prefix(3).map {
        _attribute($0, depth: depth + 1)
      }
    }
    return attribute
  }
}
