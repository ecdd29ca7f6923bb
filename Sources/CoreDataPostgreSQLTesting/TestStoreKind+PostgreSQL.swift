import CoreData
import CoreDataPostgreSQL
import CoreDataTesting
import Foundation

extension TestStoreKind {
  /// A schema of a PostgreSQL database, a new one for each test, dropped after it.
  ///
  /// ```swift
  /// @Suite(
  ///   .coreData("Shop", bundle: .module, in: .postgreSQL(URL(string: "postgresql://test@localhost/test")!)),
  ///   .enabled(if: ProcessInfo.processInfo.environment["TEST_DATABASE"] != nil))
  /// struct OrderTests {
  ///   @Test func `A new store has no orders`() throws {
  ///     #expect(try TestStore.current.rowCounts()["Order"] == 0)
  ///   }
  /// }
  /// ```
  ///
  /// The database may serve several test runs at once, and other programs. A schema's name has the host, the process
  /// and its start time; the next run on the same host drops the schemas of processes that have ended otherwise, such
  /// as a test that crashed. The role needs the right to create schemas (`GRANT CREATE ON DATABASE`).
  ///
  /// - Parameter url: Server and database, as for a store; a schema in it is replaced.
  public static func postgreSQL(_ url: URL) -> TestStoreKind {
    TestStoreKind("PostgreSQL") { _ in
      try TestSchemas.sweep(url)
      return NSPersistentStoreDescription(postgreSQL: TestSchemas.url(url, schema: TestSchemas.newName()))
    } discard: { description in
      guard let url = description.url else { return }
      let coordinator = NSPersistentStoreCoordinator(managedObjectModel: NSManagedObjectModel())
      try coordinator.destroyPersistentStore(at: url, type: .postgreSQL)
    }
  }
}
