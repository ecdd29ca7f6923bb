import CoreDataModelSchema

/// An object as a store hands it out: its identity, and its Row unless only identities were asked for.
package struct StoredObject: Sendable {
  package let key: ObjectKey
  package let row: Row?
  /// The slots that were read, if not all were: the others of the Row are null whatever the store has there.
  package var part: RowPart?

  package init(key: ObjectKey, row: Row?, part: RowPart? = nil) {
    self.key = key
    self.row = row
    self.part = part
  }
}

/// The slots that a fetch of some properties reads; one for all of its results.
package final class RowPart: Sendable {
  package let slots: SlotSet
  package init(_ slots: SlotSet) { self.slots = slots }
}

/// A row that was not what the save expected to find.
package struct VersionConflict: Sendable {
  package let id: NSManagedObjectID
  package let base: Row
  /// What the store holds now; nil if the row is gone.
  package let persisted: Row?

  package init(id: NSManagedObjectID, base: Row, persisted: Row?) {
    self.id = id
    self.base = base
    self.persisted = persisted
  }
}

/// The save found rows changed by others; nothing was written.
package struct StoreConflictError: Error, Sendable {
  package let conflicts: [VersionConflict]

  package init(conflicts: [VersionConflict]) {
    self.conflicts = conflicts
  }
}

/// Rows that break a uniqueness constraint; nothing was written.
package struct StoreConstraintError: Error, Sendable {
  package struct Violation: Sendable {
    /// Names of the constraint's properties.
    package let constraint: [String]
    /// Objects of the save with the same values.
    package let objects: [NSManagedObjectID]
    /// The stored object with these values, if the save is not at odds with itself only.
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

/// What is read of a store: its latest state, or an older one that is pinned.
///
/// All calls may come from any thread, several at once. Reads never wait for a commit.
package protocol StoreReading: AnyObject, Sendable {
  /// Runs a fetch; limit and offset applied, sorted.
  func fetch(_ plan: FetchPlan) throws -> [StoredObject]

  /// Number of rows that `fetch` would return.
  func count(_ plan: FetchPlan) throws -> Int

  /// Computes the columns of a dictionary fetch, one array of values for each dictionary; nil is null.
  ///
  /// There is an implementation on top of the other calls; a store that can do better has its own.
  func table(_ plan: DictionaryPlan) throws -> [[Value]]

  /// Goes through the rows that `table` would give, handing out one after the other. The store is in the
  /// middle of a read: `body` may not ask it for anything.
  func forEachRow(of plan: DictionaryPlan, _ body: ([Value]) -> Void) throws

  /// Rows for these keys, in their order; nil where there is none.
  func rows(for keys: [ObjectKey]) throws -> [Row?]

  /// The row for one key; nil if there is none.
  func row(for key: ObjectKey) throws -> Row?

  /// Members of a to-many relationship for each owner, in the relationship's order if it has one. All owners
  /// belong to the entity that `slot` is numbered in.
  func related(to owners: [ObjectKey], slot: Int) throws -> [[ObjectKey]]

  /// Members of one owner's to-many, in its order if it has one; with their values where these come along
  /// cheaply.
  func members(of owner: ObjectKey, slot: Int) throws -> [StoredObject]

  /// Spaces of the store's entities by entity number - 1.
  var spaces: [ObjectIDSpace] { get }

  /// Whether predicates are evaluated on values, so that anything may stand in them; false where they become
  /// SQL.
  var evaluatesPredicates: Bool { get }
}

/// What the coordinator needs of a store. SQLite and memory answer alike; neither knows contexts or managed
/// objects.
package protocol StoreEngine: StoreReading {
  /// Reserves keys for new objects, durable against any other writer of the store: as many per entity number
  /// as asked for.
  func reserveKeys(_ counts: [Int: Int]) throws -> [Int: [Int64]]

  /// Writes everything or nothing. Inserted objects without permanent ID get theirs, and temporary IDs are
  /// linked before the commit.
  ///
  /// - Parameter others: Saves into other stores that belong with this one; called once, when all is written
  ///   here that may be refused and nothing is committed yet. What it throws undoes this save as well.
  /// - Returns: What the save has come to.
  /// - Throws: `StoreConflictError`, `StoreConstraintError`, or an error from the medium or of `others`.
  func save(_ changes: ChangeSet, along others: () throws -> Void) throws -> SaveOutcome

  /// The metadata as the store holds it, NSStoreUUID and NSStoreType included.
  var metadata: [String: Any] { get throws }

  /// Writes metadata; the next `metadata` answers it.
  func setMetadata(_ metadata: [String: Any]) throws

  /// A text that differs whenever an object of these entities was inserted, updated or deleted in between;
  /// nil for a store that does not outlive the process.
  func mark(of entityNumbers: some Collection<Int>) throws -> String?

  /// Whether fetches end once the Task is cancelled that waits for them, or their context reset: a server is spared work that
  /// nothing needs. Core Data's own stores go on, and so do those here that stand for them.
  var endsCancelledFetches: Bool { get }

  /// Whether each statement is a round trip to another process, so that few large ones are better than many small ones.
  var isRemote: Bool { get }

  /// Ends all work and releases the medium.
  func close()
}

/// A store that can go on showing a state that was written over since.
package protocol GenerationKeeping: StoreEngine {
  /// The state at the first read; nil if the store cannot keep it.
  func openGeneration() throws -> (any StoreReading)?
}

extension StoreEngine {
  package var endsCancelledFetches: Bool { false }

  package var isRemote: Bool { false }

  package func mark(of entityNumbers: some Collection<Int>) throws -> String? { nil }

  /// Saves into this store alone.
  package func save(_ changes: ChangeSet) throws -> SaveOutcome { try save(changes) {} }
}

extension StoreReading {
  package var evaluatesPredicates: Bool { false }

  package func row(for key: ObjectKey) throws -> Row? { try rows(for: [key])[0] }

  package func forEachRow(of plan: DictionaryPlan, _ body: ([Value]) -> Void) throws {
    for row in try table(plan) { body(row) }
  }

  package func members(of owner: ObjectKey, slot: Int) throws -> [StoredObject] {
    try related(to: [owner], slot: slot)[0].map { StoredObject(key: $0, row: nil) }
  }
}
