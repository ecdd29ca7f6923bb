import ModelSchema

/// A context's own pending objects by the value of an attribute, so that a fetch for one value does not look at all of them.
///
/// Built for an attribute when first asked for, then kept up as changes are processed. It may name objects whose value has
/// changed since; the one who asks checks each against the predicate. Emptied when nothing is pending any more.
struct PendingIndex {
  private struct Place: Hashable {
    let root: Int
    let slot: Int
  }

  private var _objects: [Place: [EqualityKey: [NSManagedObject]]] = [:]

  /// Files a changed object under its present values.
  mutating func add(_ object: NSManagedObject) {
    guard !_objects.isEmpty, let row = object._current else { return }
    for place in _objects.keys where place.root == object._layout.rootNumber && place.slot < row.count {
      guard let key = EqualityKey(row[place.slot]) else { continue }
      _objects[place]![key, default: []].append(object)
    }
  }

  /// Objects among `pending` that may have this value.
  mutating func candidates(root: Int, slot: Int, equalTo key: EqualityKey, among pending: [NSManagedObject])
    -> [NSManagedObject]
  {
    let place = Place(root: root, slot: slot)
    if _objects[place] == nil {
      _objects[place] = [:]
      for object in pending where object._layout.rootNumber == root {
        guard let row = object._current, slot < row.count, let key = EqualityKey(row[slot]) else { continue }
        _objects[place]![key, default: []].append(object)
      }
    }
    return _objects[place]![key] ?? []
  }

  mutating func clear() {
    if !_objects.isEmpty { _objects = [:] }
  }
}
