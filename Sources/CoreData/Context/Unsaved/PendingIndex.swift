import CoreDataModelSchema

/// Indexes a context's pending objects by attribute value, so that a fetch for one value, or for a range of
/// values, need not check them all.
///
/// Built for an attribute on its first query for a value and its second for a range, then updated as changes
/// are processed. It may return objects whose value has changed since; the caller checks each against the
/// predicate. Cleared once nothing is pending.
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

    func lacks(_ object: NSManagedObject) -> Bool {
      guard object._layout.rootNumber == root, let row = object._current, slot < row.count,
        let key = EqualityKey(row[slot])
      else { return false }
      return !(_buckets[key]?.all.contains { $0 === object } ?? false)
    }

    func removeAll() {
      _buckets.removeAll(keepingCapacity: _buckets.count <= 4096)
      isInUse = false
    }
  }

  /// The objects in the order of one attribute's values.
  private final class RankedPlace {
    let root: Int
    let slot: Int
    private var _list = RankedList<NSManagedObject>()
    /// Whether the list has all objects. Those of a single query are not worth sorting.
    private var _isBuilt = false
    var isInUse = true

    init(root: Int, slot: Int) {
      self.root = root
      self.slot = slot
    }

    func add(_ object: NSManagedObject) {
      guard _isBuilt, object._layout.rootNumber == root, let row = object._current, slot < row.count,
        let rank = CellRank(row[slot])
      else { return }
      _list.add(object, rank)
    }

    func objects(in range: CellRange, among pending: [NSManagedObject]) -> [NSManagedObject]? {
      isInUse = true
      if !_isBuilt {
        _isBuilt = true
        for object in pending { add(object) }
      }
      return _list.elements(in: range)
    }

    func lacks(_ object: NSManagedObject) -> Bool {
      guard _isBuilt, object._layout.rootNumber == root, let row = object._current, slot < row.count,
        let rank = CellRank(row[slot])
      else { return false }
      return !_list.contains(rank) { $0 === object }
    }

    func removeAll() {
      _list.removeAll()
      isInUse = false
    }
  }

  private var _places: [Place] = []
  private var _rankedPlaces: [RankedPlace] = []

  /// Adds a changed object under its current values.
  func add(_ object: NSManagedObject) {
    for place in _places { place.add(object) }
    for place in _rankedPlaces { place.add(object) }
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

  /// Returns the objects among `pending` that may have a value in a range; nil if those are to be checked.
  mutating func candidates(root: Int, in range: CellRange, among pending: [NSManagedObject])
    -> [NSManagedObject]?
  {
    if let place = _rankedPlaces.first(where: { $0.slot == range.slot && $0.root == root }) {
      return place.objects(in: range, among: pending)
    }
    _rankedPlaces.append(RankedPlace(root: root, slot: range.slot))
    return nil
  }

  /// Whether a changed object cannot be found by one of its values, for tests. Changes that have not been
  /// processed, deleted objects, and values that a fault has not shown, are not looked for.
  func lacks(_ object: NSManagedObject) -> Bool {
    let flags = object._flags
    guard flags.contains(.listed), flags.isDisjoint(with: [.deleted, .eventListed, .fault]) else {
      return false
    }
    return _places.contains { $0.lacks(object) } || _rankedPlaces.contains { $0.lacks(object) }
  }

  /// Removes all objects. Attributes that were queried stay indexed: loops that fetch also save.
  mutating func clear() {
    if !_places.isEmpty {
      _places.removeAll { !$0.isInUse }
      for place in _places { place.removeAll() }
    }
    if !_rankedPlaces.isEmpty {
      _rankedPlaces.removeAll { !$0.isInUse }
      for place in _rankedPlaces { place.removeAll() }
    }
  }
}
