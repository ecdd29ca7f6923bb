import CoreDataModelSchema
import Foundation
import Testing

@testable import CoreData

/// A model that is read from a file is laid out once: the layout by which it was checked serves when it is frozen.
@Suite("The layout of a model that was read") struct KnownLayoutTests {
  private static let sources: [String] = {
    let files = (try? FileManager.default.subpathsOfDirectory(atPath: AppleCorpus.url.path)) ?? []
    return files.filter { $0.hasSuffix(".xcdatamodel.xml") || $0.hasSuffix(".momd") || $0.hasSuffix(".mom") }
      .sorted()
  }()

  @Test(.enabled(if: AppleCorpus.isThere), arguments: sources)
  func `says what the descriptions say`(source: String) throws {
    let model = try #require(NSManagedObjectModel(contentsOf: AppleCorpus.url.appendingPathComponent(source)))
    let stated = ModelSchema(model)
    let layout = try #require(model.knownLayout, "laid out again: \(source)")
    #expect(layout.schema == stated)
    #expect(try model.frozen().layout === layout)
  }

  private func read() throws -> NSManagedObjectModel {
    try NSManagedObjectModel(schema: ModelSchema(LibraryModel.make()))
  }

  private static let changes: [@Sendable (NSManagedObjectModel) -> Void] = [
    { $0.entitiesByName["Tag"]!.name = "Label" },
    { $0.entitiesByName["Tag"]!.attributesByName["name"]!.defaultValue = "none" },
    { $0.entitiesByName["Tag"]!.attributesByName["name"]!.userInfo = ["postgresql.column": "label"] },
    { $0.entitiesByName["Tag"]!.userInfo = ["postgresql.table": "label"] },
    { $0.entitiesByName["Book"]!.relationshipsByName["tags"]!.maxCount = 3 },
    { $0.entitiesByName["Book"]!.renamingIdentifier = "Volume" },
    { $0.setEntities([$0.entitiesByName["Tag"]!], forConfigurationName: "Labels") },
    { $0.entities.append(LibraryModel.entity("More")) },
  ]

  @Test(arguments: changes.indices)
  func `is forgotten when the model changes`(number: Int) throws {
    let model = try read()
    let layout = try #require(model.knownLayout)
    Self.changes[number](model)
    let frozen = try model.frozen().layout
    #expect(frozen !== layout)
    #expect(frozen.schema == ModelSchema(model))
  }

  @Test func `is not used once an entity belongs to another model`() throws {
    let model = try read()
    let other = NSManagedObjectModel()
    other.entities = model.entities
    #expect(model.knownLayout == nil)
  }
}
