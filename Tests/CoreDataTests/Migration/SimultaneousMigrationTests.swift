import CoreDataSQLiteBinding
import Foundation
import Testing

@testable import CoreData

/// A store that another process migrates while this one is about to.
@Suite struct SimultaneousMigrationTests {
  private let _fixture: MigrationFixture
  private let _old: NSManagedObjectModel
  private let _new: NSManagedObjectModel
  /// Read before the other process migrated the store.
  private let _metadata: [String: Any]

  /// Creates a store of the old version, reads its metadata, and migrates it.
  init() throws {
    _fixture = try MigrationFixture()
    _old = try Self._model(_fixture, "n")
    _new = try Self._model(_fixture, "n", "m")
    try _fixture.open(_old, options: nil) { context in
      context.make("A", ["n": "1"])
      try context.save()
    }
    _metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(
      ofType: NSSQLiteStoreType, at: _fixture.url)
    try _fixture.open(_new) { context in
      context.make("A", ["n": "2", "m": "new"])
      try context.save()
    }
  }

  private static func _model(_ fixture: MigrationFixture, _ attributes: String...) throws
    -> NSManagedObjectModel
  {
    let texts = attributes.map { "<attribute name=\"\($0)\" optional=\"YES\" attributeType=\"String\"/>" }
    return try fixture.model("<entity name=\"A\">\(texts.joined())</entity>")
  }

  private func _store(_ connection: Connection, _ metadata: [String: Any]) -> SQLiteMigratingStore {
    SQLiteMigratingStore(
      url: _fixture.url, connection: connection, metadata: metadata, options: MigrationFixture.automatic)
  }

  private func _expectMigratedStore() throws {
    try _fixture.open(_new, options: nil) { context in
      try #expect(context.texts("A", "n").sorted() == ["1", "2"])
      try #expect(context.texts("A", "m").contains("new"))
    }
  }

  @Test(.ofFiles) func `an automatic migration with stale metadata is a no-op`() throws {
    let connection = try Connection(path: _fixture.url.path)
    try AutomaticMigration(_store(connection, _metadata)).run(to: try _new.frozen(), _new)
    try _expectMigratedStore()
  }

  @Test(.ofFiles) func `a staged migration with stale metadata is a no-op`() throws {
    let manager = NSStagedMigrationManager([
      NSLightweightMigrationStage([_old.versionChecksum, _new.versionChecksum])
    ])
    let connection = try Connection(path: _fixture.url.path)
    try StagedMigration(manager, _store(connection, _metadata)).run(to: _new)
    try _expectMigratedStore()
  }

  @Test(.ofFiles) func `a store without source model fails until it is migrated`() throws {
    let metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(
      ofType: NSSQLiteStoreType, at: _fixture.url)
    try _fixture.forgetModel()
    let connection = try Connection(path: _fixture.url.path)
    let error = #expect(throws: CocoaError.self) {
      try AutomaticMigration(_store(connection, metadata)).run(to: try _old.frozen(), _old)
    }
    #expect(error?.code.rawValue == NSMigrationMissingSourceModelError)
  }
}
