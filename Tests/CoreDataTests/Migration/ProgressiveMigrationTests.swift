import CoreDataModelSchema
import CoreDataSQLiteBinding
import Foundation
import Testing

@testable import CoreData

/// Migrating version by version in code, and related API.
@Suite("Progressive migration")
struct ProgressiveMigrationTests {
  private let fixture: MigrationFixture
  /// A name that is kept, changed and changed again; each version keeps the first name as renaming
  /// identifier.
  private let versions: [NSManagedObjectModel]

  init() throws {
    let fixture = try MigrationFixture()
    self.fixture = fixture
    versions = try [
      ModelText.text("first"), ModelText.text("second", "optional=\"YES\" elementID=\"first\""),
      ModelText.text("third", "optional=\"YES\" elementID=\"first\""),
    ].map { try fixture.model(ModelText.entity("Progress", "", $0)) }
    try fixture.open(versions[0], options: nil) { context in
      context.make("Progress", ["first": "kept"])
      try context.save()
    }
  }

  private func isOf(_ version: Int) throws -> Bool {
    let metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(type: .sqlite, at: fixture.url)
    return versions[version].isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata)
  }

  @Test(.ofFiles) func `A store is migrated step by step in separate files`() throws {
    var current = try #require(versions.indices.first { (try? isOf($0)) == true })
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: versions[2])
    var last = fixture.url
    while current < 2 {
      let (old, new) = (versions[current], versions[current + 1])
      let next = fixture.url.deletingLastPathComponent().appendingPathComponent("\(UUID().uuidString).sqlite")
      try NSMigrationManager(sourceModel: old, destinationModel: new).migrateStore(
        from: last, type: .sqlite,
        mapping: .inferredMappingModel(forSourceModel: old, destinationModel: new), to: next, type: .sqlite)
      if last != fixture.url { try coordinator.destroyPersistentStore(at: last, type: .sqlite) }
      last = next
      current += 1
    }
    try coordinator.replacePersistentStore(at: fixture.url, withPersistentStoreFrom: last, type: .sqlite)
    try coordinator.destroyPersistentStore(at: last, type: .sqlite)
    try fixture.open(versions[2], options: nil) { try #expect($0.texts("Progress", "third") == ["kept"]) }
  }

  @Test func `Versions that share a renaming identifier can be skipped`() throws {
    try fixture.open(versions[2]) { try #expect($0.texts("Progress", "third") == ["kept"]) }
  }

  @Test func `Without an identifier a new property inherits no values`() throws {
    let other = try fixture.model(ModelText.entity("Progress", "", ModelText.text("other")))
    try fixture.bundle(versions[0])
    try fixture.open(other) { try #expect($0.texts("Progress", "other") == [""]) }
  }

  @Test func `Tables rewritten in place keep their keys`() throws {
    func uri(_ version: Int) throws -> URL {
      try fixture.open(versions[version]) { context in
        let objects = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Progress"))
        return try #require(objects.first).objectID.uriRepresentation()
      }
    }
    let before = try uri(0)
    try #expect(uri(1) == before)
  }

  @Test(.ofFiles) func `A crash while tables are rewritten leaves the store intact`() throws {
    let connection = try Connection(path: fixture.url.path, mode: .readWrite)
    try SQLFunctions.register(on: connection)
    try connection.beginImmediate()
    let layout = try ModelLayout(ModelSchema(versions[0]))
    let binder = SchemaBinder(connection, path: fixture.url.path)
    let old = try binder.bind(MappingBuilder.mapping(for: layout, numbers: binder.numbers(for: layout)))
    let new = try MappingBuilder.mapping(for: ModelLayout(ModelSchema(versions[1])))
    try StoreMigration(connection, at: fixture.url.path, from: old, to: new).run()
    let left = fixture.url.deletingLastPathComponent().appendingPathExtension("left")
    defer { try? FileManager.default.removeItem(at: left) }
    try FileManager.default.copyItem(at: fixture.url.deletingLastPathComponent(), to: left)
    connection.rollback()
    let store = left.appendingPathComponent(fixture.url.lastPathComponent)
    try fixture.open(versions[0], at: store, options: nil) {
      try #expect($0.texts("Progress", "first") == ["kept"])
    }
  }

  @Test(.ofFiles)
  func `A store of the model's version is left alone, byte for byte`() throws {
    try fixture.open(versions[0], options: nil) { _ in }
    let before = try Data(contentsOf: fixture.url)
    try fixture.open(versions[0]) { _ in }
    try #expect(Data(contentsOf: fixture.url) == before)
  }

  @Test(.ofFiles) func `A difference in indexes alone migrates nothing`() throws {
    let indexed = try fixture.model(
      ModelText.entity(
        "Progress", "", ModelText.text("first"),
        "<fetchIndex name=\"byFirst\"><fetchIndexElement property=\"first\" type=\"Binary\" order=\"ascending\"/></fetchIndex>"
      ))
    #expect(indexed.versionChecksum == versions[0].versionChecksum)
    try fixture.open(indexed) { _ in }
    try #expect(!fixture.schema().contains { $0.contains("byFirst") })
    let forced = try fixture.model(
      ModelText.entity(
        "Progress", "versionHashModifier=\"2\"", ModelText.text("first"),
        "<fetchIndex name=\"byFirst\"><fetchIndexElement property=\"first\" type=\"Binary\" order=\"ascending\"/></fetchIndex>"
      ))
    try fixture.open(forced) { _ in }
    try #expect(fixture.schema().contains { $0.contains("byFirst") })
  }

  @Test(.ofFiles) func `A store can return to an older version`() throws {
    try fixture.open(versions[1]) { _ in }
    try #expect(isOf(1))
    try fixture.open(versions[0]) { try #expect($0.texts("Progress", "first") == ["kept"]) }
  }

  // MARK: Replacing

  @Test(.ofFiles) func `Replacing a store copies the UUID and removes a loaded one`() throws {
    let other = fixture.url.deletingLastPathComponent().appendingPathComponent("Other.sqlite")
    try fixture.open(versions[0], at: other, options: nil) { context in
      context.make("Progress", ["first": "other"])
      try context.save()
    }
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: versions[0])
    try coordinator.addPersistentStore(type: .sqlite, at: fixture.url)
    try coordinator.replacePersistentStore(at: fixture.url, withPersistentStoreFrom: other, type: .sqlite)
    #expect(coordinator.persistentStores.isEmpty)
    let made = other.deletingLastPathComponent().appendingPathComponent("Made.sqlite")
    try coordinator.replacePersistentStore(at: made, withPersistentStoreFrom: other, type: .sqlite)
    func uuid(_ url: URL) throws -> String? {
      try NSPersistentStoreCoordinator.metadataForPersistentStore(type: .sqlite, at: url)[NSStoreUUIDKey]
        as? String
    }
    for url in [fixture.url, made] {
      try #expect(uuid(url) == uuid(other))
      try fixture.open(versions[0], at: url, options: nil) {
        try #expect($0.texts("Progress", "first") == ["other"])
      }
    }
  }

  @Test(.ofFiles)
  func `What is no store is not replaced, and does not replace`() throws {
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: versions[0])
    let text = fixture.url.deletingLastPathComponent().appendingPathComponent("Letter.txt")
    try Data("Dear Jane".utf8).write(to: text)
    #expect(throws: CocoaError.self) {
      try coordinator.replacePersistentStore(at: text, withPersistentStoreFrom: fixture.url, type: .sqlite)
    }
    #expect(throws: CocoaError.self) {
      try coordinator.replacePersistentStore(at: fixture.url, withPersistentStoreFrom: text, type: .sqlite)
    }
    try #expect(Data(contentsOf: text) == Data("Dear Jane".utf8))
    try #expect(isOf(0))
  }
}
