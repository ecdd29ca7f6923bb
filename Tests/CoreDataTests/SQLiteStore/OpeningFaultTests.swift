#if os(Linux)
import CoreData
import CoreDataCTorture
import Foundation
import Testing

/// Calls of the operating system that fail once while a store is opened. The VFS below SQLite is one for the whole
/// process, so each test has a process of its own.
@Suite struct OpeningFaultTests {
  /// Runs `body` once for each call on files below a directory that it makes through SQLite, and lets that call
  /// report an I/O error.
  ///
  /// - Returns: The number of calls that failed.
  private static func forEachCall(below directory: URL, _ body: () throws -> Void) throws -> Int {
    let page = try #require(torture_page_make())
    try #require(torture_vfs_register() == 0)
    for call in 1... {
      torture_page_clear(page)
      torture_set_prefix(page, directory.path)
      page.pointee.plan.layer = Int32(torture_layer_vfs.rawValue)
      page.pointee.plan.action = Int32(torture_io_error.rawValue)
      page.pointee.plan.at = Int64(call)
      torture_attach(page)
      page.pointee.plan.is_armed = 1
      try body()
      guard page.pointee.plan.hits > 0 else { return call - 1 }
      torture_attach(nil)
    }
    return 0
  }

  @Test func `a store whose read-only opening met an I/O error shows its history or is not opened`() async {
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
}
#endif
