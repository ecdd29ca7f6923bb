/// A context's unsaved objects, in the order in which they were first changed. A class, so that the context
/// changes the list in place.
///
/// Confined to the context's queue.
final class UnsavedObjects {
  /// True once anything was deleted since the last save.
  @exclusivity(unchecked) var hasDeletions = false
  /// True once anything was inserted since the last save.
  @exclusivity(unchecked) var hasInsertions = false
  /// The number of objects at which the context looks for some that it need not keep; see
  /// `letGoOfVanished()`.
  @exclusivity(unchecked) var mostBeforeLettingGo = mostVanished
  /// How many objects that others have deleted a context keeps until its next save, at least.
  static let mostVanished = 256
  /// The objects by attribute value.
  @exclusivity(unchecked) var index = PendingIndex()

  @exclusivity(unchecked) private var _list: [NSManagedObject] = []
  /// The list while one object after another is removed from it, instead of `_list`.
  @exclusivity(unchecked) private var _sparse: _SparseList?
  /// Removals that have searched the list since it was last read.
  @exclusivity(unchecked) private var _searches = 0

  private static let _mostSearches = 8

  /// The roots of the entities of the first listed objects, and of some that were removed.
  @exclusivity(unchecked) private var _roots: [Int] = []
  /// How many objects `_roots` covers.
  @exclusivity(unchecked) private var _covered = 0

  var count: Int { _sparse?.count ?? _list.count }
  var isEmpty: Bool { count == 0 }

  /// The objects. Some may have lost their flags since; filter before use.
  var objects: [NSManagedObject] {
    get {
      _searches = 0
      if let sparse = _sparse.take() {
        _list = sparse.objects
        _covered = 0
      }
      return _list
    }
  }

  /// The changed objects: nearly always all that are listed.
  var changed: [NSManagedObject] {
    let objects = objects
    return objects.allSatisfyUnretained { $0.isDirty } ? objects : objects.filter(\.isDirty)
  }

  /// Unchanged objects whose version the current save checks, with the values they were read with.
  var locked: [NSManagedObject] { objects.filter { $0._flags.contains(.locked) && !$0.isDirty } }

  /// Whether an object of a root's entities may be listed. Looks at each object once.
  func mayContain(root: Int) -> Bool {
    if let sparse = _sparse { return sparse.contains { $0._layout.rootNumber == root } }
    while _covered < _list.count {
      let root = _list[_covered]._layout.rootNumber
      if _roots.last != root, !_roots.contains(root) { _roots.append(root) }
      _covered += 1
    }
    return _roots.contains(root)
  }

  /// Adds an object, which must not be in the list.
  @inline(__always)
  func append(_ object: NSManagedObject) {
    if _sparse == nil { _list.append(object) } else { _sparse!.append(object) }
  }

  /// Removes an object. Costs no search if many are removed between two readings of the list.
  func remove(_ object: NSManagedObject) {
    // What follows the removed object moves forward by one.
    if _covered > 0 { _covered -= 1 }
    if _sparse == nil {
      if _list.last === object { return _ = _list.removeLast() }
      guard _searches >= Self._mostSearches, _list.count > 64 else {
        _searches += 1
        return _list.removeAll { $0 === object }
      }
      _sparse = _SparseList(_list)
      _list = []
    }
    _sparse!.remove(object)
  }

  /// Removes the objects that satisfy a predicate.
  func removeAll(where predicate: (NSManagedObject) -> Bool) {
    if let sparse = _sparse.take() { _list = sparse.objects }
    _covered = 0
    _list.removeAll(where: predicate)
  }

  /// Whether a closure returns true for any object.
  func contains(where predicate: (NSManagedObject) -> Bool) -> Bool {
    _sparse?.contains(where: predicate) ?? _list.contains(where: predicate)
  }

  /// Empties the list, after a save, a rollback or a reset.
  ///
  /// - Returns: The objects that were listed.
  @discardableResult
  func drain() -> [NSManagedObject] {
    let drained = objects
    _list = []
    _roots = []
    _covered = 0
    hasDeletions = false
    hasInsertions = false
    mostBeforeLettingGo = Self.mostVanished
    index.clear()
    return drained
  }
}

extension UnsavedObjects {
  /// What contradicts itself in the list, for tests.
  var inconsistencies: [String] {
    let objects = _sparse?.objects ?? _list
    var found: [String] = []
    if Set(objects).count != objects.count { found.append("an unsaved object is listed twice") }
    if objects.count != count {
      found.append("\(count) unsaved objects are counted, \(objects.count) listed")
    }
    if _covered > _list.count { found.append("entities are known of more objects than are listed") }
    if !_list.prefix(_covered).allSatisfy({ _roots.contains($0._layout.rootNumber) }) {
      found.append("the entity of an unsaved object is not known")
    }
    for object in objects where index.lacks(object) {
      found.append("\(object._objectID) is not indexed by its values")
    }
    return found
  }
}

/// A list from which objects are removed in any order, in constant time.
private struct _SparseList {
  private var _places: [NSManagedObject?]
  private var _positions: [ObjectIdentifier: Int]
  /// No object is before this position.
  private var _first = 0

  init(_ objects: [NSManagedObject]) {
    _places = objects
    _positions = Dictionary(minimumCapacity: objects.count)
    for (position, object) in objects.enumerated() { _positions[ObjectIdentifier(object)] = position }
  }

  var count: Int { _positions.count }
  var objects: [NSManagedObject] { _places[_first...].compactMap(\.self) }

  mutating func append(_ object: NSManagedObject) {
    _positions[ObjectIdentifier(object)] = _places.count
    _places.append(object)
  }

  mutating func remove(_ object: NSManagedObject) {
    guard let position = _positions.removeValue(forKey: ObjectIdentifier(object)) else { return }
    _places[position] = nil
    if position == _places.count - 1 { _places.removeLast() }
    while _first < _places.count, _places[_first] == nil { _first += 1 }
  }

  func contains(where predicate: (NSManagedObject) -> Bool) -> Bool {
    _places[_first...].contains { $0.map(predicate) ?? false }
  }
}
