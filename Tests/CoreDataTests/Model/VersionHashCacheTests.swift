import Foundation
import Testing

@testable import CoreData

/// Version hashes are cached, and recomputed after a relevant change.
@Suite("Version hashes after changes")
struct VersionHashCacheTests {
  /// Returns the hashes of a model that had computed them before a change, and of one that had not.
  private func afterChange(_ change: (NSManagedObjectModel) -> Void) -> ([String: Data], [String: Data]) {
    let (asked, fresh) = (LibraryModel.make(), LibraryModel.make())
    _ = asked.entityVersionHashesByName
    change(asked)
    change(fresh)
    return (asked.entityVersionHashesByName, fresh.entityVersionHashesByName)
  }

  @Test func `hashes asked for again are those computed before`() {
    let model = LibraryModel.make()
    let (first, second) = (model.entityVersionHashesByName, model.entityVersionHashesByName)
    #expect(first == second)
    // The same bytes in memory: recomputing would allocate others, since both are retained.
    func place(_ hash: Data?) -> UnsafeRawPointer? { hash?.withUnsafeBytes { $0.baseAddress } }
    for (name, hash) in first { #expect(place(hash) == place(second[name]), "\(name)") }
  }

  private static let changes: [@Sendable (NSManagedObjectModel) -> Void] = [
    { $0.entitiesByName["Tag"]!.name = "Label" },
    { $0.entitiesByName["Tag"]!.attributesByName["name"]!.isOptional = false },
    { $0.entitiesByName["Publication"]!.attributesByName["title"]!.attributeType = .URIAttributeType },
    { $0.entitiesByName["Book"]!.relationshipsByName["tags"]!.maxCount = 3 },
    { $0.entitiesByName["Tag"]!.properties.append(LibraryModel.attribute("more", .stringAttributeType)) },
    { $0.entitiesByName["Tag"]!.uniquenessConstraints = [["name"]] },
    { $0.entitiesByName["Book"]!.subentities = [] },
    { $0.entitiesByName["Tag"]!.versionHashModifier = "2" },
    { $0.entities.append(LibraryModel.entity("More")) },
  ]

  @Test(arguments: changes.indices)
  func `a change gives the hashes of a model that was made so`(number: Int) {
    let (asked, fresh) = afterChange(Self.changes[number])
    #expect(asked == fresh)
    #expect(asked != LibraryModel.make().entityVersionHashesByName)
  }

  @Test func `a changed element of a composite is another version`() {
    let composite = NSCompositeAttributeDescription()
    composite.name = "place"
    composite.elements = [LibraryModel.attribute("x", .doubleAttributeType)]
    let model = LibraryModel.make()
    model.entitiesByName["Tag"]!.properties.append(composite)
    let before = model.entityVersionHashesByName
    composite.elements[0].attributeType = .floatAttributeType
    #expect(model.entityVersionHashesByName["Tag"] != before["Tag"])
    let copy = model.copy() as! NSManagedObjectModel
    #expect(copy.entityVersionHashesByName == model.entityVersionHashesByName)
    let copied = copy.entitiesByName["Tag"]!.attributesByName["place"] as! NSCompositeAttributeDescription
    copied.elements[0].isOptional = false
    #expect(copy.entityVersionHashesByName != model.entityVersionHashesByName)
  }

  @Test func `a changed destination outside of the model counts`() {
    let (source, target) = (LibraryModel.entity("Source"), LibraryModel.entity("Target"))
    source.properties = [LibraryModel.relationship("to", to: target)]
    let model = NSManagedObjectModel()
    model.entities = [source]
    let before = model.entityVersionHashesByName
    target.name = "Other"
    #expect(model.entityVersionHashesByName != before)
  }

  @Test func `a store's version is found among several`() throws {
    let versions = (0..<3).map { number in
      let model = LibraryModel.make()
      model.entitiesByName["Tag"]!.attributesByName["name"]!.versionHashModifier = "\(number)"
      // User info is not part of the hashes, so a model merged from several versions would otherwise have
      // those of the first.
      model.entitiesByName["Author"]!.userInfo = ["version": "\(number)"]
      model.versionIdentifiers = ["\(number)"]
      return model
    }
    let metadata = ["NSStoreModelVersionHashes": versions[1].entityVersionHashesByName]
    let found = try #require(NSManagedObjectModel(byMerging: versions, forStoreMetadata: metadata))
    #expect(found == versions[1])
    #expect(versions.firstIndex(of: found) == 1)
  }
}
