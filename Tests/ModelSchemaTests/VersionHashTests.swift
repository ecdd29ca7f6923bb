import Foundation
import TestSupport
import Testing

@testable import CoreDataModelSchema

@Suite("Version hashes are Core Data's")
struct VersionHashTests {
  @Test func `a date and an attribute derived from now()`() {
    var item = EntitySchema(name: "Item")
    var updatedAt = AttributeSchema(traits: PropertyTraits(name: "updatedAt"), type: .date)
    updatedAt.derivationExpression = "now()"
    item.attributes = [AttributeSchema(traits: PropertyTraits(name: "timestamp"), type: .date), updatedAt]
    #expect(
      VersionHash.of(line: [item]).hex == "b6c91c38d3288d74e7155424d5e50ee447978b1b6f5185360196366ab209d12b")
  }

  @Test func `an aggregate enters as the function that computes it`() {
    var pages = AttributeSchema(traits: PropertyTraits(name: "pagesCount"), type: .integer64)
    pages.derivationExpression = "pages.@count"
    #expect(
      VersionHash.of(pages).hex == "50081597fb1d6648429c1b37f73bc6bf63299d160cd6f0d555919fd143a9296e")
  }

  @Test(arguments: [
    ("pages.@count", "count:(pages)"), ("articles.wordCount.@sum", "sum:(articles.wordCount)"),
    ("now()", "now()"),
    ("canonical: (name)", "canonical:(name)"), ("canonical(name)", "canonical:(name)"),
    ("chat.serverId", "chat.serverId"),
  ])
  func `a derivation has one text however it is spelt`(spelling: String, canonical: String) {
    #expect(DerivationText.canonical(spelling) == canonical)
  }

  @Test func `default values, limits, classes and user info do not enter`() {
    var plain = EntitySchema(name: "Book")
    plain.attributes = [AttributeSchema(traits: PropertyTraits(name: "title"), type: .string)]
    var adorned = plain
    adorned.className = "Book"
    adorned.userInfo = ["k": "v"]
    adorned.indexes = [FetchIndexSchema(name: "i", elements: [.init(property: "title")])]
    adorned.attributes[0].defaultValue = .string("x")
    adorned.attributes[0].limits.minimum = .integer(3)
    adorned.attributes[0].traits.renamingIdentifier = "name"
    #expect(VersionHash.of(line: [plain]) == VersionHash.of(line: [adorned]))
  }

  @Test func `transient attributes do not enter`() {
    var plain = EntitySchema(name: "Book")
    plain.attributes = [AttributeSchema(traits: PropertyTraits(name: "title"), type: .string)]
    var more = plain
    more.attributes.append(
      AttributeSchema(traits: PropertyTraits(name: "cache", isTransient: true), type: .undefined))
    #expect(VersionHash.of(line: [plain]) == VersionHash.of(line: [more]))
  }

  @Test func `a parent's change affects the hashes of its subentities`() {
    var parent = EntitySchema(name: "Parent")
    var child = EntitySchema(name: "Child", parent: "Parent")
    let before = ModelSchema(entities: [parent, child]).entityVersionHashes()
    child.attributes = [AttributeSchema(traits: PropertyTraits(name: "a"), type: .string)]
    let childChanged = ModelSchema(entities: [parent, child]).entityVersionHashes()
    #expect(childChanged["Parent"] == before["Parent"])
    #expect(childChanged["Child"] != before["Child"])
    parent.attributes = [AttributeSchema(traits: PropertyTraits(name: "b"), type: .string)]
    let parentChanged = ModelSchema(entities: [parent, child]).entityVersionHashes()
    #expect(parentChanged["Child"] != childChanged["Child"])
  }

  @Test(.enabled(if: SharedCorpus.root != nil))
  func `every entity of the recorded stores`() throws {
    let vectors = try SharedCorpus.json("hash-vectors-2.json")["entity_hashes"] as! [[String: Any]]
    // A parent may be recorded with another version of the model in which it is identical.
    var models: [String: [String: EntitySchema]] = [:]
    for vector in vectors {
      for model in [Self._model(vector), vector["repo"] as! String] {
        models[model, default: [:]][vector["entity"] as! String] = RecordedEntity.schema(vector)
      }
    }
    var checked = 0
    for vector in vectors {
      var line = [RecordedEntity.schema(vector)]
      while let name = line[0].parent {
        guard let parent = models[Self._model(vector)]![name] ?? models[vector["repo"] as! String]![name]
        else { break }
        line.insert(parent, at: 0)
      }
      // The records list inherited properties with each entity.
      var inherited: Set<String> = []
      for index in line.indices {
        line[index].attributes.removeAll { inherited.contains($0.name) }
        line[index].relationships.removeAll { inherited.contains($0.name) }
        inherited.formUnion(line[index].attributes.map(\.name) + line[index].relationships.map(\.name))
      }
      #expect(VersionHash.of(line: line).hex == vector["sha256"] as? String, "\(vector["entity"]!)")
      checked += 1
    }
    #expect(checked > 200)
  }

  @Test(
    .enabled(if: SharedCorpus.root != nil),
    arguments: ["hash-vectors.json", "hash-vectors-2.json"])
  func `digest and checksum of the recorded stores`(file: String) throws {
    let recorded = try SharedCorpus.json(file)["model_digests"] as! [[String: Any]]
    for store in recorded {
      let hashes = (store["hashes"] as! [String: String]).mapValues(Self._bytes)
      if let digest = store["digest"] as? String {
        #expect(Data(VersionHash.digest(hashes)).base64EncodedString() == digest)
      }
      if let checksum = store["checksum"] as? String {
        #expect(Data(VersionHash.checksum(hashes)).base64EncodedString() == checksum)
      }
    }
  }

  private static func _model(_ vector: [String: Any]) -> String { "\(vector["repo"]!) \(vector["model"]!)" }

  private static func _bytes(_ hex: String) -> [UInt8] {
    let digits = Array(hex)
    return stride(from: 0, to: digits.count, by: 2).map { UInt8(String(digits[$0...$0 + 1]), radix: 16)! }
  }
}

/// An entity as the recorded vectors describe it.
enum RecordedEntity {
  static func schema(_ vector: [String: Any]) -> EntitySchema {
    let definition = vector["definition"] as! [String: Any]
    var entity = EntitySchema(name: vector["entity"] as! String, parent: definition["superentity"] as? String)
    entity.isAbstract = definition["abstract"] as! Bool
    entity.versionHashModifier = definition["versionHashModifier"] as? String
    entity.uniquenessConstraints = definition["uniqueness"] as! [[String]]
    for property in definition["ownProperties"] as! [[String: Any]] {
      switch property["kind"] as! String {
      case "NSRelationshipDescription": entity.relationships.append(_relationship(property))
      case "NSFetchedPropertyDescription": break
      default: entity.attributes.append(_attribute(property))
      }
    }
    return entity
  }

  private static func _traits(_ property: [String: Any]) -> PropertyTraits {
    PropertyTraits(
      name: property["name"] as! String, isOptional: property["optional"] as? Bool ?? false,
      isTransient: property["transient"] as? Bool ?? false,
      versionHashModifier: property["versionHashModifier"] as? String)
  }

  private static func _attribute(_ property: [String: Any]) -> AttributeSchema {
    var attribute = AttributeSchema(
      traits: _traits(property), type: AttributeType(rawValue: property["type"] as! UInt)!)
    attribute.allowsExternalBinaryDataStorage = property["allowsExternalBinaryDataStorage"] as? Bool ?? false
    attribute.preservesValueInHistoryOnDeletion =
      property["preservesValueInHistoryOnDeletion"] as? Bool ?? false
    attribute.derivationExpression = property["derivationText"] as? String
    attribute.elements = (property["elements"] as? [[String: Any]] ?? []).map(_attribute)
    return attribute
  }

  private static func _relationship(_ property: [String: Any]) -> RelationshipSchema {
    RelationshipSchema(
      traits: _traits(property), destination: property["destination"] as? String ?? "",
      inverse: property["inverse"] as? String, minCount: property["minCount"] as? Int ?? 0,
      maxCount: property["maxCount"] as? Int ?? 0, isOrdered: property["ordered"] as? Bool ?? false)
  }
}
