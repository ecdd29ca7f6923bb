import CoreData
import CoreDataSQLiteBinding
import Foundation
import Testing

/// Write-ahead logs that are deleted, replaced or cut while their store is open. SQLite goes on writing to the open file, and a
/// crash would lose what it has acknowledged.
@Suite struct TakenAwayLogTests {
  private let stores: BlobStore

  init() throws { stores = try BlobStore() }

  private var log: String { stores.url().path + "-wal" }

  private func expectRefusal(_ coordinator: NSPersistentStoreCoordinator, _ fate: String) {
    let error = #expect(throws: CocoaError.self) { try BlobStore.insert(1, into: coordinator) }
    #expect(error?.userInfo[NSSQLiteErrorDomain] as? Int == 1294)
    #expect(error?.localizedDescription.contains("nothing was saved: the log \(log) \(fate)") == true)
  }

  /// Counts the notes that the database file has without its log, as after a crash.
  private func countAfterCrash() throws -> Int {
    let copy = stores.url("Crashed.sqlite")
    try? FileManager.default.removeItem(at: copy)
    try FileManager.default.copyItem(at: stores.url(), to: copy)
    return try BlobStore.count(try stores.open("Crashed.sqlite"))
  }

  @Test func `a save after the log was deleted is refused, and loses nothing saved before`() throws {
    let coordinator = try stores.open()
    try BlobStore.insert(5, into: coordinator)
    unlink(log)
    expectRefusal(coordinator, "was deleted")
    #expect(try countAfterCrash() == 5)
    // Reading goes on.
    #expect(try BlobStore.count(coordinator) == 5)
    try BlobStore.close(coordinator)
    let again = try stores.open()
    #expect(try BlobStore.count(again) == 5)
    try BlobStore.insert(1, into: again)
    #expect(try BlobStore.count(again) == 6)
  }

  @Test func `a save after the log was replaced is refused`() throws {
    let coordinator = try stores.open()
    try BlobStore.insert(5, into: coordinator)
    unlink(log)
    try Data("another file".utf8).write(to: URL(fileURLWithPath: log))
    expectRefusal(coordinator, "was replaced by another file")
    #expect(try countAfterCrash() == 5)
  }

  @Test func `a save after the log was cut is refused`() throws {
    let coordinator = try stores.open()
    try BlobStore.insert(5, into: coordinator)
    truncate(log, 0)
    expectRefusal(coordinator, "was cut")
  }

  @Test func `a log that another connection's checkpoint has emptied is whole`() throws {
    let coordinator = try stores.open()
    try BlobStore.insert(5, into: coordinator)
    let other = try Connection(path: stores.url().path, mode: .readWrite)
    // Only a connection that has read the file knows of the log.
    _ = try other.firstValue("SELECT 1 FROM sqlite_master")
    try other.checkpoint(.truncate)
    let size = try FileManager.default.attributesOfItem(atPath: log)[.size] as? Int
    #expect(size == 0)
    try BlobStore.insert(1, into: coordinator)
    #expect(try BlobStore.count(coordinator) == 6)
  }

  @Test func `a store without a log has none to lose`() throws {
    let coordinator = try stores.open(options: [NSSQLitePragmasOption: ["journal_mode": "DELETE"]])
    try BlobStore.insert(2, into: coordinator)
    try Data("not a log".utf8).write(to: URL(fileURLWithPath: log))
    unlink(log)
    try BlobStore.insert(1, into: coordinator)
    #expect(try BlobStore.count(coordinator) == 3)
  }
}
