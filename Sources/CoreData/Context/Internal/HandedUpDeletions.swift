/// The objects whose deletion a child context has announced and saved into its parent, which may still discard it.
///
/// A fetch that finds such an object again, before the child hears of the discard, registers it without an
/// announcement; the discard then announces it as inserted. Confined to the context's queue.
struct HandedUpDeletions {
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
  mutating func remove(_ entries: [Layer.Entry]) {
    if _ids.isEmpty { return }
    var isChanged = false
    for entry in entries where entry.kind == .deleted && _set.remove(entry.id) { isChanged = true }
    if isChanged { _ids.removeAll { !_set.contains($0) } }
  }

  mutating func removeAll() { self = HandedUpDeletions() }
}
