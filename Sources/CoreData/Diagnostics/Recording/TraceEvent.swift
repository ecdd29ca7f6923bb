import CoreDataModelSchema

/// What a context has done, as a recording keeps it until it is written: plain values.
struct TraceEvent: Sendable {
  /// The identity of an object: its entity by number, and its key or, of an unsaved one, its serial number.
  struct Identity: Sendable, Hashable {
    let entity: Int32
    let isTemporary: Bool
    let reference: Int64
  }

  /// The unsaved state of an object at the end of an event, or in a save.
  struct Change: Sendable {
    enum Kind: String, Sendable {
      case insert, update, delete
      /// Nothing is unsaved any more, such as after an undo.
      case revert

      init(_ kind: ChangeLayer.Kind) {
        self =
          switch kind {
          case .inserted: .insert
          case .updated: .update
          case .deleted, .insertedThenDeleted: .delete
          }
      }
    }

    let kind: Kind
    let id: Identity
    let slots: SlotSet
    /// The new values; nil unless values are recorded.
    let row: Row?
  }

  final class Save: Sendable {
    /// What has changed since the last event, such as in hooks.
    let changes: [Change]
    /// The context's own objects that it saves.
    let objects: Int
    let isToStore: Bool
    /// The unsaved objects that have been stored, by their former and their new identity.
    let named: [(Identity, Identity)]
    /// The code of the error with which it has failed.
    let error: Int?

    init(
      _ changes: [Change], objects: Int, isToStore: Bool, named: [(Identity, Identity)], error: Int?
    ) {
      (self.changes, self.objects, self.isToStore) = (changes, objects, isToStore)
      (self.named, self.error) = (named, error)
    }
  }

  enum Kind: Sendable {
    case context(role: String, parent: Int)
    case fetch(shape: Int, found: Int, ids: [Identity], predicate: String?)
    case count(shape: Int, found: Int, predicate: String?)
    /// A fault that has read the store, with the objects read along.
    case fault(Identity, rows: Int)
    case members(Identity, slot: Int, found: Int)
    case changes([Change])
    case save(Save)
    case merge(objects: Int)
    /// A request of the given class that is no fetch, such as a batch.
    case execute(String)
    case reset
    case rollback
  }

  let begin: UInt64
  let nanoseconds: UInt64
  let context: Int
  let kind: Kind
}
