import ModelSchema

/// An object as a store hands it out: its identity, and its Row unless only identities were asked for.
struct StoredObject: Sendable {
  let key: ObjectKey
  let row: Row?
  /// The slots that were read, if not all were: the others of the Row are null whatever the store has there.
  var part: RowPart?

  init(key: ObjectKey, row: Row?, part: RowPart? = nil) {
    self.key = key
    self.row = row
    self.part = part
  }
}

/// The slots that a fetch of some properties reads; one for all of its results.
final class RowPart: Sendable {
  let slots: SlotSet
  init(_ slots: SlotSet) { self.slots = slots }
}

/// A row that was not what the save expected to find.
struct VersionConflict: Sendable {
  let id: NSManagedObjectID
  let base: Row
  /// What the store holds now; nil if the row is gone.
  let persisted: Row?
}

/// The save found rows changed by somebody else; nothing was written.
struct StoreConflictError: Error, Sendable {
  let conflicts: [VersionConflict]
}

/// Rows that break a uniqueness constraint; nothing was written.
struct StoreConstraintError: Error, Sendable {
  struct Violation: Sendable {
    /// Names of the constraint's properties.
    let constraint: [String]
    /// Objects of the save with the same values.
    let objects: [NSManagedObjectID]
    /// The stored object with these values, if the save is not at odds with itself only.
    let existing: StoredObject?
  }

  let violations: [Violation]
}

/// What the coordinator needs of a store. SQLite and memory answer alike; neither knows contexts or managed objects.
///
/// All calls may come from any thread, several at once. Reads never wait for a commit.
protocol StoreEngine: AnyObject, Sendable {
  /// Runs a fetch; limit and offset applied, sorted.
  func fetch(_ plan: FetchPlan) throws -> [StoredObject]

  /// Number of rows that `fetch` would return.
  func count(_ plan: FetchPlan) throws -> Int

  /// Computes the columns of a dictionary fetch, one array of values for each dictionary; nil is null.
  ///
  /// There is an implementation on top of the other calls; a store that can do better has its own.
  func table(_ plan: DictionaryPlan) throws -> [[Value]]

  /// Rows for these keys, in their order; nil where there is none.
  func rows(for keys: [ObjectKey]) throws -> [Row?]

  /// Members of a to-many relationship for each owner, in the relationship's order if it has one. All owners belong to the
  /// entity that `slot` is numbered in.
  func related(to owners: [ObjectKey], slot: Int) throws -> [[ObjectKey]]

  /// Reserves keys for new objects, durable against any other writer of the store: as many per entity number as asked for.
  func reserveKeys(_ counts: [Int: Int]) throws -> [Int: [Int64]]

  /// Writes everything or nothing. Inserted objects without permanent ID get theirs, and temporary IDs are linked before
  /// the commit.
  ///
  /// - Throws: `StoreConflictError`, `StoreConstraintError`, or a Cocoa error from the medium.
  func commit(_ changes: ChangeSet) throws

  /// Commits, and answers the rows in which the store itself has computed values: derived attributes, of objects of the
  /// save or of others.
  ///
  /// - Throws: As `commit`.
  func save(_ changes: ChangeSet) throws -> [StoredObject]

  /// The metadata as the store holds it, NSStoreUUID and NSStoreType included.
  var metadata: [String: Any] { get throws }

  /// Writes metadata; the next `metadata` answers it.
  func setMetadata(_ metadata: [String: Any]) throws

  /// Spaces of the store's entities by entity number - 1.
  var spaces: [ObjectIDSpace] { get }

  /// A text that differs whenever an object of these entities was inserted, updated or deleted in between; nil for a store
  /// that does not outlive the process.
  func mark(of entityNumbers: some Collection<Int>) throws -> String?

  /// Ends all work and releases the medium.
  func close()
}

extension StoreEngine {
  func mark(of entityNumbers: some Collection<Int>) throws -> String? { nil }

  func save(_ changes: ChangeSet) throws -> [StoredObject] {
    try commit(changes)
    return []
  }
}
