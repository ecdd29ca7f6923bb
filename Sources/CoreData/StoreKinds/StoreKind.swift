import Foundation

/// A kind of store: the type-specific operations that the coordinator and migrations need.
///
/// SQLite, memory and the registered classes are kinds; another database adds one. Methods may be called from
/// any thread. All of them throw Cocoa errors.
package protocol StoreKind: Sendable {
  /// The store type.
  var type: String { get }

  /// Class of the stores.
  var storeClass: NSPersistentStore.Type { get }

  /// Whether stores have a URL and outlive the process.
  var isPersistent: Bool { get }

  /// Opens the store at a URL; creates it if it does not exist, and migrates it if the options request that.
  func open(_ request: StoreRequest) throws -> NSPersistentStore

  /// Reads the metadata of a store that need not be open.
  func metadata(at url: URL, options: [AnyHashable: Any]?) throws -> [String: Any]

  /// Writes metadata into a store that need not be open; keeps format keys that are not given.
  func setMetadata(_ metadata: [String: Any]?, at url: URL, options: [AnyHashable: Any]?) throws

  /// Destroys the store at a URL.
  ///
  /// - Parameter closing: Closes the store if it is open. Called once it is certain that there can be a store
  ///   at the URL.
  func destroy(at url: URL, options: [AnyHashable: Any]?, closing: () throws -> Void) throws

  /// Replaces a store by a copy of another.
  ///
  /// - Parameter closing: Closes the destination if it is open. Called once the source is known to be a
  ///   store.
  func replace(
    at destination: URL, options: [AnyHashable: Any]?, withStoreAt source: URL,
    sourceOptions: [AnyHashable: Any]?, closing: () throws -> Void) throws

  /// Connects an open store to the store at another URL.
  ///
  /// - Returns: False, with nothing changed, without a store of the same model version there.
  func reopen(_ store: NSPersistentStore, at url: URL, in coordinator: NSPersistentStoreCoordinator) -> Bool

  /// Whether there is nothing at a URL that a new store would overwrite.
  func isVacant(_ url: URL, options: [AnyHashable: Any]?) throws -> Bool

  /// Prepares a vacant location for a copy of another store, with the same access rights where applicable.
  func prepare(_ url: URL, like source: URL?)

  /// Begins to place a copy of the store named `identifier` at a URL in one step.
  ///
  /// - Returns: Nil if stores of this kind are created where they remain.
  func placement(
    of identifier: String, at url: URL, isOpen: Bool, like source: URL?
  ) throws -> StorePlacement?

  /// Removes an incomplete store from a location that was vacant before.
  func discard(at url: URL) throws

  /// Calls `changed` after each commit to the store, by any process, until the result is released.
  ///
  /// - Returns: Nil if stores of this kind do not report commits.
  func follow(_ store: NSPersistentStore, _ changed: @escaping @Sendable () -> Void) throws -> AnyObject?

  /// Whether migrations can read and write stores of this kind.
  var canMigrate: Bool { get }

  /// Migrates a store into a new one with the kind's own means.
  ///
  /// - Returns: False, with nothing done, if the kind has none.
  func migrate(
    _ job: MigrationJob, inferringFrom source: NSManagedObjectModel, to destination: NSManagedObjectModel
  ) throws -> Bool
}

/// The parameters for opening a store.
package struct StoreRequest {
  package let coordinator: NSPersistentStoreCoordinator
  package let configuration: String?
  package let url: URL?
  package let options: [AnyHashable: Any]?
  /// Names of the entities that the store holds; nil for all.
  package let entities: Set<String>?
  package let model: FrozenModel
}

extension StoreKind {
  package var storeClass: NSPersistentStore.Type { NSPersistentStore.self }
  package var isPersistent: Bool { true }
  package var canMigrate: Bool { false }

  package func setMetadata(_ metadata: [String: Any]?, at url: URL, options: [AnyHashable: Any]?) throws {
    throw unable("have no file to write metadata to")
  }

  package func replace(
    at destination: URL, options: [AnyHashable: Any]?, withStoreAt source: URL,
    sourceOptions: [AnyHashable: Any]?, closing: () throws -> Void
  ) throws {
    throw unable("have no file to be replaced")
  }

  package func reopen(_ store: NSPersistentStore, at url: URL, in coordinator: NSPersistentStoreCoordinator)
    -> Bool
  {
    store.url = url
    return true
  }

  package func isVacant(_ url: URL, options: [AnyHashable: Any]?) throws -> Bool {
    let size = try? FileManager.default.attributesOfItem(atPath: url.path)[.size] as? NSNumber
    return (size?.int64Value ?? 0) == 0
  }

  package func prepare(_ url: URL, like source: URL?) {}

  package func placement(
    of identifier: String, at url: URL, isOpen: Bool, like source: URL?
  ) throws -> StorePlacement? { nil }

  package func discard(at url: URL) throws {
    guard case .nothing = try StoreLocation(url).occupant() else {
      return try FileManager.default.removeItem(at: url)
    }
  }

  package func follow(_ store: NSPersistentStore, _ changed: @escaping @Sendable () -> Void) throws
    -> AnyObject?
  {
    nil
  }

  package func migrate(
    _ job: MigrationJob, inferringFrom source: NSManagedObjectModel, to destination: NSManagedObjectModel
  ) throws -> Bool { false }

  /// Returns the error for an operation that this kind does not support.
  package func unable(_ what: String) -> any Error {
    CocoaError.coreData(
      NSPersistentStoreInvalidTypeError,
      "Stores of type '\(type)' \(what); '\(StoreKinds.standard.type)' has.")
  }
}
