import CoreDataModelSchema

/// A save as values by object, which a parent or store can adopt without creating an object.
///
/// Rows carry their version after the save: 1 for an inserted object, the base's version plus one for an
/// updated one.
package struct ChangeSet: Sendable {
  package struct Insertion: Sendable {
    /// Temporary unless a permanent ID was obtained before.
    package let id: NSManagedObjectID
    package let row: Row
  }

  package struct Update: Sendable {
    package let id: NSManagedObjectID
    /// The row as last read or saved; the store must still have its version.
    package let base: Row
    package let row: Row
    /// Slots that changed, including to-manys. Empty: only the version is incremented.
    package let changed: SlotSet
  }

  package struct Deletion: Sendable {
    package let id: NSManagedObjectID
    package let base: Row

    package init(id: NSManagedObjectID, base: Row) { (self.id, self.base) = (id, base) }
  }

  /// An unchanged object whose version must not have changed.
  package struct Lock: Sendable {
    package let id: NSManagedObjectID
    package let base: Row
  }

  /// Rows to delete in whatever version they are, before all other changes. Only for stores that `deletesRows` says do so.
  package var rows: [KeyRun] = []
  package var inserted: [Insertion] = []
  package var updated: [Update] = []
  package var deleted: [Deletion] = []
  package var locked: [Lock] = []
  /// The author of the save, for the store's history.
  package var origin: ChangeOrigin?
  /// What the program does in the transaction of the save.
  package var work: (any StoreWork)?
  /// Whether other stores are written in the same save.
  package var isJoint = false

  /// Whether there is nothing to write.
  package var hasNoChanges: Bool {
    inserted.isEmpty && updated.isEmpty && deleted.isEmpty && locked.isEmpty && rows.isEmpty
  }

  /// Whether the store has nothing to do.
  package var isEmpty: Bool { hasNoChanges && work == nil }
}

/// What a program does in the transaction of a save, in the language of one kind of store. Used on the saving thread.
package protocol StoreWork: AnyObject, Sendable {}

/// The author of a change, as known to the context that makes it.
package struct ChangeOrigin: Sendable, Hashable {
  /// The context's `transactionAuthor`.
  package var author: String?
  /// The context's name.
  package var contextName: String?
}
