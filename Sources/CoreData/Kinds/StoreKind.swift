import Foundation

/// One kind of store: everything that the coordinator and the migrations ask of stores by their type.
///
/// SQLite, memory and the registered classes are kinds; a further database is one more. Methods may be called from any
/// thread. All of them throw Cocoa errors.
package protocol StoreKind: Sendable {
  /// Type that stores of this kind are added with.
  var type: String { get }

  /// Class of the stores.
  var storeClass: NSPersistentStore.Type { get }

  /// Whether stores are at a URL, and outlive the process.
  var isPersistent: Bool { get }

  /// Opens the store at a URL, creating it if it is not there and migrating it if the options ask for that.
  func open(_ request: StoreRequest) throws -> NSPersistentStore

  /// Metadata of a store that need not be open.
  func metadata(at url: URL, options: [AnyHashable: Any]?) throws -> [String: Any]

  /// Writes metadata into a store that need not be open; format keys that are left out stay.
  func setMetadata(_ metadata: [String: Any]?, at url: URL, options: [AnyHashable: Any]?) throws

  /// Destroys the store at a URL.
  ///
  /// - Parameter closing: Closes the store if it is open; called once it is sure that a store can be at the URL.
  func destroy(at url: URL, options: [AnyHashable: Any]?, closing: () throws -> Void) throws

  /// Puts a copy of one store in another's place.
  ///
  /// - Parameter closing: Closes the destination if it is open; called once the source is known to be a store.
  func replace(
    at destination: URL, options: [AnyHashable: Any]?, withStoreAt source: URL,
    sourceOptions: [AnyHashable: Any]?, closing: () throws -> Void) throws

  /// Connects an open store with the store at another URL.
  ///
  /// - Returns: False, with nothing changed, where no store of the same model version is.
  func reopen(_ store: NSPersistentStore, at url: URL, in coordinator: NSPersistentStoreCoordinator) -> Bool

  /// Whether nothing is at a URL that a new store would overwrite.
  func isVacant(_ url: URL, options: [AnyHashable: Any]?) throws -> Bool

  /// Prepares a vacant place for a copy of another store, with the same access rights as far as that applies.
  func prepare(_ url: URL, like source: URL?)

  /// Removes an unfinished store from a place that was vacant before.
  func discard(at url: URL) throws

  /// Calls `changed` after each commit to the store, by any process, until the result is released.
  ///
  /// - Returns: Nil if stores of this kind do not tell.
  func follow(_ store: NSPersistentStore, _ changed: @escaping @Sendable () -> Void) throws -> AnyObject?

  /// Whether migrations can read and write stores of this kind.
  var canMigrate: Bool { get }

  /// Migrates a store into a new one by the store's own means.
  ///
  /// - Returns: False if the kind has no such means, with nothing done.
  func migrate(
    _ job: MigrationJob, inferringFrom source: NSManagedObjectModel, to destination: NSManagedObjectModel
  ) throws -> Bool
}

/// What a store is opened with.
package struct StoreRequest {
  package let coordinator: NSPersistentStoreCoordinator
  package let configuration: String?
  package let url: URL?
  package let options: [AnyHashable: Any]?
  /// Names of the entities the store takes; nil for all.
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

  /// The error of a call that stores of this kind do not answer.
  package func unable(_ what: String) -> any Error {
    CocoaError.coreData(
      NSPersistentStoreInvalidTypeError,
      "Stores of type '\(type)' \(what); '\(StoreKinds.standard.type)' has.")
  }
}
