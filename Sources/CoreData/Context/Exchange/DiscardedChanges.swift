import CoreDataModelSchema

/// Unsaved changes that a context has discarded and that its descendants may have read.
///
/// Exists until every descendant has reread the objects. Until then a descendant may save changes that are
/// based on the discarded ones.
final class DiscardedChanges: Sendable {
  let entries: [ChangeLayer.Entry]
  private let _insertions: IdentitySet

  init(_ entries: [ChangeLayer.Entry]) {
    self.entries = entries
    _insertions = IdentitySet(
      entries.lazy.filter { $0.kind == .inserted || $0.kind == .insertedThenDeleted }.map(\.id))
  }

  /// Whether the object was never saved.
  func hasInsertion(_ id: NSManagedObjectID) -> Bool { _insertions.contains(id) }
}

/// The discarded changes of a context that a descendant may not have reread yet.
struct RecentDiscards {
  private struct Reference {
    weak var changes: DiscardedChanges?
  }

  private var _references: [Reference] = []
  /// The number of references at which those that were reread are looked for.
  private var _mostBeforeSearch = 16
  /// Insertions that have been made again.
  private var _redone: [NSManagedObjectID] = []

  var isEmpty: Bool { _references.isEmpty }

  mutating func append(_ changes: DiscardedChanges) {
    // Many discards in a row look at each other a constant number of times.
    if _references.count >= _mostBeforeSearch {
      _removeReread()
      _mostBeforeSearch = max(16, _references.count * 2)
    }
    _references.append(Reference(changes: changes))
  }

  /// Forgets the changes that all descendants have reread.
  private mutating func _removeReread() {
    _references.removeAll { $0.changes == nil }
    if _references.isEmpty { _redone = [] }
  }

  /// Records that an object which was discarded has been inserted again, by an undo.
  mutating func forgetInsertion(_ id: NSManagedObjectID) {
    if hasInsertion(id) { _redone.append(id) }
  }

  /// Whether an object was discarded before it was ever saved.
  func hasInsertion(_ id: NSManagedObjectID) -> Bool {
    _references.contains { $0.changes?.hasInsertion(id) ?? false }
      && !_redone.contains { $0.isSameObject(as: id) }
  }
}
