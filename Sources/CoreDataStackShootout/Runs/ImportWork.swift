import CoreData

/// A list that a screen shows of what is imported.
struct ImportListing: Sendable {
  let entity: String
  /// The attribute that the list is sorted by and shows.
  let label: String
  /// The attribute that a page of the list is ordered by.
  let order: String
}

/// The store of a run, read without Core Data.
struct CheckedStore: Sendable {
  /// Rows of the entity that is imported.
  let rows: Int
  /// What the store holds; nil if its rows were compared with the input.
  let digest: StoreDigest?
}

/// The floor of a run on one store.
protocol FloorWork {
  /// Imports everything, with a commit every `saveEvery` lines and at the end.
  ///
  /// - Returns: the number of commits.
  func run(mode: ImportMode, saveEvery: Int, didCommit: (Int) -> Void) throws -> Int
  func close()
}

/// What a run imports: its model, its lines, how a line is placed in a context, and without Core Data.
protocol ImportWork: Sendable {
  /// The number of lines.
  var count: Int { get }
  var listing: ImportListing { get }

  /// A new model; each coordinator may have its own.
  func makeModel() throws -> NSManagedObjectModel

  /// Imports lines in a context, on its queue, without saving it.
  func place(_ lines: Range<Int>, mode: ImportMode, in context: NSManagedObjectContext) throws

  /// Creates a store and opens the floor on it; not measured.
  func makeFloor(on store: ImportStore, in place: any StorePlace) throws -> any FloorWork

  /// Checks a store from outside.
  ///
  /// - Throws: `StoreCheck.Failure` if it is damaged, or is not what the input makes.
  func check(_ store: ImportStore, in place: any StorePlace, mode: ImportMode) throws -> CheckedStore

  /// A store file of Core Data's with what the floor has imported, in which screens find it.
  func storeForScreens(_ floor: ImportStore, in place: any StorePlace) throws -> ImportStore
}

extension ImportWork {
  func storeForScreens(_ floor: ImportStore, in place: any StorePlace) throws -> ImportStore { floor }
}
