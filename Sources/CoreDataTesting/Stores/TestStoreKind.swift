import CoreData
import Foundation

/// Where the store of a test is.
///
/// ```swift
/// @Test(.coreData("Library", bundle: .module, in: .sqliteFile))
/// func `A second container opens the store`() throws {
///   let other = try TestStore.current.reopen()
///   #expect(other.persistentStoreCoordinator.persistentStores.count == 1)
/// }
/// ```
public struct TestStoreKind: Sendable, CustomStringConvertible {
  /// The kind's name, in the names of parameterized tests and in messages.
  public let description: String
  /// Whether the store has files in a directory of the test.
  let hasFiles: Bool
  let makeDescription: @Sendable (URL) throws -> NSPersistentStoreDescription
  let discard: @Sendable (NSPersistentStoreDescription) throws -> Void

  /// Makes a kind of your own, such as a store with an option.
  ///
  /// ```swift
  /// extension TestStoreKind {
  ///   static let tracked = TestStoreKind("tracked") { directory in
  ///     let description = NSPersistentStoreDescription(url: directory.appendingPathComponent("Store.sqlite"))
  ///     description.setOption(true as NSNumber, forKey: NSPersistentHistoryTrackingKey)
  ///     return description
  ///   }
  /// }
  /// ```
  ///
  /// - Parameters:
  ///   - name: The kind's name.
  ///   - description: Describes a store in a directory that is empty at first and removed after the test. Called
  ///     once for each test, and may be called by many tests at once.
  ///   - discard: Removes what is outside of the directory, such as a schema of a database, after the store is
  ///     closed.
  public init(
    _ name: String, _ description: @escaping @Sendable (URL) throws -> NSPersistentStoreDescription,
    discard: @escaping @Sendable (NSPersistentStoreDescription) throws -> Void = { _ in }
  ) {
    self.init(name, hasFiles: true, description, discard)
  }

  private init(
    _ name: String, hasFiles: Bool,
    _ makeDescription: @escaping @Sendable (URL) throws -> NSPersistentStoreDescription,
    _ discard: @escaping @Sendable (NSPersistentStoreDescription) throws -> Void = { _ in }
  ) {
    description = name
    self.hasFiles = hasFiles
    self.makeDescription = makeDescription
    self.discard = discard
  }

  private static let _nowhere = URL(fileURLWithPath: "/dev/null")

  /// A SQLite database in memory: SQL, constraints, batch requests and history work, and nothing is written.
  /// Each container has a database of its own.
  public static let sqliteInMemory = TestStoreKind("SQLite in memory", hasFiles: false) { _ in
    let description = NSPersistentStoreDescription(url: _nowhere)
    description.type = NSSQLiteStoreType
    return description
  }

  /// A store of type `NSInMemoryStoreType`, the fastest to make. Batch requests and history do not work in it.
  public static let inMemory = TestStoreKind("in memory", hasFiles: false) { _ in
    let description = NSPersistentStoreDescription()
    description.type = NSInMemoryStoreType
    return description
  }

  /// A SQLite file in a directory of the test, which several containers can open.
  public static let sqliteFile = TestStoreKind("SQLite file", hasFiles: true) { directory in
    let description = NSPersistentStoreDescription(url: directory.appendingPathComponent("Store.sqlite"))
    description.type = NSSQLiteStoreType
    return description
  }
}
