import CoreDataModelSchema

/// An object returned by a store: its ID, and its Row unless only IDs were requested.
package struct StoredObject: Sendable {
  package let key: ObjectKey
  package let row: Row?
  /// The slots that were read, if not all; the Row's other slots are null regardless of the stored values.
  package var part: RowPart?

  @inlinable package init(key: ObjectKey, row: Row?, part: RowPart? = nil) {
    self.key = key
    self.row = row
    self.part = part
  }
}

/// The slots that a fetch of some properties reads; shared by all of its results.
package final class RowPart: Sendable {
  package let slots: SlotSet
  package init(_ slots: SlotSet) { self.slots = slots }
}

/// A stored row whose version differs from the one that a save expects.
package struct VersionConflict: Sendable {
  package let id: NSManagedObjectID
  package let base: Row
  /// The row currently stored; nil if it is gone.
  package let persisted: Row?

  package init(id: NSManagedObjectID, base: Row, persisted: Row?) {
    self.id = id
    self.base = base
    self.persisted = persisted
  }
}

/// Other writers changed rows of the save; nothing was written.
package struct StoreConflictError: Error, Sendable {
  package let conflicts: [VersionConflict]

  package init(conflicts: [VersionConflict]) {
    self.conflicts = conflicts
  }
}

/// Rows violate a uniqueness constraint; nothing was written.
package struct StoreConstraintError: Error, Sendable {
  package struct Violation: Sendable {
    /// Names of the constraint's properties.
    package let constraint: [String]
    /// Objects of the save with the same values.
    package let objects: [NSManagedObjectID]
    /// The stored object with these values; nil if the save conflicts only with itself.
    package let existing: StoredObject?

    package init(constraint: [String], objects: [NSManagedObjectID], existing: StoredObject?) {
      self.constraint = constraint
      self.objects = objects
      self.existing = existing
    }
  }

  package let violations: [Violation]

  package init(violations: [Violation]) {
    self.violations = violations
  }
}

/// Read access to a store: to its latest state, or to an older one that is pinned.
///
/// All methods may be called concurrently from any thread. Reads never wait for commits.
package protocol StoreReading: AnyObject, Sendable {
  /// Runs a fetch; the result is sorted, with limit and offset applied.
  func fetch(_ plan: FetchPlan) throws -> [StoredObject]

  /// Iterates the keys of the rows that `fetch` would return, in its order, without collecting them. The store
  /// is in the middle of a read: `body` must not query it.
  func forEachKey(of plan: FetchPlan, _ body: (ObjectKey) -> Void) throws

  /// Returns the number of rows that `fetch` would return.
  func count(_ plan: FetchPlan) throws -> Int

  /// Computes the columns of a dictionary fetch, one array of values per dictionary; nil is null.
  ///
  /// Has a default implementation on top of the other methods, which a store may replace by a faster one.
  func table(_ plan: DictionaryPlan) throws -> [[Value]]

  /// Iterates the rows that `table` would return, one at a time. The store is in the middle of a read: `body`
  /// must not query it.
  func forEachRow(of plan: DictionaryPlan, _ body: ([Value]) -> Void) throws

  /// Returns the rows for these keys, in order; nil for missing rows.
  func rows(for keys: [ObjectKey]) throws -> [Row?]

  /// Returns the row for one key; nil if it is missing.
  func row(for key: ObjectKey) throws -> Row?

  /// Returns the members of a to-many relationship for each owner, in the relationship's order if it is
  /// ordered. All owners belong to the entity whose slots include `slot`.
  func related(to owners: [ObjectKey], slot: Int) throws -> [[ObjectKey]]

  /// Returns the members of one owner's to-many, in order if it is ordered, with their values if these are
  /// cheap to read along.
  func members(of owner: ObjectKey, slot: Int) throws -> [StoredObject]

  /// ID spaces of the store's entities, by entity number - 1.
  var spaces: [ObjectIDSpace] { get }

  /// How the store packs the rows that it is to save, by entity number - 1; nil where it prefers Rows of Values, and
  /// empty if it always does.
  var rowFormats: [RowFormat?] { get }

  /// Whether predicates are evaluated in memory, which allows any expression; false if they are compiled to
  /// SQL.
  var evaluatesPredicates: Bool { get }
}

/// The interface between coordinator and store, the same for SQLite and memory. Stores know neither contexts
/// nor managed objects.
package protocol StoreEngine: StoreReading {
  /// Reserves the requested number of keys per entity number for new objects, durably against any other
  /// writer of the store.
  func reserveKeys(_ counts: [Int: Int]) throws -> [Int: [Int64]]

  /// Writes everything or nothing. Inserted objects without a permanent ID get one, and temporary IDs are
  /// linked before the commit.
  ///
  /// - Parameter others: Saves into the other stores of a joint save. Called once, after all writes that may
  ///   be rejected and before the commit; its errors roll back this save as well.
  /// - Returns: The outcome of the save.
  /// - Throws: `StoreConflictError`, `StoreConstraintError`, or an error of the medium or of `others`.
  func save(_ changes: ChangeSet, along others: () throws -> Void) throws -> SaveOutcome

  /// Tells whether other processes or coordinators have committed to the store, or may have, since the last
  /// answer. Never waits for a save.
  ///
  /// Has a default implementation for a store that has no other writers.
  func checkForeignCommits() -> Bool

  /// The metadata in the store, including NSStoreUUID and NSStoreType.
  var metadata: [String: Any] { get throws }

  /// Writes metadata, which `metadata` returns from then on.
  func setMetadata(_ metadata: [String: Any]) throws

  /// Replaces the metadata in the store by what `change` makes of it, in one transaction; nil for no change.
  func changeMetadata(_ change: ([String: Any]) -> [String: Any]?) throws

  /// Returns a text that changes whenever an object of these entities is inserted, updated or deleted; nil
  /// for a store that does not outlive the process.
  func mark(of entityNumbers: some Collection<Int>) throws -> String?

  /// Whether fetches end once their Task is cancelled or their context is reset, which spares a server
  /// needless work. Core Data's own stores complete such fetches, and so do their counterparts here.
  var endsCancelledFetches: Bool { get }

  /// Whether each statement is a round trip to another process, so that few large ones are better than many small ones.
  var isRemote: Bool { get }

  /// Seconds for which contexts that set no `stalenessInterval` show a row that was read before; nil for no limit.
  var rowAge: Double? { get }

  /// Whether the store follows the commits of other programs, posted or not, to know which cached rows are current.
  var followsChanges: Bool { get }

  /// Whether saves delete `ChangeSet.rows`.
  var deletesRows: Bool { get }

  /// Ends all work and closes the medium.
  func close()
}

extension StoreEngine {
  /// For stores that only this process writes.
  package func changeMetadata(_ change: ([String: Any]) -> [String: Any]?) throws {
    if let changed = change(try metadata) { try setMetadata(changed) }
  }
}

/// A store that can keep reading an older state while newer ones are written.
package protocol GenerationKeeping: StoreEngine {
  /// Opens the state as of the first read; nil if the store cannot keep it.
  func openGeneration() throws -> (any StoreReading)?
}

extension StoreEngine {
  package var endsCancelledFetches: Bool { false }

  package var isRemote: Bool { false }

  package var rowAge: Double? { nil }
  package var followsChanges: Bool { false }

  package func checkForeignCommits() -> Bool { false }

  package var deletesRows: Bool { false }

  package func mark(of entityNumbers: some Collection<Int>) throws -> String? { nil }

  /// Saves into this store only.
  package func save(_ changes: ChangeSet) throws -> SaveOutcome { try save(changes) {} }
}

extension StoreReading {
  package var evaluatesPredicates: Bool { false }

  package var rowFormats: [RowFormat?] { [] }

  package func row(for key: ObjectKey) throws -> Row? { try rows(for: [key])[0] }

  package func forEachRow(of plan: DictionaryPlan, _ body: ([Value]) -> Void) throws {
    for row in try table(plan) { body(row) }
  }

  package func forEachKey(of plan: FetchPlan, _ body: (ObjectKey) -> Void) throws {
    for stored in try fetch(plan) { body(stored.key) }
  }

  package func members(of owner: ObjectKey, slot: Int) throws -> [StoredObject] {
    try related(to: [owner], slot: slot)[0].map { StoredObject(key: $0, row: nil) }
  }
}
