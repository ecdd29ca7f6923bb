import CoreData

/// The store of one run: a file, or a schema of a database server.
package struct ImportStore: Sendable {
  package let url: URL
  /// Type for `addPersistentStore`.
  package let type: String
  /// Pragmas of an SQLite store; empty for other types.
  package let pragmas: [String: String]
  /// Whether it is opened with a model that differs in what is mandatory.
  var ignoresVersion = false
  /// Whether it keeps a history, which it does only if it is opened with one.
  var tracksHistory = false

  package init(url: URL, type: String, pragmas: [String: String] = [:]) {
    self.url = url
    self.type = type
    self.pragmas = pragmas
  }
}

/// Where a shootout creates its stores, and the interface below Core Data that its floor uses.
///
/// Used by one thread of a process at a time.
package protocol StorePlace: Sendable {
  /// The floor's interface, as a row of the table names it.
  var floorTitle: String { get }
  /// The database engine with its version.
  var engine: String { get }
  /// When a commit is durable, for both floor and stacks, in the engine's own term.
  var synchronous: String { get }
  /// The same as the end of a sentence.
  var durability: String { get }
  /// Returns the name of a subject's store in a run that has a directory of its own.
  func storeName(of subject: String, in directory: String) -> String
  /// Returns the store with a name.
  func store(named name: String) throws -> ImportStore
  /// Creates a store's tables and opens the floor on them; neither is measured.
  func makeFloor(on store: ImportStore) throws -> any ImportFloor
  /// Reads all stops in the order of their keys, without Core Data, after checking the store's integrity.
  func stops(in store: ImportStore) throws -> [Stop]
  /// Removes a store.
  func remove(_ store: ImportStore) throws
  /// A store with the same contents that may be changed, to be removed afterwards; the store itself if it is not kept.
  func scratch(of store: ImportStore) throws -> ImportStore
}

extension StorePlace {
  package func scratch(of store: ImportStore) throws -> ImportStore { store }
}

/// The same import without Core Data: the lower bound for all stacks on a kind of store.
package protocol ImportFloor {
  /// Imports all stops, with a commit every `saveEvery` lines and at the end.
  ///
  /// - Returns: the number of commits.
  func run(_ stops: [Stop], mode: ImportMode, saveEvery: Int, didCommit: (Int) -> Void) throws -> Int
  /// Ends the connection.
  func close()
}
