import CoreDataModelSchema

/// What a save is: values, by object, that an upstream can take over without making an object.
///
/// Rows carry the version they will have once saved: 1 for an inserted object, one more than its base for an
/// updated one.
package struct ChangeSet: Sendable {
  package struct Insertion: Sendable {
    /// Temporary, unless a permanent ID was obtained before.
    package let id: NSManagedObjectID
    package let row: Row
  }

  package struct Update: Sendable {
    package let id: NSManagedObjectID
    /// The Row as last read or saved; its version is what the store must still have.
    package let base: Row
    package let row: Row
    /// Slots that changed, to-many ones included. Empty: only the version goes up.
    package let changed: SlotSet
  }

  package struct Deletion: Sendable {
    package let id: NSManagedObjectID
    package let base: Row
  }

  /// An unchanged object whose version must still be what it was.
  package struct Lock: Sendable {
    package let id: NSManagedObjectID
    package let base: Row
  }

  package var inserted: [Insertion] = []
  package var updated: [Update] = []
  package var deleted: [Deletion] = []
  package var locked: [Lock] = []
  /// Who saves, for the store's history.
  package var origin: ChangeOrigin?

  package var isEmpty: Bool { inserted.isEmpty && updated.isEmpty && deleted.isEmpty && locked.isEmpty }
}

/// Who makes a change, as far as the context that makes it knows.
package struct ChangeOrigin: Sendable, Hashable {
  /// `transactionAuthor` of the context.
  package var author: String?
  /// Name of the context.
  package var contextName: String?
}
