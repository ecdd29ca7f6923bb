import CoreData
import Foundation
import Testing

/// Files and directories that are readable but not writable. Root may write anything, so tests run as another
/// user.
@Suite struct ReadOnlyPlaceTests {
  /// Creates a store, removes write permission, and runs `body` as a user without it.
  private static func asReader(
    file: mode_t, directory: mode_t, _ body: (BlobStore) throws -> Void
  ) throws {
    let stores = try BlobStore()
    try stores.make(notes: 3, blob: true)
    let support = stores.directory.path + "/.Notes_SUPPORT"
    for path in [stores.directory.path, stores.url().path, support, stores.external()] {
      chown(path, 65534, 65534)
    }
    for name in BlobStore.names(in: stores.external()) { chown(stores.external() + "/" + name, 65534, 65534) }
    chmod(stores.url().path, file)
    chmod(stores.directory.path, directory)
    if geteuid() == 0 { try #require(setgid(65534) == 0 && setuid(65534) == 0) }
    try body(stores)
  }

  private static func addsReadOnly(_ stores: BlobStore) throws {
    let before = stores.names
    let coordinator = try stores.open()
    try #require(coordinator.persistentStores[0].isReadOnly)
    try #require(try BlobStore.count(coordinator) == 3)
    try #require(try BlobStore.blobs(coordinator)[0] == BlobStore.blob)
    #expect(throws: CocoaError.self) { try BlobStore.insert(1, into: coordinator) }
    try #require(stores.names == before)
    try BlobStore.close(coordinator)
    // A later write succeeds.
    chmod(stores.directory.path, 0o755)
    chmod(stores.url().path, 0o644)
    let again = try stores.open()
    try BlobStore.insert(1, blob: true, into: again)
    try #require(try BlobStore.count(again) == 4)
  }

  @Test func `a read-only file is added read-only with a warning`() async {
    let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
      try Self.asReader(file: 0o444, directory: 0o755, Self.addsReadOnly)
    }
    let output = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(output.contains("is added read-only"))
  }

  @Test func `a store in a read-only directory opens with a warning`() async {
    let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
      try Self.asReader(file: 0o644, directory: 0o555, Self.addsReadOnly)
    }
    let output = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(output.contains("is added read-only"))
  }

  @Test func `a store that may not be read says so`() async {
    await #expect(processExitsWith: .success) {
      try Self.asReader(file: 0o200, directory: 0o755) { stores in
        let error = #expect(throws: CocoaError.self) { _ = try stores.open() }
        try #require(error?.localizedDescription.contains(stores.url().path) == true)
      }
    }
  }
}
