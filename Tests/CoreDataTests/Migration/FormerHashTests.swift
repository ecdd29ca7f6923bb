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

  @Test func `what another program has written since stays`() throws {
    try makeStore()
    try fixture.open(model, options: nil) { context in
      let metadata = try metadata().merging(["theirs": "new"]) { $1 }
      try NSPersistentStoreCoordinator.setMetadata(
        metadata, forPersistentStoreOfType: TestDatabase.type, at: fixture.url)
      context.make("Place")
      try context.save()
    }
    #expect(try metadata()["theirs"] as? String == "new")
    #expect(try metadata()["mine"] as? String == "here")
    #expect(try stored() == model.entityVersionHashesByName)
  }

  @Test func `a custom store has the present hashes to write`() throws {
    NSPersistentStoreCoordinator.registerStoreClass(ShelfStore.self, forStoreType: ShelfStore.type)
    let url = URL(fileURLWithPath: "/shelf/\(UUID().uuidString)")
    let world = ShelfStore.world(at: url)
    world.metadata = StoreVersioning.hashMetadata(Self.former(model)).merging(["mine": "here"]) { $1 }
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    #expect(model.isConfiguration(withName: nil, compatibleWithStoreMetadata: world.metadata))
    let store = try coordinator.addPersistentStore(
      ofType: ShelfStore.type, configurationName: nil, at: url, options: nil)
    #expect(NSManagedObjectModel.versionHashes(in: world.metadata) == Self.former(model))
    let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = coordinator
    try context.performAndWait {
      context.make("Place")
      try context.save()
    }
    let hashes = model.entityVersionHashesByName
    #expect(NSManagedObjectModel.versionHashes(in: store.metadata) == hashes)
    #expect(
      store.metadata["NSStoreModelVersionHashesDigest"] as? String == NSManagedObjectModel.digest(hashes))
    #expect(store.metadata["mine"] as? String == "here")
    #expect(NSManagedObjectModel.versionHashes(in: world.metadata) == hashes)
  }

  @Test func `a compiled mapping with former hashes is found by them`() throws {
    try makeStore()
    let next = try fixture.model(Self.entities(ModelText.text("city")))
    let names = (try fixture.bundle(model), try fixture.bundle(next))
    let directory = FileManager.default.temporaryDirectory.appendingPathComponent("cdm-\(UUID())")
    defer { try? FileManager.default.removeItem(at: directory) }
    let source = directory.appendingPathComponent("Former.xcmappingmodel")
    try FileManager.default.createDirectory(at: source, withIntermediateDirectories: true)
    let text = MappingDocument.text(
      [.init("Author", attributes: ["genre", "name"]), .init("Place", attributes: ["label"])], from: names.0,
      to: names.1)
    try Data(text.utf8).write(to: source.appendingPathComponent("xcmapping.xml"))
    for (name, model) in [(names.0, model), (names.1, next)] {
      try model.write(to: directory.appendingPathComponent("\(name).xcdatamodel"))
    }
    var archive = try CompiledMappingFile.file(
      of: source.path, models: CompiledMappingFile.models(beside: source.path)
    ).data
    for model in [model, next] {
      // Equally long.
      let present = try #require(model.entityVersionHashesByName["Author"])
      let place = try #require(archive.range(of: present))
      archive.replaceSubrange(place, with: try #require(Self.former(model)["Author"]))
    }
    try FileManager.default.removeItem(at: source)
    try archive.write(to: directory.appendingPathComponent("Former.cdm"))
    let bundle = try #require(Bundle(path: directory.path))
    let found = NSMappingModel(from: [bundle], forSourceModel: model, destinationModel: next)
    #expect(found?.entityMappings.count == 2)
    #expect(NSMappingModel(from: [bundle], forSourceModel: next, destinationModel: model) == nil)
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
