import CoreDataModelSchema

/// What a save is: values, by object, that an upstream can take over without making an object.
///
/// Rows carry the version they will have once saved: 1 for an inserted object, one more than its base for an
/// updated one.
struct ChangeSet: Sendable {
  struct Insertion: Sendable {
    /// Temporary, unless a permanent ID was obtained before.
    let id: NSManagedObjectID
    let row: Row
  }

  struct Update: Sendable {
    let id: NSManagedObjectID
    /// The Row as last read or saved; its version is what the store must still have.
    let base: Row
    let row: Row
    /// Slots that changed, to-many ones included. Empty: only the version goes up.
    let changed: SlotSet
  }

  struct Deletion: Sendable {
    let id: NSManagedObjectID
    let base: Row
  }

  /// An unchanged object whose version must still be what it was.
  struct Lock: Sendable {
    let id: NSManagedObjectID
    let base: Row
  }

  var inserted: [Insertion] = []
  var updated: [Update] = []
  var deleted: [Deletion] = []
  var locked: [Lock] = []
  /// Who saves, for the store's history.
  var origin: ChangeOrigin?

  var isEmpty: Bool { inserted.isEmpty && updated.isEmpty && deleted.isEmpty && locked.isEmpty }
}
