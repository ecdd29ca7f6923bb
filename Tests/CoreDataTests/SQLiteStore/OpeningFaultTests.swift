#if os(Linux)
import CoreData
import CoreDataCTorture
import Foundation
import Testing

/// System calls that fail once while a store is opened or migrated. The VFS below SQLite applies to the whole
/// process, so each test runs in a separate process.
@Suite struct OpeningFaultTests {
  /// Runs `body` repeatedly for a directory. In each run another call on files below the directory, made
  /// through SQLite, reports an I/O error; with `step`, one in so many calls.
  ///
  /// - Returns: The number of runs in which a call failed.
  private static func forEachCall(below directory: URL, by step: Int = 1, _ body: () throws -> Void) throws
    -> Int
  {
    let page = try #require(torture_page_make())
    try #require(torture_vfs_register() == 0)
    for run in 0... {
      torture_page_clear(page)
      torture_set_prefix(page, directory.path)
      page.pointee.plan.layer = Int32(torture_layer_vfs.rawValue)
      page.pointee.plan.action = Int32(torture_io_error.rawValue)
      page.pointee.plan.at = Int64(run * step + 1)
      torture_attach(page)
      page.pointee.plan.is_armed = 1
      try body()
      guard page.pointee.plan.hits > 0 else { return run }
      torture_attach(nil)
    }
    return 0
  }

  @Test func `an I/O error on opening never hides the history`() async {
    await #expect(processExitsWith: .success) {
      let stores = try BlobStore()
      var options: [AnyHashable: Any] = [
        NSPersistentHistoryTrackingKey: true, NSSQLitePragmasOption: ["journal_mode": "DELETE"],
      ]
      let coordinator = try stores.open(options: options)
      try BlobStore.insert(1, into: coordinator)
      try BlobStore.close(coordinator)
      options[NSReadOnlyPersistentStoreOption] = true
      let count = try Self.forEachCall(below: stores.directory) {
        guard let coordinator = try? stores.open(options: options) else { return }
        torture_attach(nil)
        let context = coordinator.newContext()
        let count = try context.performAndWait { try context.allHistory().count }
        try #require(count == 1)
        try BlobStore.close(coordinator)
      }
      try #require(count > 10)
    }
  }

  @Test func `a migration that meets an I/O error is complete or fails`() async {
    await #expect(processExitsWith: .success) {
      let stores = try BlobStore()
      let (old, new) = (LibraryModel.make(), LibraryModel.make())
      new.entitiesByName["Author"]?.properties.append(LibraryModel.attribute("note", .stringAttributeType))
      try Self.makeLibrary(old, at: stores.url("Old.sqlite"))
      var migrated = 0
      let count = try Self.forEachCall(below: stores.directory, by: 7) {
        let url = stores.url("New.sqlite")
        let manager = NSMigrationManager(sourceModel: old, destinationModel: new)
        // Migrates objects instead of using SQL.
        manager.usesStoreSpecificMigrationManager = false
        let result = Result {
          try manager.migrateStore(
            from: stores.url("Old.sqlite"), sourceType: NSSQLiteStoreType,
            with: NSMappingModel.inferredMappingModel(forSourceModel: old, destinationModel: new),
            toDestinationURL: url, destinationType: NSSQLiteStoreType)
        }
        torture_attach(nil)
        guard case .success = result else { return }
        migrated += 1
        try #require(try Self.bookCounts(new, at: url) == [3, 3])
        for suffix in ["", "-wal", "-shm", "-journal"] {
          try? FileManager.default.removeItem(atPath: url.path + suffix)
        }
      }
      try #require(count > 20 && migrated > 0)
    }
  }

  /// Creates two authors with three books each.
  private static func makeLibrary(_ model: NSManagedObjectModel, at url: URL) throws {
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    try coordinator.addPersistentStore(
      ofType: NSSQLiteStoreType, configurationName: nil, at: url,
      options: [NSSQLitePragmasOption: ["journal_mode": "DELETE"]])
    let context = coordinator.newContext()
    try context.performAndWait {
      for name in ["Austen", "Woolf"] {
        let author = context.insert("Author", ["name": name])
        for number in 0..<3 { context.insert("Book", ["title": "\(name) \(number)", "author": author]) }
      }
      try context.save()
    }
    try BlobStore.close(coordinator)
  }

  /// Returns the number of books of each author.
  private static func bookCounts(_ model: NSManagedObjectModel, at url: URL) throws -> [Int] {
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    try coordinator.addPersistentStore(ofType: NSSQLiteStoreType, configurationName: nil, at: url)
    let context = coordinator.newContext()
    let counts = try context.performAndWait {
      try context.all("Author").map { ($0.value(forKey: "books") as? NSSet)?.count ?? 0 }
    }
    try BlobStore.close(coordinator)
    return counts
  }
}
#endif
