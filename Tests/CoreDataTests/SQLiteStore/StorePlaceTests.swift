import CoreData
import Foundation
import Testing

/// Invalid locations for a store, and paths to a store through a link.
@Suite struct StorePlaceTests {
  private let stores: BlobStore

  init() throws { stores = try BlobStore() }

  private func refusal(_ url: URL) -> CocoaError? {
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: LibraryModel.make())
    return #expect(throws: CocoaError.self) { try coordinator.addPersistentStore(type: .sqlite, at: url) }
  }

  @Test func `a directory that is not there is named`() {
    let directory = "/nowhere-\(UUID().uuidString)"
    let error = refusal(URL(fileURLWithPath: directory + "/Store.sqlite"))
    #expect(error?.code == .persistentStoreOpen)
    #expect(error?.localizedDescription.contains("there is no directory \(directory)") == true)
  }

  @Test(.enabled(if: getuid() != 0, "Root may write everywhere."))
  func `a directory that cannot be made is named with the one that prevents it`() {
    let error = refusal(URL(fileURLWithPath: "/nowhere-\(UUID().uuidString)/deep/Store.sqlite"))
    #expect(error?.localizedDescription.contains("and / is not writable for this user") == true)
  }

  @Test func `a directory is no store`() {
    let error = refusal(FileManager.default.temporaryDirectory)
    #expect(error?.localizedDescription.contains("is a directory and no store") == true)
  }

  @Test func `nothing is created below a file`() {
    let error = refusal(URL(fileURLWithPath: "/dev/null/Store.sqlite"))
    #expect(error?.localizedDescription.contains("/dev/null is a file and no directory") == true)
  }

  @Test func `a URL that is no file URL is refused`() {
    let error = refusal(URL(string: "https://example.com/Store.sqlite")!)
    #expect(
      error?.localizedDescription.contains("https://example.com/Store.sqlite is not a file URL") == true)
  }

  @Test func `a named pipe is refused at once`() {
    let url = stores.url("pipe")
    mkfifo(url.path, 0o600)
    #expect(refusal(url)?.localizedDescription.contains("is a named pipe") == true)
    #expect(throws: CocoaError.self) {
      try NSPersistentStoreCoordinator.metadataForPersistentStore(ofType: NSSQLiteStoreType, at: url)
    }
  }

  @Test func `a link that leads nowhere is refused, and its target named`() throws {
    let url = stores.url("link.sqlite")
    try FileManager.default.createSymbolicLink(atPath: url.path, withDestinationPath: "gone.sqlite")
    #expect(refusal(url)?.localizedDescription.contains("a symbolic link to gone.sqlite") == true)
    #expect(stores.names == ["link.sqlite"])
  }

  @Test(arguments: [true, false])
  func `a store read through a link shows what is in its log`(_ isReadOnly: Bool) throws {
    let open = try stores.open()
    try BlobStore.insert(3, blob: true, into: open)
    let elsewhere = try BlobStore()
    try FileManager.default.createSymbolicLink(
      at: elsewhere.url("Other.sqlite"), withDestinationURL: stores.url())
    let linked = try elsewhere.open("Other.sqlite", options: [NSReadOnlyPersistentStoreOption: isReadOnly])
    #expect(try BlobStore.count(linked) == 3)
    #expect(try BlobStore.blobs(linked) == [BlobStore.blob, BlobStore.blob, BlobStore.blob])
    #expect(elsewhere.names == ["Other.sqlite"])
  }

  @Test func `what is saved through a link lies beside the real file`() throws {
    try stores.make(notes: 0)
    let elsewhere = try BlobStore()
    try FileManager.default.createSymbolicLink(
      at: elsewhere.url("Other.sqlite"), withDestinationURL: stores.url())
    let linked = try elsewhere.open("Other.sqlite")
    try BlobStore.insert(1, blob: true, into: linked)
    #expect(elsewhere.names == ["Other.sqlite"])
    #expect(BlobStore.names(in: stores.external()).count == 1)
    #expect(try BlobStore.blobs(try stores.open()) == [BlobStore.blob])
  }

  @Test func `a store is found by any path of its file`() throws {
    let coordinator = try stores.open()
    try FileManager.default.createSymbolicLink(at: stores.url("link"), withDestinationURL: stores.url())
    #expect(coordinator.persistentStore(for: stores.url("link")) === coordinator.persistentStores[0])
  }

  @Test func `a link to the null device stands for a store in memory`() throws {
    try FileManager.default.createSymbolicLink(
      atPath: stores.url("null").path, withDestinationPath: "/dev/null")
    let coordinator = try stores.open("null")
    try BlobStore.insert(2, blob: true, into: coordinator)
    #expect(try BlobStore.count(coordinator) == 2)
    #expect(stores.names == ["null"])
  }
}
