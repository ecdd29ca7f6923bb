import CoreData
import CoreDataSQLiteBinding
import Foundation
import Testing

@Suite struct StoreDestructionTests {
  private let stores: BlobStore

  init() throws { stores = try BlobStore() }

  private func destroy(_ url: URL, options: [AnyHashable: Any]? = nil) throws {
    try NSPersistentStoreCoordinator(managedObjectModel: BlobStore.model())
      .destroyPersistentStore(at: url, ofType: NSSQLiteStoreType, options: options)
  }

  @Test func `destroying empties the file in place and keeps it`() throws {
    try stores.make(notes: 3)
    let number = BlobStore.number(stores.url().path)
    try destroy(stores.url())
    #expect(BlobStore.number(stores.url().path) == number)
    #expect(stores.names == ["Notes.sqlite"])
    let again = try stores.open()
    #expect(try BlobStore.count(again) == 0)
    try BlobStore.insert(2, into: again)
    #expect(try BlobStore.count(again) == 2)
  }

  @Test func `a destroyed store is made anew with Core Data's settings`() throws {
    try stores.make()
    try destroy(stores.url())
    try stores.make()
    let connection = try Connection(path: stores.url().path)
    #expect(try connection.pragma("auto_vacuum") == "2")
    #expect(try connection.pragma("journal_mode") == "wal")
  }

  @Test func `destroying takes the store out of its coordinator`() throws {
    let coordinator = try stores.open()
    try BlobStore.insert(1, blob: true, into: coordinator)
    try coordinator.destroyPersistentStore(at: stores.url(), ofType: NSSQLiteStoreType)
    #expect(coordinator.persistentStores.isEmpty)
    #expect(stores.names == ["Notes.sqlite"])
  }

  @Test func `destroying a missing file makes one that can be deleted`() throws {
    try destroy(stores.url())
    #expect(stores.names == ["Notes.sqlite"])
    try FileManager.default.removeItem(at: stores.url())
    try destroy(stores.directory.appendingPathComponent("none/Notes.sqlite"))
    #expect(stores.names == [])
  }

  @Test func `another program that has the store open finds it empty`() throws {
    try stores.make(notes: 3)
    let other = try Connection(path: stores.url().path)
    #expect(try other.firstValue("SELECT COUNT(*) FROM ZNOTE") == .int(3))
    try destroy(stores.url())
    #expect(try other.firstValue("SELECT COUNT(*) FROM sqlite_master") == .int(0))
  }

  @Test func `a destroyed store can be destroyed, migrated to and replaced`() throws {
    try stores.make(notes: 2)
    try stores.make("Other.sqlite", notes: 1)
    try destroy(stores.url("Other.sqlite"))
    try destroy(stores.url("Other.sqlite"))
    let coordinator = try stores.open()
    try coordinator.migratePersistentStore(
      coordinator.persistentStores[0], to: stores.url("Other.sqlite"), withType: NSSQLiteStoreType)
    #expect(try BlobStore.count(coordinator) == 2)
    try BlobStore.close(coordinator)
    try destroy(stores.url())
    try coordinator.replacePersistentStore(
      at: stores.url(), withPersistentStoreFrom: stores.url("Other.sqlite"), ofType: NSSQLiteStoreType)
    #expect(try BlobStore.count(try stores.open()) == 2)
  }

  @Test func `destroying deletes the external data`() throws {
    try stores.make(notes: 2, blob: true)
    #expect(BlobStore.names(in: stores.external()).count == 2)
    try destroy(stores.url())
    #expect(stores.names == ["Notes.sqlite"])
  }

  @Test func `the external data of a store with the same base name stay`() throws {
    try stores.make("Notes.sqlite", notes: 2, blob: true)
    try stores.make("Notes.db", notes: 1, blob: true)
    try destroy(stores.url("Notes.sqlite"))
    #expect(BlobStore.names(in: stores.external()).count == 1)
    #expect(try BlobStore.blobs(try stores.open("Notes.db")) == [BlobStore.blob])
  }

  @Test func `replacing a store keeps external data of the same base name`() throws {
    try stores.make("Notes.sqlite", notes: 2, blob: true)
    try stores.make("Notes.db", notes: 1, blob: true)
    try stores.make("Other.sqlite", notes: 1)
    try NSPersistentStoreCoordinator(managedObjectModel: BlobStore.model()).replacePersistentStore(
      at: stores.url("Notes.sqlite"), withPersistentStoreFrom: stores.url("Other.sqlite"),
      ofType: NSSQLiteStoreType)
    #expect(try BlobStore.blobs(try stores.open("Notes.db")) == [BlobStore.blob])
    #expect(BlobStore.names(in: stores.external()).count == 1)
  }

  @Test func `destroying through a link empties the real file`() throws {
    try stores.make(blob: true)
    try FileManager.default.createSymbolicLink(
      atPath: stores.url("Link.sqlite").path, withDestinationPath: "Notes.sqlite")
    try destroy(stores.url("Link.sqlite"))
    #expect(stores.names == ["Link.sqlite", "Notes.sqlite"])
    #expect(try BlobStore.count(try stores.open()) == 0)
  }

  @Test func `a file that is no store is kept unless forced`() throws {
    try Data("a text".utf8).write(to: stores.url())
    let error = #expect(throws: CocoaError.self) { try destroy(stores.url()) }
    #expect(error?.code == .fileReadCorruptFile)
    #expect(try Data(contentsOf: stores.url()) == Data("a text".utf8))
    try destroy(stores.url(), options: [NSPersistentStoreForceDestroyOption: true])
    #expect(try Data(contentsOf: stores.url()).isEmpty)
  }

  @Test func `another program's database stays as it is`() throws {
    try Connection(path: stores.url().path).execute("CREATE TABLE mine(x)")
    let error = #expect(throws: CocoaError.self) { try destroy(stores.url()) }
    #expect(error?.code == .persistentStoreTypeMismatch)
    #expect(try Connection(path: stores.url().path).firstValue("SELECT COUNT(*) FROM mine") == .int(0))
  }

  @Test func `a damaged store can be destroyed`() throws {
    try stores.make(notes: 5)
    let handle = try FileHandle(forWritingTo: stores.url())
    try handle.seek(toOffset: 100)
    handle.write(Data(repeating: 0xA5, count: 3000))
    try handle.close()
    try destroy(stores.url())
    #expect(try BlobStore.count(try stores.open()) == 0)
  }

  @Test func `what is no regular file is left alone, with an error`() throws {
    let directory = stores.url("directory")
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: false)
    let pipe = stores.url("pipe")
    mkfifo(pipe.path, 0o600)
    let dangling = stores.url("dangling")
    try FileManager.default.createSymbolicLink(atPath: dangling.path, withDestinationPath: "gone")
    // The null device under another name, which only root can create.
    let device = stores.url("device")
    mknod(device.path, S_IFCHR | 0o666, 1 << 8 | 3)
    let before = stores.names
    for url in [directory, pipe, dangling, device] where before.contains(url.lastPathComponent) {
      #expect(throws: CocoaError.self) { try destroy(url) }
      #expect(throws: CocoaError.self) {
        try destroy(url, options: [NSPersistentStoreForceDestroyOption: true])
      }
    }
    #expect(stores.names == before)
    #expect(throws: CocoaError.self) { try destroy(URL(string: "https://example.com/x.sqlite")!) }
  }

  @Test func `destroying a store in memory leaves the null device`() async {
    await #expect(processExitsWith: .success) {
      // If this fails, the engine must not delete the device: drops root's rights first.
      guard geteuid() != 0 || setuid(65534) == 0 else { return }
      let before = BlobStore.status("/dev/null")
      let coordinator = NSPersistentStoreCoordinator(managedObjectModel: BlobStore.model())
      let null = URL(fileURLWithPath: "/dev/null")
      try coordinator.addPersistentStore(ofType: NSSQLiteStoreType, configurationName: nil, at: null)
      try coordinator.destroyPersistentStore(at: null, ofType: NSSQLiteStoreType)
      try #require(coordinator.persistentStores.isEmpty)
      try #require(BlobStore.status("/dev/null")?.st_ino == before?.st_ino)
    }
  }
}
