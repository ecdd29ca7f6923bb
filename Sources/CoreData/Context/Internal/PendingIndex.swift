import CoreDataModelSchema

/// Indexes a context's pending objects by attribute value, so that a fetch for one value need not check them
/// all.
///
/// Built for an attribute on its first query, then updated as changes are processed. It may return objects
/// whose value has changed since; the caller checks each against the predicate. Cleared once nothing is
/// pending.
struct PendingIndex {
  /// The objects of one value: nearly always one, which needs no array.
  private struct Bucket {
    let first: NSManagedObject
    var more: [NSManagedObject] = []

    var all: [NSManagedObject] { more.isEmpty ? [first] : [first] + more }
  }

  /// The objects by value of one attribute. A class, so that adding an object copies nothing.
  private final class Place {
    let root: Int
    let slot: Int
    private var _buckets: [EqualityKey: Bucket] = [:]
    /// Whether it was queried since it was last cleared.
    var isInUse = true

    init(root: Int, slot: Int) {
      self.root = root
      self.slot = slot
    }

    func add(_ object: NSManagedObject) {
      guard object._layout.rootNumber == root, let row = object._current, slot < row.count,
        let key = EqualityKey(row[slot])
      else { return }
      guard var bucket = _buckets.updateValue(Bucket(first: object), forKey: key) else { return }
      bucket.more.append(object)
      _buckets[key] = bucket
    }

    func objects(_ key: EqualityKey) -> [NSManagedObject] {
      isInUse = true
      return _buckets[key]?.all ?? []
    }

    func removeAll() {
      _buckets.removeAll(keepingCapacity: _buckets.count <= 4096)
      isInUse = false
    }
  }

  private var _places: [Place] = []

  /// Adds a changed object under its current values.
  func add(_ object: NSManagedObject) {
    for place in _places { place.add(object) }
  }

  /// Returns the objects among `pending` that may have this value.
  mutating func candidates(root: Int, slot: Int, equalTo key: EqualityKey, among pending: [NSManagedObject])
    -> [NSManagedObject]
  {
    if let place = _places.first(where: { $0.slot == slot && $0.root == root }) { return place.objects(key) }
    let place = Place(root: root, slot: slot)
    for object in pending { place.add(object) }
    _places.append(place)
    return place.objects(key)
  }

  /// Removes all objects. Attributes that were queried stay indexed: loops that fetch also save.
  mutating func clear() {
    guard !_places.isEmpty else { return }
    _places.removeAll { !$0.isInUse }
    for place in _places { place.removeAll() }
  }
}
