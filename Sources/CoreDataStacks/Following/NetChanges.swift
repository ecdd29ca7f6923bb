import CoreData

/// The net changes of several consecutive transactions, by object.
struct NetChanges {
  private var _kinds: [NSManagedObjectID: NSPersistentHistoryChangeType] = [:]

  var isEmpty: Bool { _kinds.isEmpty }

  /// Adds a later change of an object.
  mutating func add(_ kind: NSPersistentHistoryChangeType, of id: NSManagedObjectID) {
    // An object that is inserted and then changed counts as inserted.
    if kind == .update, _kinds[id] == .insert { return }
    _kinds[id] = kind
  }

  /// The changes in parts of at most `count` objects, in the form that merging expects. Deletions come last,
  /// once what they are cut from is merged.
  func parts(of count: Int) -> [[AnyHashable: Any]] {
    let order: [NSPersistentHistoryChangeType: Int] = [.insert: 0, .update: 1, .delete: 2]
    let changes = _kinds.sorted { order[$0.value]! < order[$1.value]! }
    return stride(from: 0, to: changes.count, by: count).map { start in
      var ids: [NSPersistentHistoryChangeType: [NSManagedObjectID]] = [:]
      for (id, kind) in changes[start..<min(start + count, changes.count)] {
        ids[kind, default: []].append(id)
      }
      return [
        NSInsertedObjectsKey: ids[.insert] ?? [], NSUpdatedObjectsKey: ids[.update] ?? [],
        NSDeletedObjectsKey: ids[.delete] ?? [],
      ]
    }
  }
}
