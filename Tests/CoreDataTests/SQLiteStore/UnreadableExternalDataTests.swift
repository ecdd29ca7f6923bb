import CoreData
import Foundation
import Testing

/// External files that exist and cannot be read cause an error, and never lose a value.
@Suite struct UnreadableExternalDataTests {
  private let stores: BlobStore
  private let file: String

  init() throws {
    stores = try BlobStore()
    try stores.make(blob: true)
    file = try stores.external() + "/" + #require(BlobStore.names(in: stores.external()).first)
    // Root may read any file, so this one is made too large instead; only its length is stored.
    #expect(truncate(file, 3 << 30) == 0)
  }

  private func readAgain() { #expect(truncate(file, off_t(BlobStore.blob.count)) == 0) }

  @Test func `a fetch names the file, and succeeds once it can be read`() throws {
    let coordinator = try stores.open()
    let error = #expect(throws: CocoaError.self) { try BlobStore.blobs(coordinator) }
    #expect(error?.code == .fileReadTooLarge)
    #expect(error?.localizedDescription.contains(file) == true)
    readAgain()
    #expect(try BlobStore.blobs(coordinator) == [BlobStore.blob])
  }

  @Test func `a store is not moved without its values`() throws {
    let coordinator = try stores.open()
    #expect(throws: CocoaError.self) {
      try coordinator.migratePersistentStore(
        coordinator.persistentStores[0], to: stores.url("Moved.sqlite"), withType: NSBinaryStoreType)
    }
    readAgain()
    try BlobStore.close(coordinator)
    #expect(try BlobStore.blobs(stores.open()) == [BlobStore.blob])
  }

  @Test func `a migration by mapping model does not lose the value`() throws {
    let target = BlobStore.model()
    target.entitiesByName["Note"]!.properties.append(
      {
        let attribute = NSAttributeDescription()
        attribute.name = "more"
        attribute.attributeType = .stringAttributeType
        attribute.isOptional = true
        return attribute
      }())
    let mapping = try NSMappingModel.inferredMappingModel(
      forSourceModel: BlobStore.model(), destinationModel: target)
    let manager = NSMigrationManager(sourceModel: BlobStore.model(), destinationModel: target)
    // Migrates the stores object by object.
    manager.usesStoreSpecificMigrationManager = false
    func migrate() throws {
      try manager.migrateStore(
        from: stores.url(), sourceType: NSSQLiteStoreType, options: nil, with: mapping,
        toDestinationURL: stores.url("Migrated.sqlite"), destinationType: NSSQLiteStoreType,
        destinationOptions: nil)
    }
    let error = #expect(throws: CocoaError.self) { try migrate() }
    #expect(error?.localizedDescription.contains(file) == true)
    readAgain()
    try migrate()
    let migrated = NSPersistentStoreCoordinator(managedObjectModel: target)
    try migrated.addPersistentStore(
      ofType: NSSQLiteStoreType, configurationName: nil, at: stores.url("Migrated.sqlite"), options: nil)
    #expect(try BlobStore.blobs(migrated) == [BlobStore.blob])
  }
}
