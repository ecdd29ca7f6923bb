/// The objects that an ancestor deletes and may bring back, and that a child context has not announced as
/// there: it has saved the deletion into its parent itself, or was told of the insertion when the ancestor had
/// deleted the object again.
///
/// A fetch that finds such an object, before the child hears that it is back, registers it without an
/// announcement; the discard of the deletion then announces it as inserted. Confined to the context's queue.
struct RevocableDeletions {
  private var _ids: [NSManagedObjectID] = []
  private var _set = IdentitySet()
  private var _mostBeforePruning = 256

  /// - Parameter isPending: Whether an ancestor still deletes the object. Called for all objects when their
  ///   number has doubled: a context that merges by hand is not told of saves.
  mutating func insert(_ id: NSManagedObjectID, isPending: (NSManagedObjectID) -> Bool) {
    guard _set.insert(id) else { return }
    _ids.append(id)
    guard _ids.count >= _mostBeforePruning else { return }
    _ids.removeAll { $0 !== id && !isPending($0) }
    _set = IdentitySet(_ids)
    _mostBeforePruning = max(256, _ids.count * 2)
  }

  func contains(_ id: NSManagedObjectID) -> Bool { _set.contains(id) }

  /// Forgets objects: their deletion is stored or discarded.
  mutating func remove(_ entries: [ChangeLayer.Entry]) {
    if _ids.isEmpty { return }
    var isChanged = false
    for entry in entries where entry.kind == .deleted && _set.remove(entry.id) { isChanged = true }
    if isChanged { _ids.removeAll { !_set.contains($0) } }
  }

  mutating func removeAll() { self = RevocableDeletions() }
}
