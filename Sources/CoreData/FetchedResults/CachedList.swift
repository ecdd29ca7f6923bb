/// A cached list of results that insertions and removals update in place.
///
/// The cache is dropped after `limit` changes without a read: each change moves the elements after it, so that a round of
/// many changes would cost more than a new list.
struct CachedList<Element> {
  /// The number of changes between two reads that the cache survives.
  static var limit: Int { 64 }

  private var _elements: [Element]?
  private var _changes = 0

  var isCached: Bool { _elements != nil }

  /// Returns the elements; calls `make` if they are not cached.
  mutating func elements(orMake make: () -> [Element]) -> [Element] {
    _changes = 0
    if let _elements { return _elements }
    let made = make()
    _elements = made
    return made
  }

  mutating func insert(_ element: @autoclosure () -> Element, at position: Int) {
    guard _countChange() else { return }
    _elements!.insert(element(), at: position)
  }

  mutating func remove(at position: Int) {
    guard _countChange() else { return }
    _elements!.remove(at: position)
  }

  mutating func invalidate() { _elements = nil }

  /// Returns whether the elements are still cached.
  private mutating func _countChange() -> Bool {
    guard _elements != nil else { return false }
    _changes += 1
    if _changes > Self.limit { _elements = nil }
    return _elements != nil
  }
}

/// The log of insertions and removals with which `fetchedObjects` updates its cached array.
///
/// A controller and the facade that its delegate receives cache an array each, of their own result type, and replay the
/// edits that are newer than it. The log ends after as many edits as a `CachedList` survives; the arrays are then rebuilt.
struct ListEdits {
  enum Edit {
    case remove(at: Int)
    case insert(NSManagedObject, at: Int)
  }

  private var _edits: [(version: Int, edit: Edit)] = []
  /// The version of each reader's array.
  private var _versions: [ObjectIdentifier: Int] = [:]

  /// Whether any reader has an array to update.
  var isWanted: Bool { !_versions.isEmpty }

  /// Sets the version of a reader's array. Drops edits that all readers have replayed, and with them the objects.
  mutating func setVersion(_ version: Int, of reader: AnyObject) {
    _versions[ObjectIdentifier(reader)] = version
    guard !_edits.isEmpty else { return }
    let oldest = _versions.values.min() ?? version
    _edits.removeAll { $0.version <= oldest }
  }

  /// Invalidates the arrays of all readers.
  mutating func end() {
    _versions = [:]
    _edits = []
  }

  /// Appends an edit that leads to a version.
  mutating func add(_ edit: Edit, to version: Int) {
    if _edits.count == CachedList<Any>.limit { return end() }
    _edits.append((version, edit))
  }

  /// Returns the edits that a reader's array lacks; nil if the array must be rebuilt.
  func edits(for reader: AnyObject) -> [Edit]? {
    _versions[ObjectIdentifier(reader)].map { version in
      _edits.filter { $0.version > version }.map(\.edit)
    }
  }
}
