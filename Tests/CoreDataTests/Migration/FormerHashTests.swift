import CoreDataModelFiles
import CoreDataModelSchema
import Foundation
import Testing

@testable import CoreData

/// Stores, mappings and stages from versions of this package that hashed some entities in their own way.
@Suite("Hashes by the former rule")
struct FormerHashTests {
  private let fixture: MigrationFixture
  private let model: NSManagedObjectModel

  private static func entities(_ more: String = "") -> String {
    ModelText.entity(
      "Person", "versionHashModifier=\"7\"", ModelText.text("name"), more,
      ModelText.many("friends", "Person", "friends"),
      "<uniquenessConstraints><uniquenessConstraint><constraint value=\"name\"/></uniquenessConstraint>"
        + "</uniquenessConstraints>")
      + ModelText.entity("Author", "parentEntity=\"Person\"", ModelText.text("genre"))
      + ModelText.entity("Place", "", ModelText.text("label"))
  }

  init() throws {
    fixture = try MigrationFixture()
    model = try fixture.model(Self.entities())
  }

  /// The hashes that an earlier version wrote for a model.
  private static func former(_ model: NSManagedObjectModel) -> [String: Data] {
    let former = ModelSchema(model).entityVersionHashes(.former).mapValues { Data($0) }
    let present = model.entityVersionHashesByName
    precondition(former["Person"] != present["Person"] && former["Author"] != present["Author"])
    precondition(former["Place"] == present["Place"])
    return former
  }

  /// Makes the store one of an earlier version.
  private func makeStore(_ options: [String: Any]? = nil) throws {
    try fixture.open(model, options: options) { context in
      context.make("Author", ["name": "Jane"])
      try context.save()
    }
    try NSPersistentStoreCoordinator.setMetadata(
      StoreVersioning.hashMetadata(Self.former(model)).merging(["mine": "here"]) { $1 },
      forPersistentStoreOfType: TestDatabase.type, at: fixture.url)
    #expect(try stored() == Self.former(model))
  }

  private func metadata() throws -> [String: Any] {
    try NSPersistentStoreCoordinator.metadataForPersistentStore(ofType: TestDatabase.type, at: fixture.url)
  }

  private func stored() throws -> [String: Data]? { NSManagedObjectModel.versionHashes(in: try metadata()) }

  @Test func `a store opens without migration, and a save renews it`() throws {
    try makeStore()
    #expect(model.isConfiguration(withName: nil, compatibleWithStoreMetadata: try metadata()))
    try fixture.open(model, options: nil) { context in
      try #expect(context.texts("Author", "name") == ["Jane"])
      #expect(try stored() == Self.former(model))
      context.make("Place")
      try context.save()
    }
    let renewed = try metadata()
    let hashes = model.entityVersionHashesByName
    #expect(try stored() == hashes)
    #expect(renewed["NSStoreModelVersionHashesDigest"] as? String == NSManagedObjectModel.digest(hashes))
    #expect(renewed[NSPersistentStoreModelVersionChecksumKey] as? String == model.versionChecksum)
    #expect(renewed["mine"] as? String == "here")
    try fixture.open(model, options: nil) { context in
      try #expect(context.texts("Author", "name") == ["Jane"])
    }
  }

  @Test func `reading changes nothing`() throws {
    try makeStore()
    try fixture.open(model, options: [NSReadOnlyPersistentStoreOption: true]) { context in
      try #expect(context.texts("Author", "name") == ["Jane"])
    }
    try fixture.open(model, options: nil) { _ in }
    #expect(try stored() == Self.former(model))
  }

  @Test func `another version is refused as before`() throws {
    try makeStore()
    let other = try fixture.model(Self.entities(ModelText.text("city")))
    #expect(!other.isConfiguration(withName: nil, compatibleWithStoreMetadata: try metadata()))
    let error = #expect(throws: CocoaError.self) { try fixture.open(other, options: nil) { _ in } }
    #expect(error?.code.rawValue == NSPersistentStoreIncompatibleVersionHashError)
  }

  @Test func `a model is found by the metadata, whole or in parts`() throws {
    try makeStore()
    let metadata = try metadata()
    let parts = try [
      Self.entities().replacing(ModelText.entity("Place", "", ModelText.text("label")), with: ""),
      ModelText.entity("Place", "", ModelText.text("label")),
    ].map { try fixture.model($0) }
    for models in [[parts[1], model], parts] {
      let found = NSManagedObjectModel(byMerging: models, forStoreMetadata: metadata)
      #expect(found?.entityVersionHashesByName == model.entityVersionHashesByName)
    }
    try fixture.bundle(model)
    let found = NSManagedObjectModel.mergedModel(from: nil, forStoreMetadata: metadata)
    #expect(found?.entityVersionHashesByName == model.entityVersionHashesByName)
  }

  @Test(arguments: [false, true])
  func `it is migrated`(isBundled: Bool) throws {
    try makeStore()
    if isBundled { try fixture.bundle(model) }
    let next = try fixture.model(Self.entities(ModelText.text("city")))
    try fixture.open(next) { context in
      try #expect(context.texts("Author", "name") == ["Jane"])
    }
    #expect(try stored() == next.entityVersionHashesByName)
  }

  @Test(.ofFiles, arguments: [false, true], [false, true])
  func `stages may name either checksum`(firstIsFormer: Bool, lastIsFormer: Bool) throws {
    try makeStore()
    let next = try fixture.model(Self.entities(ModelText.text("city")))
    func checksum(_ model: NSManagedObjectModel, _ isFormer: Bool) -> String {
      isFormer ? NSManagedObjectModel.checksum(Self.former(model)) : model.versionChecksum
    }
    let stage = NSCustomMigrationStage(
      migratingFrom: NSManagedObjectModelReference(
        model: model, versionChecksum: checksum(model, firstIsFormer)),
      to: NSManagedObjectModelReference(model: next, versionChecksum: checksum(next, lastIsFormer)))
    for stages: [NSMigrationStage] in [
      [stage], [NSLightweightMigrationStage([model, next].map { checksum($0, firstIsFormer) })],
    ] {
      let manager = NSStagedMigrationManager(stages)
      let copy = FileManager.default.temporaryDirectory.appendingPathComponent("copy-\(UUID()).sqlite")
      let place = TestDatabase.place(copy)
      defer { try? FileManager.default.removeItem(at: copy) }
      try NSPersistentStoreCoordinator(managedObjectModel: model).replacePersistentStore(
        at: place, destinationOptions: nil, withPersistentStoreFrom: fixture.url, sourceOptions: nil,
        ofType: TestDatabase.type)
      let options = MigrationFixture.automatic.merging(
        [NSPersistentStoreStagedMigrationManagerOptionKey: manager]) { $1 }
      try fixture.open(next, at: place, options: options) { context in
        try #expect(context.texts("Author", "name") == ["Jane"])
      }
    }
  }

  @Test func `a mapping compiled by an earlier version is found`() throws {
    try makeStore()
    let next = try fixture.model(Self.entities(ModelText.text("city")))
    let mapping = try NSMappingModel.inferredMappingModel(
      forSourceModel: model, destinationModel: next)
    let (old, new) = (Self.former(model), Self.former(next))
    for entity in mapping.entityMappings {
      entity.sourceEntityVersionHash = entity.sourceEntityName.flatMap { old[$0] }
      entity.destinationEntityVersionHash = entity.destinationEntityName.flatMap { new[$0] }
    }
    let manager = NSMigrationManager(sourceModel: model, destinationModel: next)
    let place = TestDatabase.place(
      FileManager.default.temporaryDirectory.appendingPathComponent("mapped-\(UUID()).sqlite"))
    try manager.migrateStore(
      from: fixture.url, sourceType: TestDatabase.type, options: nil, with: mapping,
      toDestinationURL: place, destinationType: TestDatabase.type, destinationOptions: nil)
    try fixture.open(next, at: place, options: nil) { context in
      try #expect(context.texts("Author", "name") == ["Jane"])
    }
    try? FileManager.default.removeItem(at: place)
  }

  @Test func `a relationship's own hash leaves out itself as the inverse`() throws {
    let single = try fixture.model(ModelText.entity("Person", "", ModelText.many("friends", "Person")))
    let person = model.entitiesByName["Person"]!
    #expect(
      person.relationshipsByName["friends"]!.versionHash
        == single.entitiesByName["Person"]!.relationshipsByName["friends"]!.versionHash)
    #expect(
      model.entitiesByName["Author"]!.relationshipsByName["friends"]!.versionHash
        == person.relationshipsByName["friends"]!.versionHash)
  }
}
