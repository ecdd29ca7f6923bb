import CoreDataSQLiteBinding
import Foundation
import Testing

@testable import CoreData

/// Permissions of the files created beside a store.
@Suite struct StoreFileModeTests {
  private let stores: BlobStore

  init() throws { stores = try BlobStore() }

  @Test(arguments: [(0o600, 0o700), (0o640, 0o750), (0o666, 0o777)] as [(mode_t, mode_t)])
  func `external data have the mode of the store`(_ file: mode_t, _ directory: mode_t) throws {
    try stores.make(notes: 0)
    chmod(stores.url().path, file)
    try stores.make(blob: true)
    #expect(BlobStore.permissions(stores.directory.path + "/.Notes_SUPPORT") == UInt32(directory))
    #expect(BlobStore.permissions(stores.external()) == UInt32(directory))
    let blob = try #require(BlobStore.names(in: stores.external()).first)
    #expect(BlobStore.permissions(stores.external() + "/" + blob) == UInt32(file))
  }

  @Test func `a copy and a migrated store have the mode of the original`() throws {
    try stores.make(notes: 2, blob: true)
    chmod(stores.url().path, 0o600)
    let coordinator = try stores.open()
    try coordinator.replacePersistentStore(
      at: stores.url("Copy.sqlite"), withPersistentStoreFrom: stores.url(), ofType: NSSQLiteStoreType)
    #expect(BlobStore.permissions(stores.url("Copy.sqlite").path) == 0o600)
    #expect(BlobStore.permissions(stores.external("Copy")) == 0o700)
    try coordinator.migratePersistentStore(
      coordinator.persistentStores[0], to: stores.url("Moved.sqlite"), withType: NSSQLiteStoreType)
    #expect(BlobStore.permissions(stores.url("Moved.sqlite").path) == 0o600)
    let sibling = StoreFiles(url: stores.url()).sibling()
    #expect(BlobStore.permissions(sibling.url.path) == 0o600)
  }

  @Test func `files made by root belong to the store's owner`() throws {
    guard geteuid() == 0 else { return }
    try stores.make(notes: 0)
    chown(stores.url().path, 65534, 65534)
    try stores.make(blob: true)
    let blob = try #require(BlobStore.names(in: stores.external()).first)
    for path in [stores.external(), stores.external() + "/" + blob] {
      #expect(BlobStore.status(path)?.st_uid == 65534)
    }
  }

  @Test func `a blob that cannot be written fails the save and is named`() throws {
    let coordinator = try stores.open()
    try Data().write(to: stores.directory.appendingPathComponent(".Notes_SUPPORT"))
    let error = #expect(throws: CocoaError.self) { try BlobStore.insert(1, blob: true, into: coordinator) }
    #expect(error?.localizedDescription.contains("the external data file \(stores.external())/") == true)
    #expect(try BlobStore.count(coordinator) == 0)
  }
}

/// Files left by a killed program, and which process deletes them.
@Suite struct AbandonedFileTests {
  private let stores: BlobStore

  init() throws { stores = try BlobStore() }

  @Test func `opening deletes the file of a killed migration`() throws {
    try stores.make(blob: true)
    let abandoned = StoreFiles(url: stores.url()).sibling()
    try StoreFiles(url: stores.url()).copy(to: abandoned)
    #expect(FileManager.default.fileExists(atPath: abandoned.url.path))
    #expect(stores.names.count > 2)
    try stores.make()
    #expect(stores.names == [".Notes_SUPPORT", "Notes.sqlite"])
  }

  @Test func `opening deletes external data left by a failed migration`() throws {
    try stores.make(blob: true)
    let abandoned = StoreFiles(url: stores.url()).sibling()
    try StoreFiles(url: stores.url()).copy(to: abandoned)
    for suffix in ["", "-wal", "-shm"] { unlink(abandoned.url.path + suffix) }
    #expect(stores.names.count > 2)
    try stores.make()
    #expect(stores.names == [".Notes_SUPPORT", "Notes.sqlite"])
  }

  @Test func `the file of a migration under way stays`() throws {
    try stores.make()
    let migrating = try Connection(path: stores.url().path)
    try migrating.beginImmediate()
    let sibling = StoreFiles(url: stores.url()).sibling()
    let opening = try Connection(path: stores.url().path, busyTimeout: 0)
    StoreFiles(url: stores.url()).removeAbandonedSibling(on: opening)
    #expect(FileManager.default.fileExists(atPath: sibling.url.path))
    migrating.rollback()
    StoreFiles(url: stores.url()).removeAbandonedSibling(on: opening)
    #expect(!FileManager.default.fileExists(atPath: sibling.url.path))
  }

  /// Returns the engine of a store, and a file that no row of it refers to.
  private func engineWithOrphan() throws -> (NSPersistentStoreCoordinator, SQLiteStoreEngine, orphan: String)
  {
    try stores.make(notes: 2, blob: true)
    let orphan = UUID().uuidString
    try Data("lost".utf8).write(to: URL(fileURLWithPath: "\(stores.external())/\(orphan)"))
    let coordinator = try stores.open()
    let engine = try #require(coordinator.persistentStores[0].engine as? SQLiteStoreEngine)
    return (coordinator, engine, orphan)
  }

  private let twoDays: TimeInterval = 172_800

  @Test func `a blob without row is deleted after a day, and no other`() throws {
    let (coordinator, engine, orphan) = try engineWithOrphan()
    OrphanSweep(engine).run()
    #expect(BlobStore.names(in: stores.external()).contains(orphan))
    OrphanSweep(engine, now: Date() + twoDays).run()
    #expect(BlobStore.names(in: stores.external()).count == 2)
    #expect(try BlobStore.blobs(coordinator) == [BlobStore.blob, BlobStore.blob])
  }

  @Test func `blobs of a store with the same base name are no orphans`() throws {
    try stores.make("Notes.db", blob: true)
    let (coordinator, engine, _) = try engineWithOrphan()
    defer { withExtendedLifetime(coordinator) {} }
    OrphanSweep(engine, now: Date() + twoDays).run()
    #expect(BlobStore.names(in: stores.external()).count == 3)
    #expect(try BlobStore.blobs(try stores.open("Notes.db")) == [BlobStore.blob])
  }

  @Test func `blobs stay while the store is open elsewhere in the process`() throws {
    let (coordinator, engine, orphan) = try engineWithOrphan()
    defer { withExtendedLifetime(coordinator) {} }
    let other = try stores.open()
    OrphanSweep(engine, now: Date() + twoDays).run()
    #expect(BlobStore.names(in: stores.external()).contains(orphan))
    try BlobStore.close(other)
    OrphanSweep(engine, now: Date() + twoDays).run()
    #expect(!BlobStore.names(in: stores.external()).contains(orphan))
  }

  @Test func `orphans are looked for once a day`() throws {
    let (coordinator, engine, _) = try engineWithOrphan()
    defer { withExtendedLifetime(coordinator) {} }
    #expect(!OrphanSweep(engine).isDue)
    #expect(OrphanSweep(engine, now: Date() + twoDays).isDue)
  }

  @Test func `a killed process's private copy is deleted at the next open`() async throws {
    try stores.make(notes: 4)
    // A database with a log and no shared memory, as in a backup.
    let store = try stores.open()
    try BlobStore.insert(3, into: store)
    try FileManager.default.copyItem(at: stores.url(), to: stores.url("Backup.sqlite"))
    try FileManager.default.copyItem(
      atPath: stores.url().path + "-wal", toPath: stores.url("Backup.sqlite").path + "-wal")
    let backup = stores.url("Backup.sqlite").path
    await #expect(processExitsWith: .signal(SIGKILL)) { [backup = backup as String] in
      _ = try UntouchedFile(path: backup, timeout: 1).open()
      kill(getpid(), SIGKILL)
    }
    await #expect(processExitsWith: .exitCode(7)) { [backup = backup as String] in
      let connection = try UntouchedFile(path: backup, timeout: 1).open()
      _ = try connection.firstValue("SELECT 1")
      exit(7)
    }
    PrivateCopy.removeAbandoned()
    let file = UntouchedFile(path: backup, timeout: 1)
    let connection = try file.open()
    #expect(try connection.firstValue("SELECT COUNT(*) FROM ZNOTE") == .int(7))
    let directory = URL(fileURLWithPath: connection.path).deletingLastPathComponent()
    // Other tests of this process may have copies too, but none of the processes above has.
    PrivateCopy.removeAbandoned()
    #expect(FileManager.default.fileExists(atPath: directory.path))
    for name in BlobStore.names(in: directory.deletingLastPathComponent().path) where name.hasSuffix(".lock")
    {
      let lock = open(directory.deletingLastPathComponent().path + "/" + name, O_RDWR)
      defer { close(lock) }
      #expect(lock < 0 || flock(lock, LOCK_EX | LOCK_NB) != 0)
    }
  }

  @Test func `a private copy takes no writes, and leaves no descriptor`() async throws {
    try stores.make(notes: 1)
    let store = try stores.open()
    try BlobStore.insert(1, into: store)
    let backup = stores.url("Backup.sqlite").path
    try FileManager.default.copyItem(atPath: stores.url().path, toPath: backup)
    try FileManager.default.copyItem(atPath: stores.url().path + "-wal", toPath: backup + "-wal")
    let connection = try UntouchedFile(path: backup, timeout: 1).open()
    #expect(throws: SQLiteError.self) { try connection.execute("DELETE FROM ZNOTE") }
    // Counted in a process of its own: other tests open files.
    await #expect(processExitsWith: .success) { [backup = backup as String] in
      func descriptors() throws -> Int {
        try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count
      }
      func use() throws {
        PrivateCopy.removeAbandoned()
        #expect(
          try UntouchedFile(path: backup, timeout: 1).open().firstValue("SELECT COUNT(*) FROM ZNOTE")
            == .int(2))
      }
      try use()
      let before = try descriptors()
      for _ in 1...8 { try use() }
      #expect(try descriptors() == before)
    }
    // Its lock is one that the other process leaves alone.
    withExtendedLifetime(connection) {}
  }
}
