import CoreData
import CoreDataSQLiteBinding
import Foundation
import Testing

/// Store files that are deleted, replaced or moved while they are open.
@Suite struct TakenAwayFileTests {
  private let stores: BlobStore

  init() throws { stores = try BlobStore() }

  /// Expects a save to be refused because the file is not at its path.
  private func expectRefusal(_ coordinator: NSPersistentStoreCoordinator) {
    let error = #expect(throws: CocoaError.self) { try BlobStore.insert(1, into: coordinator) }
    #expect(error?.userInfo[NSSQLiteErrorDomain] as? Int == 1032)
    #expect(error?.localizedDescription.contains("nothing was saved: the file \(stores.url().path)") == true)
  }

  @Test(arguments: ["WAL", "DELETE"])
  func `a save into a deleted file fails, and makes no new one`(_ mode: String) throws {
    let coordinator = try stores.open(options: [NSSQLitePragmasOption: ["journal_mode": mode]])
    try BlobStore.insert(2, into: coordinator)
    try FileManager.default.removeItem(at: stores.url())
    expectRefusal(coordinator)
    try BlobStore.close(coordinator)
    #expect(stores.names == [])
  }

  @Test(arguments: ["WAL", "DELETE"])
  func `a save into a replaced file fails and spares the new one`(_ mode: String) throws {
    try stores.make("New.sqlite", notes: 20)
    let content = try Data(contentsOf: stores.url("New.sqlite"))
    let coordinator = try stores.open(options: [NSSQLitePragmasOption: ["journal_mode": mode]])
    try BlobStore.insert(45, into: coordinator)
    rename(stores.url("New.sqlite").path, stores.url().path)
    expectRefusal(coordinator)
    #expect(stores.names == ["Notes.sqlite"])
    #expect(try Data(contentsOf: stores.url()) == content)
    #expect(try BlobStore.count(try stores.open()) == 20)
    try BlobStore.close(coordinator)
    #expect(try BlobStore.count(try stores.open()) == 20)
  }

  @Test(arguments: ["WAL", "DELETE"])
  func `a store whose file was cut to nothing opens again`(_ mode: String) throws {
    let options: [AnyHashable: Any] = [NSSQLitePragmasOption: ["journal_mode": mode]]
    try stores.make(notes: 500, blob: false)
    let coordinator = try stores.open(options: options)
    try BlobStore.insert(1, into: coordinator)
    truncate(stores.url().path, 0)
    expectRefusal(coordinator)
    try BlobStore.close(coordinator)
    let again = try stores.open(options: options)
    #expect(try BlobStore.count(again) == 0)
    try BlobStore.insert(2, into: again)
    try BlobStore.close(again)
    #expect(try BlobStore.count(stores.open(options: options)) == 2)
  }

  @Test func `an old log is not replayed over a replaced file`() throws {
    try stores.make("New.sqlite", notes: 20)
    let coordinator = try stores.open()
    try BlobStore.insert(45, into: coordinator)
    rename(stores.url("New.sqlite").path, stores.url().path)
    let other = try stores.open()
    #expect(try BlobStore.count(other) == 20)
    try BlobStore.insert(1, into: other)
    try BlobStore.close(coordinator)
    #expect(try BlobStore.count(other) == 21)
  }

  @Test func `a file replaced while open is intact after closing`() throws {
    try stores.make("New.sqlite", notes: 20)
    let coordinator = try stores.open()
    try BlobStore.insert(45, into: coordinator)
    rename(stores.url("New.sqlite").path, stores.url().path)
    try BlobStore.close(coordinator)
    #expect(try BlobStore.count(try stores.open()) == 20)
  }

  @Test func `a store that was moved while open has all that was saved`() throws {
    let coordinator = try stores.open()
    try BlobStore.insert(5, into: coordinator)
    rename(stores.url().path, stores.url("Moved.sqlite").path)
    expectRefusal(coordinator)
    try BlobStore.close(coordinator)
    #expect(stores.names == ["Moved.sqlite"])
    #expect(try BlobStore.count(try stores.open("Moved.sqlite")) == 5)
  }

  @Test func `objects of a replaced file are not read from the new one`() throws {
    try stores.make("New.sqlite", notes: 20)
    let coordinator = try stores.open()
    try BlobStore.insert(2, into: coordinator)
    rename(stores.url("New.sqlite").path, stores.url().path)
    // Concurrent readers need connections that are not open yet.
    let counts = [coordinator.newContext(), coordinator.newContext(), coordinator.newContext()].map {
      context in
      context.performAndWait { try? context.count("Note") }
    }
    #expect(counts.allSatisfy { $0 == 2 || $0 == nil })
    #expect(throws: CocoaError.self) {
      let context = coordinator.newContext()
      try context.performAndWait {
        try context.setQueryGenerationFrom(.current)
        _ = try context.count("Note")
      }
    }
  }

  @Test func `a store can be added again after its file was replaced`() throws {
    try stores.make("New.sqlite", notes: 20)
    let coordinator = try stores.open()
    try BlobStore.insert(2, into: coordinator)
    rename(stores.url("New.sqlite").path, stores.url().path)
    expectRefusal(coordinator)
    try BlobStore.close(coordinator)
    try coordinator.addPersistentStore(
      ofType: NSSQLiteStoreType, configurationName: nil, at: stores.url())
    try BlobStore.insert(1, into: coordinator)
    #expect(try BlobStore.count(coordinator) == 21)
  }
}
